/* Obligations that are read off the fragments before and after: the same node, the same elements
 * in the same places, the same padding, a constant that is computed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"

static const assay_node *yields(const assay_graph *f, int value)
{
    int producer = value >= 0 ? f->value[value].producer : -1;
    return producer >= 0 ? &f->node[producer] : NULL;
}

static bool same_work(const assay_graph *f, const assay_node *a, const assay_graph *h,
                      const assay_node *b)
{
    return a && b && a->op == b->op && a->n_in == b->n_in && a->n_out == 1 && b->n_out == 1 &&
           assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr) &&
           lower_same_bounds(a, b) &&
           lower_same_type(assay_node_out(f, a, 0), assay_node_out(h, b, 0));
}

static bool same_name(const assay_graph *f, int v, const assay_graph *h, int w)
{
    return v == w || (v >= 0 && w >= 0 && strcmp(f->value[v].name, h->value[w].name) == 0);
}

/* ---- SAME: two nodes with the same inputs; one is left ---- */

static bool is_doubled(const assay_graph *f, const assay_graph *h)
{
    const assay_node *left = yields(h, h->output[0]);
    bool same = f->n_nodes == 2 && h->n_nodes == 1;
    for (int i = 0; i < 2 && same; i++) {
        same = same_work(f, &f->node[i], h, left);
        for (int k = 0; same && k < left->n_in; k++)
            same = same_name(f, f->node[i].in[k], h, left->in[k]);
    }
    return same;
}

/* ---- ELEMENTS: an element-wise node and transposes change places ---- */

static bool changed_places(const assay_graph *f, const assay_graph *h)
{
    const assay_node *below = yields(f, f->output[0]), *transpose = yields(h, h->output[0]);
    const assay_node *moved = transpose ? yields(h, transpose->in[0]) : NULL;
    const uint32_t by_element = ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_CONVERT;
    if (!below || !moved || h->n_nodes != 2 || transpose->op != ASSAY_OP_TRANSPOSE ||
        !same_work(f, below, h, moved) || !(lower_traits(below) & by_element))
        return false;
    for (int i = 0; i < below->n_in; i++) {
        const assay_node *p = yields(f, below->in[i]);
        if (!p || p->op != ASSAY_OP_TRANSPOSE ||
            !assay_attrs_equal(ASSAY_ATTRS_perm, &p->attr, &transpose->attr) ||
            !same_name(f, p->in[0], h, moved->in[i]))
            return false;
    }
    return true;
}

/* ---- PADDING ---- */

static bool pads_by_zero_point(const assay_graph *f, const assay_node *pad, int64_t *fill)
{
    const assay_type *t = &assay_node_out(f, pad, 0)->type;
    return lower_pad_fill(&pad->attr.pad, t, fill) && *fill == t->q.zero_point[0];
}

/* The convolution pads by as much more as the pad node did, and is the same otherwise. */
static bool pads_as_much(const assay_graph *f, const assay_node *pad, const assay_node *a,
                         const assay_graph *h, const assay_node *b)
{
    assay_attrs summed = a->attr;
    int first = a->attr.conv.layout == ASSAY_LAYOUT_NHWC ? 1 : 2;
    int rank = assay_node_out(f, pad, 0)->type.rank;
    for (int i = 0; i < rank; i++) {
        int64_t begin = pad->attr.pad.begin.v[i], end = pad->attr.pad.end.v[i];
        bool spatial = i >= first && i < first + summed.conv.pad_begin.n;
        if (begin < 0 || end < 0 || (!spatial && (begin > 0 || end > 0)))
            return false;
        if (spatial) {
            summed.conv.pad_begin.v[i - first] += begin;
            summed.conv.pad_end.v[i - first] += end;
        }
    }
    for (int i = 1; i < a->n_in; i++)
        if (!same_name(f, a->in[i], h, b->in[i]))
            return false;
    return a->op == ASSAY_OP_CONV && b->op == ASSAY_OP_CONV && a->n_in == b->n_in &&
           assay_attrs_equal(ASSAY_ATTRS_conv, &summed, &b->attr) && lower_same_bounds(a, b) &&
           same_name(f, pad->in[0], h, b->in[0]);
}

