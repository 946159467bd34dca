/* Discharge of obligations: proofs that the rewrite of a fragment keeps the bits. Internal to
 * opt/. */
#ifndef ASSAY_OPT_PROVE_H
#define ASSAY_OPT_PROVE_H

#include "opt/prove/rule.h"
#include "schemes/vtable.h"

/* A rescale that went into a product without an exact factor: sums before the rewrite are sums
 * after it, divided by the ratio of scales, and at most so far from there. */
typedef struct assay_drift {
    int64_t down, up;
} assay_drift;

typedef struct assay_proof {
    assay_verdict verdict;
    bool possible; /* the target computes the rewritten nodes; else verdict.evidence says why not */
    bool uses_image;
    assay_rule_image image;      /* what the rewrite must be given, when uses_image */
    assay_graph *before, *after; /* the fragment; owned */
    assay_interval reach;        /* accumulators that can occur, in any channel */
    assay_interval was;          /* of a drift: accumulators before the rewrite */
    assay_drift *drift;          /* by channel of the form, or NULL; owned */
    size_t n_drift;
    int64_t factor; /* the rescale multiplies by it; 0: not by an integer */
    bool fills;     /* a pad that moves fills with code `fill` */
    int64_t fill;
    void *data; /* what the rewrite must be given (assay_match.data); owned */
} assay_proof;

/* Tries the rule's rewrite on the fragment, first as it is and then, where the rule can, saturated
 * at the image, and discharges the obligation. Free the proof whatever the status. */
typedef assay_status assay_prover(const assay_graph *g, const assay_match *m,
                                  const assay_rule *rule, const assay_scheme *s, assay_run_fn run,
                                  assay_proof *proof, assay_error *err);
assay_prover prove_application; /* by the obligation that the rule names: one of those below */

#define OBLIGATION(ID, name, prover) assay_prover prove_##prover;
#include "opt/prove/obligations.def"

/* ---- codes.c, for others too ---- */
/* All results of a function of one code, by code - least code; malloc'd into *table. The other
 * operand of an element-wise node may be one constant number, or the same value. */
assay_status prove_tabulate(const assay_graph *g, int node, const assay_scheme *s, assay_run_fn run,
                            int64_t **table, size_t *size, assay_error *err);
/* The same for two operands, first one slowest. */
assay_status prove_tabulate_pairs(const assay_graph *g, int node, const assay_scheme *s,
                                  assay_run_fn run, int64_t **table, assay_error *err);

/* Runs both fragments on samples of codes, including extremes: SAMPLES to see whether an argument
 * is worthwhile, MORE for a counterexample where there is none. When results differ, the verdict
 * receives evidence and counterexample. */
#define ASSAY_SAMPLES      4
#define ASSAY_MORE_SAMPLES 200
assay_status prove_samples(const assay_scheme *s, assay_run_fn run, int samples, assay_proof *proof,
                           assay_error *err);

/* ---- common.c, for all of them ---- */
void prove_proof_free(assay_proof *p);
/* proof->after: the fragment rewritten, without unused nodes, and verified. When it cannot be,
 * proof->possible is false. */
assay_status prove_rewrite(const assay_match *m, const assay_rule *rule,
                           const assay_rule_image *image, assay_proof *proof, assay_error *err);
/* The target must have the arithmetic of every node of
 * proof->after, or proof->possible becomes false. */
assay_status prove_target(const assay_scheme *s, assay_proof *proof, assay_error *err);
/* proof->possible becomes false with err's text; ASSAY_OK unless out of memory. */
assay_status prove_impossible(assay_proof *proof, assay_status status, assay_error *err);

#endif
