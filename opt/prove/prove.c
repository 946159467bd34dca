/* The choice of the argument that a rule's rewrites owe. */
#include "opt/prove/prove.h"

#include <string.h>

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
