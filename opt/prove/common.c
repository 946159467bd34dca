/* Common parts of the arguments: a proof, one that is impossible, the rewritten fragment, the
 * target's answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/lower/pass.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"

void prove_proof_free(assay_proof *p)
{
    assay_graph_free(p->before);
    assay_graph_free(p->after);
    free(p->data);
    free(p->drift);
    p->before = p->after = NULL;
    p->data = NULL;
    p->drift = NULL;
}

assay_status prove_impossible(assay_proof *proof, assay_status status, assay_error *err)
{
    if (!status || status == ASSAY_ERR_MEMORY)
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

/* The match in the fragment, with what the proof has for the rewrite. */
static assay_match match_in(const assay_match *m, const assay_proof *proof)
{
    assay_match inner = prove_fragment_match(m);
    inner.data = proof->data;
    inner.factor = proof->factor;
    inner.fills = proof->fills;
    inner.fill = proof->fill;
    return inner;
}

assay_status prove_rewrite(const assay_match *m, const assay_rule *rule,
                           const assay_rule_image *image, assay_proof *proof, assay_error *err)
{
    int changed;
    assay_match inner = match_in(m, proof);
    assay_graph_free(proof->after);
    proof->after = NULL;
    assay_status s = assay_graph_clone(proof->before, &proof->after, err);
    if (!s)
        s = rule->rewrite(proof->after, &inner, image, err);
    if (!s)
        s = lower_eliminate_dead(proof->after, &changed, err);
    if (!s && !same_border(proof->before, proof->after))
        s = assay_fail(err, ASSAY_ERR_INTERNAL, "%s changes the type of an input or output",
                       rule->name);
    if (!s)
        s = assay_graph_verify(proof->after, err);
    return prove_impossible(proof, s, err);
}

assay_status prove_target(const assay_scheme *s, assay_proof *proof, assay_error *err)
{
    for (int i = 0; i < proof->after->n_nodes && proof->possible; i++) {
        const assay_node *n = &proof->after->node[i];
        bool can = true;
        char why[160];
        assay_status status = ASSAY_OK;
        if (lower_needs_target(n) && assay_node_is_quantized(proof->after, n))
            status = lower_target_computes(s, proof->after, n, &can, why, sizeof why, err);
        if (!status && !can)
            status = assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s", why);
        if (status)
            return prove_impossible(proof, status, err);
    }
    return ASSAY_OK;
}
