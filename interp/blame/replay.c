/* Every node replayed from what its inputs are believed to be: the device's own where they were
 * dumped. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/sums.h"

/* What an assigned variable holds in this step, by value; NULL: its initial content. */
typedef struct state {
    const void **held;
    void **initial;
    bool *guessed; /* what was assigned was not dumped: a dump of what is read is taken as it is */
} state;

static void *initial_content(const assay_value *v)
{
    const size_t bytes = assay_type_bytes(&v->type), n = (size_t)assay_shape_count(&v->type);
    void *data = calloc(bytes + 64, 1);
    if (data && v->data)
        memcpy(data, v->data, bytes);
    else if (data && assay_is_quantized(&v->type))
        for (size_t i = 0; i < n; i++)
            assay_elem_set(v->type.elem, data, i, v->type.q.zero_point[0]);
    return data;
}

/* The device's elements where they were observed, elsewhere the cause's, or the replay's. */
static assay_status believe(const assay_type *type, blame_tensor *t, assay_error *err)
{
    const size_t width = assay_elem_size(type->elem), n = (size_t)assay_shape_count(type);
    void *fallback = t->caused ? t->caused : t->replayed ? t->replayed : t->golden;
    t->believed = t->device ? t->device : fallback;
    if (!t->device || !t->mask)
        return ASSAY_OK;
    free(t->merged);
    t->merged = malloc(n * width + 64);
    if (!t->merged)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        memcpy((char *)t->merged + i * width,
               (const char *)(t->mask[i] ? t->device : fallback) + i * width, width);
    t->believed = t->merged;
    return ASSAY_OK;
}

static const void *believed_of(const blame_device *d, int sample, int value, const state *held)
{
    if (value == ASSAY_NO_VALUE)
        return NULL;
    const assay_value *v = &d->graph->value[value];
    if (v->is_variable)
        return held->held[value] ? held->held[value] : held->initial[value];
    return v->data ? v->data : blame_at(d, sample, value)->believed;
}

/* Nodes of state hand on what they are given; control flow is taken as the golden has it, for its
 * bodies have no dumps. */
static void pass_on(const blame_device *d, const assay_node *n, const void *const *in, void **out,
                    int sample, const state *held)
{
    for (int j = 0; j < n->n_out; j++) {
        const size_t bytes = assay_type_bytes(&d->graph->value[n->out[j]].type);
        const void *dump = blame_at(d, sample, n->out[j])->device;
        const bool guessed = n->op == ASSAY_OP_READ && held->guessed[n->in[0]] && dump;
        const void *from = guessed                    ? dump
                           : n->op == ASSAY_OP_READ   ? in[0]
                           : n->op == ASSAY_OP_ASSIGN ? in[1]
                                                      : blame_at(d, sample, n->out[j])->golden;
        if (from)
            memcpy(out[j], from, bytes);
    }
}

/* Whether some input is at fault and was observed in part, and nobody knows the rest. */
static bool reads_unknown(const blame_device *d, const assay_node *n, int sample)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] != ASSAY_NO_VALUE && blame_at(d, sample, n->in[i])->unknown)
            return true;
    return false;
}

/* A scheme may refuse what a device's faults before the node make of it, or what the device had is
 * not known: the node's output is then taken as it is, and not judged. */
static void take_unjudged(const blame_device *d, const assay_node *n, int sample, void **out)
{
    for (int j = 0; j < n->n_out; j++) {
        const blame_tensor *t = blame_at(d, sample, n->out[j]);
        const void *from = t->device ? t->device : t->golden;
        if (from)
            memcpy(out[j], from, assay_type_bytes(&d->graph->value[n->out[j]].type));
    }
    const blame_tensor *first = blame_at(d, sample, n->out[0]);
    if (first->sums && first->replayed_sums)
        memcpy(first->replayed_sums, first->sums,
               (size_t)assay_shape_count(&d->graph->value[n->out[0]].type) * sizeof *first->sums);
}

