/* Nodes on which records part: other networks of an op, their outputs under each record. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/probe/next.h"

enum {
    ROUNDS = 6,   /* networks that are tried */
    RECORDS = 96, /* that are told from each other, the one found first */
};

/* Which of the records answer alike so far: those of one number. */
typedef struct classes {
    int of[RECORDS], n;
} classes;

/* What each record gives; NULL where it cannot have the node, of which nothing is then said. */
typedef struct outputs {
    void *of[RECORDS];
    size_t width; /* bytes of an element */
    int64_t count;
} outputs;

typedef struct search {
    const assay_scheme *scheme; /* whose file the nodes stand in; the records are others */
    enum assay_op op;
    const assay_record *record;
    probe_questions *q;
    int records;
    assay_error *err;
} search;

/* ---- classes ---- */

static void drop(outputs *o)
{
    for (int i = 0; i < RECORDS; i++)
        free(o->of[i]);
    *o = (outputs){0};
}

/* Elements [at, at + n) answered alike? */
static bool is_alike(const outputs *o, int a, int b, int64_t at, int64_t n)
{
    const char *x = o->of[a] ? o->of[a] : o->of[0], *y = o->of[b] ? o->of[b] : o->of[0];
    const size_t from = (size_t)at * o->width, bytes = (size_t)n * o->width;
    return x == y || memcmp(x + from, y + from, bytes) == 0;
}

/* Those that are alike in `before` and by these elements. */
static classes refine(const search *s, const classes *before, const outputs *o, int64_t at,
                      int64_t n)
{
    classes c = {.n = 0};
    for (int i = 0; i < s->records; i++) {
        int k = 0;
        while (k < i && (before->of[k] != before->of[i] || !is_alike(o, k, i, at, n)))
            k++;
        c.of[i] = k < i ? c.of[k] : c.n++;
    }
    return c;
}

/* ---- running ---- */

static assay_status run(const search *s, const blame_case *node, outputs *o)
{
    assay_status status = ASSAY_OK;
    *o =
        (outputs){.width = assay_elem_size(node->out.elem), .count = assay_shape_count(&node->out)};
    for (int i = 0; i < s->records && !status; i++) {
        blame_case c = *node;
        assay_error why;
        c.record = s->record[i];
        c.has_record = true;
        o->of[i] = malloc(assay_type_bytes(&c.out) + 64);
        if (!o->of[i]) {
            status = assay_out_of_memory(s->err);
        } else if (blame_case_run(&c, o->of[i], NULL, &why)) {
            free(o->of[i]);
            o->of[i] = NULL;
            snprintf(s->q->refused, sizeof s->q->refused, "%.190s", why.text);
        }
    }
    return status;
}

/* The same node by its own graph's names, constants and inputs. */
static probe_question question_of(const search *s, const probe_net *n, const assay_node *node)
{
    probe_question q = {.in = {NULL}};
    for (int i = 0; i < node->n_in && i < BLAME_IN; i++)
        for (int k = 0; k < n->n_inputs; k++)
            if (n->input[k] == node->in[i])
                q.in[i] = n->data[k];
    blame_case_fill(&q.node, n->graph, node, s->scheme, q.in, s->q->arena);
    return q;
}

/* ---- cutting ---- */

/* A grouped convolution of one channel would be another form: two are kept. */
static void keep_groups(const blame_case *node, blame_cut *box)
{
    const int axis = node->out.rank - 1; /* the networks of networks.def have their channels last */
    if (node->op != ASSAY_OP_CONV || node->attr.conv.group == 1 ||
        box->end[axis] - box->first[axis] > 1)
        return;
    if (box->end[axis] < node->out.dim[axis])
        box->end[axis]++;
    else
        box->first[axis]--;
}

/* The box around elements that part as all of them do. */
static blame_cut box_of(const search *s, const classes *before, const outputs *o,
                        const blame_case *node)
{
    const classes whole = refine(s, before, o, 0, o->count);
    const unsigned axes = blame_case_axes(node);
    classes c = *before;
    blame_cut box;
    bool any = false;
    for (int64_t e = 0; e < o->count && c.n < whole.n; e++) {
        const classes more = refine(s, &c, o, e, 1);
        if (more.n == c.n)
            continue;
        c = more;
        int64_t rest = e;
        for (int k = node->out.rank - 1; k >= 0; k--) {
            const int64_t at = rest % node->out.dim[k];
            rest /= node->out.dim[k];
            box.first[k] = any && box.first[k] < at ? box.first[k] : at;
            box.end[k] = any && box.end[k] > at + 1 ? box.end[k] : at + 1;
        }
        any = true;
    }
    for (int k = 0; k < node->out.rank; k++)
        if (!any || !(axes >> k & 1)) {
            box.first[k] = 0;
            box.end[k] = node->out.dim[k];
        }
    keep_groups(node, &box);
    return box;
}

