/* The choice of the argument that a rule's rewrites owe. */
#include "opt/prove/prove.h"

#include <string.h>

static assay_prover *const provers[] = {
#define OBLIGATION(ID, name, prover) [ASSAY_PROVE_##ID] = prove_##prover,
#include "opt/prove/obligations.def"
};

assay_status prove_application(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                               const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                               assay_error *err)
{
    memset(proof, 0, sizeof *proof);
    proof->possible = true;
    if ((size_t)rule->obligation >= sizeof provers / sizeof *provers) /* of a plugin */
        return assay_fail(err, ASSAY_ERR_SCHEME, "rule '%s': there is no obligation %d", rule->name,
                          (int)rule->obligation);
    return provers[rule->obligation](g, m, rule, s, run, proof, err);
}
