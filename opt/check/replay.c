/* Replaying a certificate: each step's fragment is found in the network as the steps before it have
 * left it, and takes its new form there; what comes out at the end is the result. The network is
 * held as terms, a value's name standing for a term: what computes it, from which terms, or the
 * constant or input that it is. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/core/type.h"
#include "opt/check/terms.h"

/* ---- names ---- */

static size_t slot_of(const check_replay *r, const char *name)
{
    size_t i = (size_t)XXH3_64bits(name, strlen(name)) & (r->room - 1);
    while (r->name[i] && strcmp(r->name[i], name) != 0)
        i = (i + 1) & (r->room - 1);
    return i;
}

static assay_status grow(const check_context *c, check_replay *r)
{
    check_replay old = *r;
    r->room = old.room ? old.room * 2 : 1024;
    r->name = assay_arena_array(r->arena, r->room, sizeof *r->name);
    r->named = assay_arena_array(r->arena, r->room, sizeof *r->named);
    if (!r->name || !r->named)
        return check_out_of_memory(c);
    for (size_t i = 0; i < old.room; i++)
        if (old.name[i]) {
            size_t to = slot_of(r, old.name[i]);
            r->name[to] = old.name[i];
            r->named[to] = old.named[i];
        }
    return ASSAY_OK;
}

static assay_status bind(const check_context *c, check_replay *r, const char *name, check_term *t)
{
    assay_status s = r->used * 2 >= r->room ? grow(c, r) : ASSAY_OK;
    if (s)
        return s;
    size_t i = slot_of(r, name);
    if (!r->name[i]) {
        r->name[i] = assay_arena_string(r->arena, name);
        r->used++;
    }
    r->named[i] = t;
    return r->name[i] ? ASSAY_OK : check_out_of_memory(c);
}

check_term *check_term_now(const check_term *t)
{
    while (t && t->same)
        t = t->same;
    return (check_term *)(uintptr_t)t;
}

check_term *check_term_find(const check_replay *r, const char *name)
{
    return r->room ? check_term_now(r->named[slot_of(r, name)]) : NULL;
}

/* ---- terms ---- */

static check_term *new_term(check_replay *r, const assay_value *v)
{
    check_term *t = assay_arena_alloc(r->arena, sizeof *t);
    const assay_qparams *q = &v->type.q;
    if (!t)
        return NULL;
    t->type = v->type;
    t->name = assay_arena_string(r->arena, v->name);
    bool good = t->name != NULL;
    if (q->count > 0) {
        t->type.q.scale = assay_arena_copy(r->arena, q->scale, q->count * sizeof *q->scale);
        t->type.q.zero_point =
            assay_arena_copy(r->arena, q->zero_point, q->count * sizeof *q->zero_point);
        good = good && t->type.q.scale && t->type.q.zero_point;
    }
    if (v->data && !v->is_variable) {
        t->data = assay_arena_copy(r->arena, v->data, assay_type_bytes(&v->type));
        good = good && t->data;
    }
    return good ? t : NULL;
}

/* Node n on terms `of` (by value of its graph), whose outputs become terms there. */
static assay_status add_work(const check_context *c, check_replay *r, const assay_graph *g,
                             const assay_node *n, const assay_attrs *attr, check_term **of)
{
    check_work *w = assay_arena_alloc(r->arena, sizeof *w);
    if (!w)
        return check_out_of_memory(c);
    w->node = *n;
    w->node.attr = *attr;
    w->node.name = assay_arena_string(r->arena, n->name);
    w->in = assay_arena_array(r->arena, (size_t)n->n_in + 1, sizeof *w->in);
    if (!w->node.name || !w->in)
        return check_out_of_memory(c);
    for (int i = 0; i < n->n_in; i++)
        w->in[i] = n->in[i] < 0 ? NULL : of[n->in[i]];
    for (int i = 0; i < n->n_out; i++) {
        check_term *t = new_term(r, &g->value[n->out[i]]);
        if (!t)
            return check_out_of_memory(c);
        t->by = w;
        t->index = i;
        of[n->out[i]] = t;
    }
    return ASSAY_OK;
}

bool check_same_attributes(const assay_node *a, const assay_node *b, bool shrunk)
{
    if (shrunk && assay_op_get(a->op)->attrs == ASSAY_ATTRS_conv)
        return a->attr.conv.group == b->attr.conv.group &&
               a->attr.conv.depthwise == b->attr.conv.depthwise &&
               a->attr.conv.layout == b->attr.conv.layout;
    return assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr);
}

/* The node does what w does, on the same terms. */
static bool is_work(const check_work *w, const assay_node *n, check_term *const *of, bool shrunk)
{
    bool same = w && w->node.op == n->op && w->node.n_in == n->n_in && w->node.n_out == n->n_out &&
                check_same_bounds(&w->node, n) && check_same_attributes(n, &w->node, shrunk);
    for (int i = 0; same && i < n->n_in; i++)
        same = (n->in[i] < 0) == (!w->in[i]) &&
               (n->in[i] < 0 || check_term_now(w->in[i]) == check_term_now(of[n->in[i]]));
    return same;
}

