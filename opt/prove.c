#include "opt/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/fragment.h"
#include "opt/rewrite.h"

void assay_proof_free(assay_proof *p)
{
    assay_graph_free(p->before);
    assay_graph_free(p->after);
    free(p->data);
    p->before = p->after = NULL;
    p->data = NULL;
}

assay_status assay_prove_impossible(assay_proof *proof, assay_status status, assay_error *err)
{
    if (status == ASSAY_OK || status == ASSAY_ERR_MEMORY)
        return status;
    proof->possible = false;
    proof->verdict.kind = ASSAY_UNPROVED;
    snprintf(proof->verdict.evidence, sizeof proof->verdict.evidence, "%.*s",
             (int)strcspn(err->text, "\n"), err->text);
    proof->verdict.counterexample[0] = '\0';
    return ASSAY_OK;
}

static bool same_value(const assay_graph *a, int v, const assay_graph *b, int w)
{
    return assay_elem_equal(a->value[v].type.elem, b->value[w].type.elem) &&
           assay_shape_equal(&a->value[v].type, &b->value[w].type) &&
           assay_qparams_equal(&a->value[v].type.q, &b->value[w].type.q);
}

/* The fragments read and yield values of the same types. */
static bool same_border(const assay_graph *a, const assay_graph *b)
{
    bool same = a->n_inputs == b->n_inputs && a->n_outputs == b->n_outputs;
    for (int i = 0; i < a->n_inputs && same; i++)
        same = same_value(a, a->input[i], b, b->input[i]);
    for (int i = 0; i < a->n_outputs && same; i++)
        same = same_value(a, a->output[i], b, b->output[i]);
    return same;
}

assay_match assay_prove_match(const assay_match *m, const assay_proof *proof)
{
    assay_match inner = assay_fragment_match(m);
    inner.data = proof->data;
    inner.factor = proof->factor;
    return inner;
}

assay_status assay_prove_rewrite(const assay_match *m, const assay_rule *rule,
                                 const assay_image *image, assay_proof *proof, assay_error *err)
{
    int changed;
    assay_match inner = assay_prove_match(m, proof);
    assay_graph_free(proof->after);
    proof->after = NULL;
    assay_status s = assay_graph_clone(proof->before, &proof->after, err);
    if (!s)
        s = rule->rewrite(proof->after, &inner, image, err);
    if (!s)
        s = assay_eliminate_dead(proof->after, &changed, err);
    if (!s && !same_border(proof->before, proof->after))
        s = assay_fail(err, ASSAY_ERR_INTERNAL, "%s changes the type of an input or output",
                       rule->name);
    if (!s)
        s = assay_graph_verify(proof->after, err);
    return assay_prove_impossible(proof, s, err);
}

assay_status assay_prove_target(const assay_scheme *s, assay_proof *proof, assay_error *err)
{
    for (int i = 0; i < proof->after->n_nodes && proof->possible; i++) {
        const assay_node *n = &proof->after->node[i];
        char why[160];
        if (assay_needs_target(n) && !assay_target_computes(s, proof->after, n, why, sizeof why)) {
            assay_status status = assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s", why);
            return assay_prove_impossible(proof, status, err);
        }
    }
    return ASSAY_OK;
}

/* Every window of a pool holds at least one cell of the image. */
static bool windows_hold_cells(const assay_node *n)
{
    const assay_attr_pool *a = &n->attr.pool;
    if (assay_op_get(n->op)->attrs != ASSAY_ATTRS_pool)
        return true;
    for (int i = 0; i < a->kernel.n; i++) {
        bool padded = a->pad_begin.v[i] > 0 || a->pad_end.v[i] > 0;
        if (a->ceil_mode ||
            (padded && (a->dilation.v[i] != 1 || a->pad_begin.v[i] >= a->kernel.v[i] ||
                        a->pad_end.v[i] >= a->kernel.v[i])))
            return false;
    }
    return true;
}

/* What the moved padding becomes under the rescale must be what was padded before. */
static bool keeps_padding(const assay_node *n, const assay_type *x, const assay_type *y,
                          const int64_t *table)
{
    if (n->op != ASSAY_OP_PAD || n->attr.pad.mode != ASSAY_PAD_CONSTANT)
        return true;
    int64_t least = assay_elem_min(x->elem);
    if (n->attr.pad.value == 0)
        return table[x->q.zero_point[0] - least] == y->q.zero_point[0];
    return table[0] == assay_elem_min(y->elem);
}