/* Where the part still tells what the whole does it takes the whole's place. */
static assay_status cut(const search *s, const classes *before, const outputs *o, probe_question *q)
{
    const classes whole = refine(s, before, o, 0, o->count);
    const blame_cut box = box_of(s, before, o, &q->node);
    blame_case small = q->node;
    outputs of_small = {0};
    assay_status status = ASSAY_OK;
    if (!blame_case_cut(&small, &box))
        return status;
    status = run(s, &small, &of_small);
    if (!status && of_small.of[0] && refine(s, before, &of_small, 0, of_small.count).n == whole.n)
        q->node = small;
    drop(&of_small);
    return status;
}

/* ---- all ---- */

static assay_status keep(const search *s, const probe_question *q)
{
    probe_question *more = realloc(s->q->item, (size_t)(s->q->n + 1) * sizeof *more);
    if (!more)
        return assay_out_of_memory(s->err);
    s->q->item = more;
    more[s->q->n++] = *q;
    s->q->elements += assay_shape_count(&q->node.out);
    return ASSAY_OK;
}

/* Elements that every record has computed. */
static int64_t compared_of(const search *s, const outputs *o)
{
    int i = 0;
    while (i < s->records && o->of[i])
        i++;
    return i == s->records ? o->count : 0;
}

/* The node of a network that parts them most, kept where it does; *better: it did. */
static assay_status take_best(const search *s, const probe_net *n, classes *so_far, bool *better)
{
    classes best = *so_far;
    outputs of_best = {0};
    probe_question chosen;
    assay_status status = ASSAY_OK;
    *better = false;
    for (int i = 0; i < n->graph->n_nodes && best.n < s->records && !status; i++) {
        const probe_question q = question_of(s, n, &n->graph->node[i]);
        outputs o;
        if (n->graph->node[i].op != s->op)
            continue;
        status = run(s, &q.node, &o);
        if (!status)
            s->q->compared += compared_of(s, &o);
        const classes c = !status && o.of[0] ? refine(s, so_far, &o, 0, o.count) : *so_far;
        if (c.n > best.n) {
            drop(&of_best);
            of_best = o;
            best = c;
            chosen = q;
            *better = true;
        } else {
            drop(&o);
        }
    }
    if (!status && *better)
        status = cut(s, so_far, &of_best, &chosen);
    if (!status && *better)
        status = keep(s, &chosen);
    *so_far = best;
    drop(&of_best);
    return status;
}

static assay_status try_network(const search *s, const probe_left *left,
                                const probe_network *network, const probe_types *types,
                                uint64_t seed, classes *so_far)
{
    probe_net *n = &s->q->net[s->q->n_nets++];
    bool better = true;
    *n = (probe_net){.types = types,
                     .err = s->err,
                     .random = {seed},
                     .varied = true,
                     .powers = left->powers,
                     .extreme = left->extreme};
    assay_status status = probe_make(network, n);
    s->q->tried++;
    while (better && so_far->n < s->records && !status)
        status = take_best(s, n, so_far, &better);
    return status;
}

assay_status probe_find_questions(const assay_scheme *scheme, const probe_left *left,
                                  const probe_network *network, const probe_types *types,
                                  uint64_t seed, probe_questions *out, assay_error *err)
{
    search s = {.scheme = scheme, .op = left->op, .record = left->record, .q = out, .err = err};
    classes c = {.n = 1};
    *out = (probe_questions){.arena = assay_arena_new(), .net = calloc(ROUNDS, sizeof *out->net)};
    if (!out->arena || !out->net)
        return assay_out_of_memory(err);
    s.records = left->n < RECORDS ? left->n : RECORDS;
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; i < ROUNDS && c.n < s.records && !status; i++)
        status = try_network(&s, left, network, types, seed + i, &c);
    out->records = s.records;
    out->classes = c.n;
    return status;
}

void probe_questions_free(probe_questions *q)
{
    for (int i = 0; i < q->n_nets; i++)
        assay_graph_free(q->net[i].graph);
    assay_arena_free(q->arena);
    free(q->net);
    free(q->item);
    *q = (probe_questions){0};
}
