/* From a rule to the argument that its rewrites owe. */
#include "opt/prove/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/lower/pass.h"
#include "opt/prove/fragment.h"

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

assay_match prove_match(const assay_match *m, const assay_proof *proof)
{
    assay_match inner = prove_fragment_match(m);
    inner.data = proof->data;
    inner.factor = proof->factor;
    inner.fills = proof->fills;
    inner.fill = proof->fill;
    return inner;
}

assay_status prove_application(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                               const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                               assay_error *err)
{
    memset(proof, 0, sizeof *proof);
    proof->possible = true;
    switch (rule->obligation) {
    case ASSAY_PROVE_CODES:
    case ASSAY_PROVE_TABLE:
        return prove_codes(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_ACCUMULATORS:
        return prove_accumulators(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_LINEAR:
        return prove_linear(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_SUMS:
    case ASSAY_PROVE_AVERAGE:
        return prove_sums(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_MOVE:
    case ASSAY_PROVE_ORDER:
        return prove_sink(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_INTERPOLATION:
        return prove_interpolation(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_GAINS:
        return prove_gains(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_FORM:
    case ASSAY_PROVE_LAYOUT:
        return prove_form(g, m, rule, s, run, proof, err);
    case ASSAY_PROVE_FLOATS:
        return prove_floats(g, m, rule, s, run, proof, err);
    default:
        return prove_structure(g, m, rule, s, run, proof, err);
    }
}