/* The argument of the obligation holds for ops of these traits only. */
static bool may_sink_below(const assay_node *n, enum assay_obligation obligation)
{
    uint32_t needed =
        obligation == ASSAY_PROVE_MOVE ? ASSAY_T_MOVE : ASSAY_T_SELECTS | ASSAY_T_MONOTONE;
    return (assay_op_get(n->op)->traits & needed) == needed;
}

/* Sinking is proved by an argument on what the node is. That the rewrite did sink, and nothing
 * else, is tried on samples here, and read off the fragments by the certificate's checker. */
static assay_status prove_sink(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                               const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                               assay_error *err)
{
    const assay_node *n = &g->node[m->lower], *rescale = &g->node[m->upper[0]];
    const assay_type *x = &g->value[rescale->in[0]].type, *y = &g->value[rescale->out[0]].type;
    assay_verdict *v = &proof->verdict;
    int64_t *table = NULL, least = assay_elem_min(x->elem);
    size_t size = 0, ordered = 1;
    assay_status status = assay_fragment_cut(g, m, 0, &proof->before, err);
    if (!status)
        status = assay_prove_rewrite(m, rule, NULL, proof, err);
    if (!status && proof->possible)
        status = assay_prove_target(s, proof, err);
    if (status || !proof->possible)
        return status;
    v->kind = ASSAY_UNPROVED;
    status = assay_prove_samples(s, run, proof, err);
    if (status || !proof->possible || v->counterexample[0])
        return status;
    if (!may_sink_below(n, rule->obligation)) {
        snprintf(v->evidence, sizeof v->evidence, "%s computes more than it moves or chooses",
                 assay_op_get(n->op)->name);
        return ASSAY_OK;
    }
    if ((status = assay_tabulate(g, m->upper[0], s, run, &table, &size, err)) != ASSAY_OK)
        return assay_prove_impossible(proof, status, err);
    while (ordered < size && table[ordered] >= table[ordered - 1])
        ordered++;
    if (rule->obligation == ASSAY_PROVE_MOVE && keeps_padding(n, x, y, table)) {
        v->kind = ASSAY_EXACT;
        snprintf(v->evidence, sizeof v->evidence, "%s moves codes and computes none",
                 assay_op_get(n->op)->name);
    } else if (rule->obligation == ASSAY_PROVE_MOVE) {
        snprintf(v->evidence, sizeof v->evidence, "the padding would be rescaled to another code");
        snprintf(v->counterexample, sizeof v->counterexample, "padding: %d became %lld",
                 (int)y->q.zero_point[0], (long long)table[x->q.zero_point[0] - least]);
    } else if (ordered < size) {
        snprintf(v->evidence, sizeof v->evidence, "the rescale is not monotone");
        snprintf(v->counterexample, sizeof v->counterexample, "codes %lld, %lld: %lld, %lld",
                 (long long)least + (long long)ordered - 1, (long long)least + (long long)ordered,
                 (long long)table[ordered - 1], (long long)table[ordered]);
    } else if (!windows_hold_cells(n) && table[0] != assay_elem_min(y->elem)) {
        snprintf(v->evidence, sizeof v->evidence, "a window may lie in the padding");
    } else {
        v->kind = ASSAY_EXACT;
        snprintf(v->evidence, sizeof v->evidence, "%zu/%zu codes in order", size, size);
    }
    free(table);
    return ASSAY_OK;
}

assay_status assay_prove(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                         const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                         assay_error *err)
{
    memset(proof, 0, sizeof *proof);
    proof->possible = true;
    switch (rule->obligation) {
    case ASSAY_PROVE_CODES:
    case ASSAY_PROVE_TABLE:
        return assay_prove_codes(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_ACCUMULATORS:
        return assay_prove_accumulators(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_LINEAR:
        return assay_prove_linear(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_SUMS:
    case ASSAY_PROVE_AVERAGE:
        return assay_prove_sums(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_MOVE:
    case ASSAY_PROVE_ORDER:
        return prove_sink(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_FLOATS:
        return assay_prove_floats(g, m, rule, s, run, proof, err);
    default:
        return assay_prove_structure(g, m, rule, s, run, proof, err);
    }
}
