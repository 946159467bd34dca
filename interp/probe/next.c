/* The next probe's folder: of each op the nodes that part what is left, and in its bundle those
 * that were answered before, with the answers. */
#include "interp/probe/next.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/partial.h"
#include "graph/memory.h"
#include "interp/probe/folder.h"

typedef struct next {
    const char *dir, *device;
    const probe_ask *ask;
    const probe_findings *found;
    probe_next_told *told;
    void *user;
    int asked; /* nodes in the folder */
} next;

/* ---- copies of nodes ---- */

/* Input i of a case, by a name that may be there already. */
static int copy_input(probe_net *to, const blame_case *c, int i, const char *name)
{
    int id = to->status ? 0 : assay_graph_find_value(to->graph, name);
    if (id >= 0)
        return id;
    void *data = c->constant[i] ? probe_constant(to, name, c->in[i], &id)
                                : probe_input(to, name, c->in[i], &id);
    if (data)
        memcpy(data, c->data[i], assay_type_bytes(&c->in[i]));
    return id;
}

void probe_copy_node(probe_net *to, const blame_case *c, const char *prefix)
{
    char name[160];
    int in[BLAME_IN];
    for (int i = 0; i < c->n_in; i++) {
        in[i] = ASSAY_NO_VALUE;
        snprintf(name, sizeof name, "%s%.120s", prefix, c->in_name[i] ? c->in_name[i] : "");
        if (c->in[i].elem.kind != ASSAY_KIND_NONE)
            in[i] = copy_input(to, c, i, name);
    }
    snprintf(name, sizeof name, "%s%.120s", prefix, c->out_name);
    probe_node(to, c->op, name, in, c->n_in, c->out, &c->attr,
               "on what records that are left part");
}

/* The nodes that there were. */
static void copy_answered(probe_net *to, const blame_device *d)
{
    for (int i = 0; i < d->graph->n_nodes; i++) {
        const assay_node *n = &d->graph->node[i];
        const void *in[BLAME_IN] = {NULL};
        blame_case c;
        for (int k = 0; k < n->n_in && k < BLAME_IN; k++)
            if (n->in[k] != ASSAY_NO_VALUE)
                in[k] = blame_at(d, 0, n->in[k])->golden;
        blame_case_fill(&c, d->graph, n, d->scheme, in, NULL);
        probe_copy_node(to, &c, "");
    }
}

/* ---- one network ---- */

typedef struct pair {
    probe_net asked, whole;
    int number; /* of the next node's names, next5_: those before it have lower ones */
} pair;

/* The first number that no name of the network has. */
static int next_number(const assay_graph *g)
{
    int first = 0, number;
    for (int i = 0; i < g->n_values; i++)
        if (sscanf(g->value[i].name, "next%d_", &number) == 1 && number >= first)
            first = number + 1;
    return first;
}

/* What is left of a group is asked by nodes that are added to both. */
static assay_status add_questions(next *x, const probe_folder *w, const blame_device *d,
                                  const probe_network *p, const probe_op_finding *f, pair *to,
                                  probe_questions *q, assay_error *err)
{
    /* other numbers each time that a next probe is made of one */
    const uint64_t seed = w->seed + 1000 * (uint64_t)d->graph->n_nodes;
    const probe_left left = {.op = f->op, .record = f->left, .n = f->n_left};
    assay_status status = probe_find_questions(d->scheme, &left, p, w->types, seed, q, err);
    for (int i = 0; i < q->n && !status; i++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "next%d_", to->number++);
        probe_copy_node(&to->asked, &q->item[i].node, prefix);
        probe_copy_node(&to->whole, &q->item[i].node, prefix);
        status = to->asked.status ? to->asked.status : to->whole.status;
    }
    x->asked += q->n;
    const probe_next_said said = {probe_op_name(f), q->records, q->classes, q->n,
                                  q->elements,      q->tried};
    if (!status)
        x->told(x->user, &said);
    return status;
}

static assay_status save_answers(const probe_folder *w, const char *op, const blame_device *d,
                                 assay_error *err)
{
    char path[4096 + 320];
    assay_status status = probe_folder_make(w, op, "answered", err);
    for (int v = 0; v < d->graph->n_values && !status; v++) {
        const assay_value *value = &d->graph->value[v];
        const blame_tensor *t = blame_at(d, 0, v);
        assay_type flags = value->type;
        flags.elem = assay_bool();
        if (!t->device || value->producer < 0)
            continue;
        snprintf(path, sizeof path, "%s/%s/answered/%s.npy", w->dir, op, value->name);
        status = golden_dump_npy(path, &value->type, t->device, err);
        snprintf(path, sizeof path, "%s/%s/answered/%s.mask.npy", w->dir, op, value->name);
        if (!status && t->mask)
            status = golden_dump_npy(path, &flags, t->mask, err);
    }
    return status;
}