int64_t check_depth(const check_context *c, const assay_graph *g, const assay_node *n)
{
    const assay_node *function = check_producer(g, n->in[0]);
    const int v = function ? function->in[0] : n->in[0]; /* it has the same extents */
    const check_term *t = c->replay ? check_term_find(c->replay, g->value[v].name) : NULL;
    if (!t || t->shapeless || t->type.rank < 2)
        return 0;
    return t->type.dim[t->type.rank - (n->attr.matmul.transpose_a ? 2 : 1)];
}

/* ---- begin ---- */

static assay_status replay_model(const check_context *c, check_replay *r)
{
    const assay_graph *g = c->model;
    check_term **of = assay_arena_array(r->arena, (size_t)g->n_values + 1, sizeof *of);
    assay_status s = of ? ASSAY_OK : check_out_of_memory(c);
    for (int v = 0; v < g->n_values && !s; v++)
        if (g->value[v].producer < 0 && !(of[v] = new_term(r, &g->value[v])))
            s = check_out_of_memory(c);
    for (int i = 0; i < g->n_nodes && !s; i++)
        s = add_work(c, r, g, &g->node[i], &g->node[i].attr, of);
    for (int v = 0; v < g->n_values && !s; v++)
        s = bind(c, r, g->value[v].name, of[v]);
    return s;
}

assay_status check_replay_begin(check_context *c)
{
    c->replay = calloc(1, sizeof *c->replay);
    if (!c->replay || !(c->replay->arena = assay_arena_new()))
        return check_out_of_memory(c);
    return replay_model(c, c->replay);
}

void check_replay_end(check_context *c)
{
    if (c->replay)
        assay_arena_free(c->replay->arena);
    free(c->replay);
    c->replay = NULL;
}

/* ---- a step ---- */

/* The constant is the network's, or one number of it for all elements. Weights of a product are
 * without their numbers. */
static bool same_constant(const assay_value *v, const check_term *t, bool shrunk)
{
    const int64_t n = assay_shape_count(&v->type), have = assay_shape_count(&t->type);
    const size_t size = assay_elem_size(v->type.elem);
    bool same = t->data && !t->by && (have == n || have == 1 || shrunk);
    for (int64_t i = 0; same && i < n && (have == n || have == 1); i++)
        same = memcmp((const char *)v->data + (size_t)i * size,
                      (const char *)t->data + (have == n ? (size_t)i * size : 0), size) == 0;
    return same;
}

static bool is_weights(const assay_graph *f, int value)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (f->node[i].n_in > 1 && f->node[i].in[1] == value)
            return true;
    return false;
}

/* The fragment before stands in the network as it is now; `of`: by value of it, its term. */
static assay_status find_fragment(const check_context *c, const assay_graph *f, bool shrunk,
                                  bool whole, check_term **of)
{
    for (int v = 0; v < f->n_values; v++) {
        const assay_value *x = &f->value[v];
        const check_term *t = of[v] = check_term_find(c->replay, x->name);
        if (!t || !check_same_type(&t->type, &x->type) ||
            (whole && !t->shapeless && !assay_shape_equal(&t->type, &x->type)) ||
            (x->data && !(shrunk && is_weights(f, v)) && !same_constant(x, t, shrunk)))
            return check_reject(c, "a value that the network does not have");
    }
    for (int i = 0; i < f->n_nodes; i++) {
        const assay_node *n = &f->node[i];
        for (int k = 0; k < n->n_out; k++) {
            const check_term *t = of[n->out[k]];
            if (!t->by || t->index != k || strcmp(t->by->node.name, n->name) != 0 ||
                !is_work(t->by, n, of, shrunk))
                return check_reject(c, "a node that the network does not have");
        }
    }
    return ASSAY_OK;
}

/* The product in the network that a shrunk fragment speaks of. */
static const assay_attrs *attributes_of(const assay_graph *f, check_term *const *of,
                                        const assay_node *n)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (f->node[i].op == n->op)
            return &of[f->node[i].out[0]]->by->node.attr;
    return &n->attr;
}

/* A node of the fragment after: one that was there before stays the same. */
static assay_status renew_node(const check_context *c, const assay_graph *h, const assay_node *n,
                               const assay_attrs *attr, bool whole, check_term *const *was,
                               check_term **of)
{
    const assay_graph *f = c->before;
    for (int i = 0; i < f->n_nodes && n->n_out == 1; i++) {
        check_term *t = was[f->node[i].out[0]];
        if (strcmp(f->node[i].name, n->name) != 0 || f->node[i].n_out != 1 ||
            !check_same_type(&t->type, &h->value[n->out[0]].type) || !is_work(t->by, n, of, false))
            continue;
        of[n->out[0]] = t;
        return ASSAY_OK;
    }
    assay_status s = add_work(c, c->replay, h, n, attr, of);
    for (int i = 0; i < n->n_out && !s; i++)
        of[n->out[i]]->shapeless = !whole;
    return s;
}