static void judge_padding(assay_proof *proof)
{
    const assay_graph *f = proof->before, *h = proof->after;
    const assay_node *a = yields(f, f->output[0]), *b = yields(h, h->output[0]);
    const assay_node *pad = a ? yields(f, a->in[0]) : NULL;
    assay_verdict *v = &proof->verdict;
    int64_t fill = 0;
    if (!b || !pad || pad->op != ASSAY_OP_PAD || h->n_nodes != 1 ||
        !pads_as_much(f, pad, a, h, b)) {
        snprintf(v->evidence, sizeof v->evidence, "the convolution's padding differs");
        snprintf(v->counterexample, sizeof v->counterexample,
                 "padding: the pad node's cells became something else");
    } else if (!pads_by_zero_point(f, pad, &fill)) {
        const assay_type *t = &assay_node_out(f, pad, 0)->type;
        snprintf(v->evidence, sizeof v->evidence, "a convolution pads with its zero point");
        snprintf(v->counterexample, sizeof v->counterexample, "padding: %lld became %d",
                 (long long)fill, (int)t->q.zero_point[0]);
    } else {
        v->kind = ASSAY_EXACT;
        snprintf(v->evidence, sizeof v->evidence, "the padding is the zero point %d",
                 (int)assay_node_out(f, pad, 0)->type.q.zero_point[0]);
    }
}

/* ---- INDICES: movements; both fragments move the numbers of all elements, from 1 on ---- */

static assay_status number_inputs(const assay_graph *f, int32_t **in, assay_error *err)
{
    int64_t next = 1;
    for (int k = 0; k < f->n_inputs; k++) {
        const int64_t n = assay_shape_count(&f->value[f->input[k]].type);
        if (n >= INT32_MAX - next)
            return assay_fail(err, ASSAY_ERR_LIMIT, "too many elements to number");
        if (!(in[k] = malloc(((size_t)n + 1) * sizeof *in[k])))
            return assay_out_of_memory(err);
        for (int64_t i = 0; i < n; i++)
            in[k][i] = (int32_t)next++;
    }
    return ASSAY_OK;
}

/* The fragment on plain numbers; padding is 0, whichever code it is. */
static assay_status run_indices(const assay_graph *f, const assay_scheme *s, assay_run_fn run,
                                int32_t **out, assay_error *err)
{
    assay_graph *plain = NULL;
    int32_t *in[ASSAY_MATCH_UPPER * 2] = {NULL};
    const assay_type *y = &f->value[f->output[0]].type;
    *out = malloc(((size_t)assay_shape_count(y) + 1) * sizeof **out);
    assay_status status = *out ? assay_graph_clone(f, &plain, err) : assay_out_of_memory(err);
    for (int v = 0; v < (status ? 0 : plain->n_values); v++) {
        plain->value[v].type.elem = assay_int(32, true);
        plain->value[v].type.q = (assay_qparams){0};
    }
    for (int i = 0; i < (status ? 0 : plain->n_nodes); i++)
        if (plain->node[i].op == ASSAY_OP_PAD) {
            plain->node[i].attr.pad.has_code = false;
            plain->node[i].attr.pad.value = 0;
        }
    if (!status)
        status = number_inputs(f, in, err);
    if (!status)
        status = run(plain, s, (const void *const *)in, (void *const[]){*out}, err);
    assay_graph_free(plain);
    for (int k = 0; k < f->n_inputs; k++)
        free(in[k]);
    return status;
}

/* The code that a fragment pads with; false: it does not pad. */
static bool padding_of(const assay_graph *f, int64_t *code)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (f->node[i].op == ASSAY_OP_PAD)
            return lower_pad_fill(&f->node[i].attr.pad, &assay_node_out(f, &f->node[i], 0)->type,
                                  code);
    return false;
}

static assay_status judge_indices(const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                                  assay_error *err)
{
    const assay_graph *f = proof->before;
    assay_verdict *v = &proof->verdict;
    int32_t *a = NULL, *b = NULL;
    int64_t was = 0, is = 0;
    size_t n = (size_t)assay_shape_count(&f->value[f->output[0]].type), i = 0;
    assay_status status = run_indices(f, s, run, &a, err);
    if (!status)
        status = run_indices(proof->after, s, run, &b, err);
    while (!status && i < n && a[i] == b[i])
        i++;
    if (!status && i < n) {
        snprintf(v->evidence, sizeof v->evidence, "elements come from different places");
        snprintf(v->counterexample, sizeof v->counterexample, "element %zu: x[%d] became x[%d]", i,
                 (int)a[i] - 1, (int)b[i] - 1);
    } else if (!status && (padding_of(f, &was) != padding_of(proof->after, &is) || was != is)) {
        snprintf(v->evidence, sizeof v->evidence, "the padding differs");
        snprintf(v->counterexample, sizeof v->counterexample, "padding: %lld became %lld",
                 (long long)was, (long long)is);
    } else if (!status) {
        v->kind = ASSAY_EXACT;
        snprintf(v->evidence, sizeof v->evidence, "%zu/%zu elements come from the same place", n,
                 n);
    }
    free(a);
    free(b);
    return prove_impossible(proof, status, err);
}