static assay_status replay_node(blame_device *d, int node, int sample, const state *held,
                                assay_error *err)
{
    const assay_node *n = &d->graph->node[node];
    const void **in = calloc((size_t)n->n_in + 1, sizeof *in);
    void **out = calloc((size_t)n->n_out + 1, sizeof *out);
    assay_status status = in && out ? ASSAY_OK : assay_out_of_memory(err);
    for (int i = 0; i < n->n_in && !status; i++)
        in[i] = believed_of(d, sample, n->in[i], held);
    for (int j = 0; j < n->n_out && !status; j++) {
        blame_tensor *t = blame_at(d, sample, n->out[j]);
        free(t->replayed);
        out[j] = t->replayed = calloc(assay_type_bytes(&d->graph->value[n->out[j]].type) + 64, 1);
        if (!out[j])
            status = assay_out_of_memory(err);
    }
    blame_tensor *first = blame_at(d, sample, n->out[0]);
    free(first->replayed_sums);
    first->replayed_sums = NULL;
    if (!status && (first->sums || first->beside) &&
        !(first->replayed_sums = calloc(
              (size_t)assay_shape_count(&d->graph->value[n->out[0]].type) + 8, sizeof(int64_t))))
        status = assay_out_of_memory(err);
    if (!status && (assay_op_get(n->op)->traits & ASSAY_T_STATE))
        pass_on(d, n, in, out, sample, held);
    else if (!status)
        status = assay_replay_node(d->program, node, in, out, first->replayed_sums, err);
    const bool unknown = reads_unknown(d, n, sample);
    if (status == ASSAY_ERR_SCHEME || (!status && unknown)) {
        take_unjudged(d, n, sample, out);
        status = ASSAY_OK;
    }
    for (int j = 0; j < n->n_out && unknown; j++) {
        blame_tensor *t = blame_at(d, sample, n->out[j]);
        t->unknown = t->mask || !t->device;
    }
    for (int j = 0; j < n->n_out && !status; j++)
        status = believe(&d->graph->value[n->out[j]].type, blame_at(d, sample, n->out[j]), err);
    if (!status && first->sums)
        status = blame_sums_believe(d, n, in, first, err);
    if (!status && n->op == ASSAY_OP_ASSIGN) {
        held->held[n->in[0]] = blame_at(d, sample, n->out[0])->believed;
        held->guessed[n->in[0]] = !blame_at(d, sample, n->out[0])->device &&
                                  !d->graph->value[n->in[1]].data &&
                                  !blame_at(d, sample, n->in[1])->device;
    }
    free(in);
    free(out);
    return status;
}

static assay_status replay_sample(blame_device *d, int sample, const state *held,
                                  void (*step)(void *), void *user, assay_error *err)
{
    const assay_graph *g = d->graph;
    assay_status status = ASSAY_OK;
    if (!d->sequence) {
        memset(held->held, 0, (size_t)g->n_values * sizeof *held->held);
        memset(held->guessed, 0, (size_t)g->n_values * sizeof *held->guessed);
    }
    for (int i = 0; i < g->n_inputs && !status; i++) {
        blame_tensor *t = blame_at(d, sample, g->input[i]);
        if (!t->golden)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: input '%s' of sample %lld is missing",
                              d->bundle->dir, g->value[g->input[i]].name,
                              (long long)d->number[sample]);
        status = believe(&g->value[g->input[i]].type, t, err);
    }
    for (int i = 0; i < g->n_nodes && !status; i++) {
        status = replay_node(d, i, sample, held, err);
        if (step)
            step(user);
    }
    return status;
}

assay_status blame_device_replay(blame_device *d, void (*step)(void *), void *user,
                                 assay_error *err)
{
    const assay_graph *g = d->graph;
    state held = {calloc((size_t)g->n_values + 1, sizeof *held.held),
                  calloc((size_t)g->n_values + 1, sizeof *held.initial),
                  calloc((size_t)g->n_values + 1, sizeof *held.guessed)};
    assay_status status =
        held.held && held.initial && held.guessed ? ASSAY_OK : assay_out_of_memory(err);
    for (int v = 0; v < g->n_values && !status; v++)
        if (g->value[v].is_variable && !(held.initial[v] = initial_content(&g->value[v])))
            status = assay_out_of_memory(err);
    for (int s = 0; s < d->n_samples && !status; s++)
        status = replay_sample(d, s, &held, step, user, err);
    for (int v = 0; held.initial && v < g->n_values; v++)
        free(held.initial[v]);
    free(held.initial);
    free(held.guessed);
    free(held.held);
    return status;
}