static assay_status renew_values(const check_context *c, const assay_graph *h,
                                 check_term *const *was, check_term **of)
{
    for (int v = 0; v < h->n_values; v++) {
        const assay_value *x = &h->value[v];
        const int old = assay_graph_find_value(c->before, x->name);
        if (x->producer >= 0)
            continue;
        if (old >= 0 && c->before->value[old].producer < 0) {
            const assay_value *o = &c->before->value[old];
            if ((x->data != NULL) != (o->data != NULL) || !check_same_type(&x->type, &o->type) ||
                (x->data && (!assay_shape_equal(&x->type, &o->type) ||
                             memcmp(x->data, o->data, assay_type_bytes(&x->type)) != 0)))
                return check_reject(c, "a constant that changes in the step");
            of[v] = was[old];
        } else if (!x->data || !(of[v] = new_term(c->replay, x))) {
            return x->data ? check_out_of_memory(c)
                           : check_reject(c, "a value that nothing computes");
        }
    }
    return ASSAY_OK;
}

static assay_status bind_new(const check_context *c, const assay_graph *h, check_term *const *was,
                             check_term **of)
{
    assay_status s = ASSAY_OK;
    for (int i = 0; i < h->n_outputs && !s; i++) {
        check_term *old = check_term_now(was[c->before->output[i]]),
                   *new = check_term_now(of[h->output[i]]);
        if (old == new)
            continue;
        if (new->shapeless) {
            memcpy(new->type.dim, old->type.dim, sizeof new->type.dim);
            new->type.rank = old->type.rank;
            new->shapeless = old->shapeless;
        }
        old->same = new;
    }
    for (int v = 0; v < h->n_values && !s; v++) {
        bool is_old = false; /* an output, which its name finds by way of the old term */
        for (int i = 0; i < h->n_outputs; i++)
            is_old |= strcmp(c->before->value[c->before->output[i]].name, h->value[v].name) == 0;
        if (!is_old)
            s = bind(c, c->replay, h->value[v].name, of[v]);
    }
    return s;
}

/* A constant that only moves is computed here, from the network's, and stands for the node. */
static assay_status move_constant(check_context *c, check_term *const *was)
{
    const assay_graph *f = c->before;
    const assay_node *n = &f->node[0];
    const assay_value *x = &f->value[n->in[0]], *y = &f->value[n->out[0]];
    const check_term *from = was[n->in[0]];
    assay_graph *g = NULL;
    int id = -1;
    if (!from->data || from->by || !assay_shape_equal(&from->type, &x->type))
        return check_reject(c, "a constant that the network does not have");
    const size_t size = assay_elem_size(y->type.elem), count = (size_t)assay_shape_count(&y->type);
    assay_status s = assay_graph_new("moved", &g, c->err);
    if (!s)
        s = assay_graph_add_constant(g, y->name, &y->type, NULL, &id, c->err);
    for (size_t i = 0; i < count && !s; i++)
        memcpy((char *)(uintptr_t)g->value[id].data + i * size,
               (const char *)from->data + check_source_of(f, n, i) * size, size);
    check_term *new = s ? NULL : new_term(c->replay, &g->value[id]);
    if (!s && !new)
        s = check_out_of_memory(c);
    if (s) {
        assay_graph_free(g);
        return s;
    }
    was[n->out[0]]->same = new;
    assay_graph_free(c->after); /* later steps find the constant there */
    c->after = g;
    return ASSAY_OK;
}

assay_status check_replay_step(check_context *c, const char *obligation, const char *node)
{
    const assay_graph *f = c->before, *h = c->after;
    const bool shrunk =
        strcmp(obligation, "accumulators") == 0 || strcmp(obligation, "linear") == 0;
    const bool elements = strcmp(obligation, "codes") == 0 || strcmp(obligation, "floats") == 0;
    const assay_node *lower = check_producer(f, f->output[0]);
    check_term **was = calloc((size_t)f->n_values + 1, sizeof *was);
    check_term **of = calloc((size_t)h->n_values + 1, sizeof *of);
    assay_status s = was && of ? ASSAY_OK : check_out_of_memory(c);
    if (!s && (!lower || strcmp(lower->name, node) != 0))
        s = assay_fail(c->err, ASSAY_ERR_INPUT,
                       "%s: step %d: it names node '%.100s', but its fragment ends in '%.100s'",
                       c->file, c->step, node, lower ? lower->name : "no node");
    if (!s && f->n_outputs != h->n_outputs)
        s = check_reject(c, "the fragments have different inputs or outputs");
    if (!s)
        s = find_fragment(c, f, shrunk, !shrunk && !elements, was);
    if (!s && strcmp(obligation, "moved") == 0) {
        s = move_constant(c, was);
        free(was);
        free(of);
        return s;
    }
    if (!s)
        s = renew_values(c, h, was, of);
    for (int i = 0; i < h->n_nodes && !s; i++) {
        const assay_node *n = &h->node[i];
        s = renew_node(c, h, n, shrunk ? attributes_of(f, was, n) : &n->attr, !shrunk && !elements,
                       was, of);
    }
    if (!s)
        s = bind_new(c, h, was, of);
    free(was);
    free(of);
    return s;
}