static assay_status fill_network(next *x, const probe_folder *w, const blame_device *d,
                                 const probe_network *p, assay_error *err)
{
    const probe_net empty = {.types = w->types, .err = err};
    pair to = {empty, empty, next_number(d->graph)};
    probe_questions *q = calloc((size_t)x->found->n_ops + 1, sizeof *q);
    assay_status status =
        q ? assay_graph_new(p->name, &to.asked.graph, err) : assay_out_of_memory(err);
    if (!status)
        status = assay_graph_new(p->name, &to.whole.graph, err);
    if (!status)
        copy_answered(&to.whole, d);
    status = status ? status : to.whole.status;
    for (int i = 0; i < x->found->n_ops && !status; i++) {
        const probe_op_finding *f = &x->found->op[i];
        if (f->n_left > 1 && strcmp(f->network, p->name) == 0)
            status = add_questions(x, w, d, p, f, &to, &q[i], err);
    }
    if (!status)
        status = probe_net_end(&to.whole);
    if (!status && to.asked.n_outputs > 0)
        status = probe_net_end(&to.asked);
    if (!status)
        status = probe_folder_add(w, p->name, &to.asked, &to.whole, err);
    if (!status)
        status = save_answers(w, p->name, d, err);
    assay_graph_free(to.asked.graph);
    assay_graph_free(to.whole.graph);
    for (int i = 0; q && i < x->found->n_ops; i++)
        probe_questions_free(&q[i]);
    free(q);
    return status;
}

/* ---- all ---- */

static assay_status fill(probe_folder *w, void *user, assay_error *err)
{
    next *x = user;
    assay_status status = ASSAY_OK;
    for (const probe_network *p = probe_networks; p->name && !status; p++) {
        blame_device d;
        bool there;
        status = probe_open_network(x->dir, x->device, p->name, x->ask, &d, &there, err);
        if (status || !there)
            continue;
        status = fill_network(x, w, &d, p, err);
        blame_device_close(&d);
    }
    if (!status && x->asked == 0)
        status = assay_fail(err, ASSAY_ERR_LIMIT, "nothing");
    return status;
}

/* probe.json, which holds what `w` borrows; NULL: it is not one of a first probe. */
static json_t *read_index(const char *dir, probe_folder *w, assay_error *err)
{
    json_t *index = probe_folder_index(dir);
    const char *types = json_string_value(json_object_get(index, "types"));
    w->types = types ? probe_types_find(types) : NULL;
    w->seed = (uint64_t)json_integer_value(json_object_get(index, "seed"));
    w->among = json_string_value(json_object_get(index, "among"));
    if (w->types)
        return index;
    json_decref(index);
    assay_fail(err, ASSAY_ERR_INPUT,
               "%s: a next probe is made from a first one: a folder written by assay probe, with "
               "probe.json",
               dir);
    return NULL;
}

assay_status probe_next_check(const char *dir, const char *dir2, assay_error *err)
{
    probe_folder w;
    json_t *index = read_index(dir, &w, err);
    const assay_status status = index ? file_check_new_folder(dir2, err) : ASSAY_ERR_INPUT;
    json_decref(index);
    return status;
}

static void say_nothing(void *user, const char *op, const char *missing, const char *scheme)
{
    (void)user, (void)op, (void)missing, (void)scheme;
}

assay_status probe_next(const char *dir, const char *device, const probe_ask *ask,
                        const probe_findings *found, const char *to, probe_next_told *told,
                        void *user, int *asked, assay_error *err)
{
    next x = {dir, device, ask, found, told, user, 0};
    probe_folder w = {.told = say_nothing};
    json_t *index = read_index(dir, &w, err);
    const assay_status status = index ? probe_folder_write(&w, to, fill, &x, err) : ASSAY_ERR_INPUT;
    json_decref(index);
    *asked = x.asked;
    return status == ASSAY_ERR_LIMIT && x.asked == 0 ? ASSAY_OK : status;
}