/* ---- CONSTANT ---- */

static assay_status compute_constant(const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                                     assay_error *err)
{
    const assay_graph *f = proof->before;
    proof->data = malloc(assay_type_bytes(&f->value[f->output[0]].type) + 1);
    if (!proof->data)
        return assay_out_of_memory(err);
    return prove_impossible(proof, run(f, s, NULL, &proof->data, err), err);
}

static void judge_constant(assay_proof *proof)
{
    const assay_graph *h = proof->after;
    const assay_value *y = &h->value[h->output[0]];
    assay_verdict *v = &proof->verdict;
    if (!y->data || memcmp(y->data, proof->data, assay_type_bytes(&y->type)) != 0) {
        snprintf(v->evidence, sizeof v->evidence, "the constant is not the computed one");
        snprintf(v->counterexample, sizeof v->counterexample,
                 "the computed constant became another");
        return;
    }
    v->kind = ASSAY_EXACT;
    snprintf(v->evidence, sizeof v->evidence, "%lld elements computed",
             (long long)assay_shape_count(&y->type));
}

/* A constant of any size stands in the certificate as an input, and what it becomes as another. */
static assay_status leave_data_out(const assay_graph *g, const assay_match *m, assay_proof *proof,
                                   assay_error *err)
{
    assay_graph *slim = NULL;
    assay_status s = prove_fragment_cut(g, m, 0, &slim, err);
    if (s)
        return s;
    assay_graph_free(proof->before);
    assay_graph_free(proof->after);
    proof->before = slim;
    proof->after = NULL;
    const assay_value *x = &slim->value[slim->input[0]], *y = &slim->value[slim->output[0]];
    int in[2];
    s = assay_graph_new("fragment", &proof->after, err);
    if (!s)
        s = assay_graph_add_value(proof->after, x->name, &x->type, &in[0], err);
    if (!s)
        s = assay_graph_add_value(proof->after, y->name, &y->type, &in[1], err);
    if (!s)
        s = assay_graph_set_inputs(proof->after, in, 2, err);
    return s ? s : assay_graph_set_outputs(proof->after, &in[1], 1, err);
}

static void judge_by_form(assay_proof *proof, bool same, const char *evidence)
{
    assay_verdict *v = &proof->verdict;
    v->kind = same ? ASSAY_EXACT : ASSAY_UNPROVED;
    snprintf(v->evidence, sizeof v->evidence, "%s", same ? evidence : "the nodes differ");
    if (!same)
        snprintf(v->counterexample, sizeof v->counterexample,
                 "a node became one of another kind, or reads something else");
}

assay_status prove_structure(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                             const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                             assay_error *err)
{
    bool constant =
        rule->obligation == ASSAY_PROVE_CONSTANT || rule->obligation == ASSAY_PROVE_MOVED;
    assay_status status = constant ? prove_fragment_keep(g, m, &proof->before, err)
                                   : prove_fragment_cut(g, m, 0, &proof->before, err);
    proof->verdict.kind = ASSAY_UNPROVED;
    if (!status && constant)
        status = compute_constant(s, run, proof, err);
    if (!status && proof->possible)
        status = prove_rewrite(m, rule, NULL, proof, err);
    if (!status && proof->possible)
        status = prove_target(s, proof, err);
    if (status || !proof->possible)
        return prove_impossible(proof, status, err);
    switch (rule->obligation) {
    case ASSAY_PROVE_SAME:
        judge_by_form(proof, is_doubled(proof->before, proof->after),
                      "the same op, attributes and inputs");
        return ASSAY_OK;
    case ASSAY_PROVE_ELEMENTS:
        judge_by_form(proof, changed_places(proof->before, proof->after),
                      "the node works element by element");
        return ASSAY_OK;
    case ASSAY_PROVE_PADDING:
        judge_padding(proof);
        return ASSAY_OK;
    case ASSAY_PROVE_CONSTANT:
        judge_constant(proof);
        return ASSAY_OK;
    case ASSAY_PROVE_MOVED:
        judge_constant(proof);
        return proof->verdict.kind == ASSAY_EXACT ? leave_data_out(g, m, proof, err) : ASSAY_OK;
    case ASSAY_PROVE_INDICES:
        return judge_indices(s, run, proof, err);
    default:
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "no proof is known of rule %s", rule->name);
    }
}
