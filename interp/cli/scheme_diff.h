/* The shared parts of `assay scheme diff`. */
#ifndef ASSAY_INTERP_CLI_SCHEME_DIFF_H
#define ASSAY_INTERP_CLI_SCHEME_DIFF_H

#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "schemes/rescale/thresholds.h"

/* Two schemes and what is known so far. */
typedef struct cli_pair {
    const assay_scheme *a, *b;
    FILE *out;                           /* what is printed goes here */
    json_t *parameters, *scales, *nodes; /* the same for programs: a row each */
    int same;                            /* parameters */
    bool as_is;                          /* nodes that their types do not admit are compared too */
    bool differ;
    bool in_float; /* both leave the op of --op in float */
    int undecided; /* scales, or nodes */
} cli_pair;

/* ---- scheme_diff_scales.c ---- */

/* Two rescales of a channel each, for every accumulator of lo..hi. */
assay_status cli_diff_rescales(const assay_rescale *a, size_t ca, const assay_rescale *b, size_t cb,
                               int64_t lo, int64_t hi, assay_disagreements *out, assay_error *err);
/* The first runs of accumulators, a line each; all of them, {"from", "to", "a", "b"}, null where a
 * side refuses: a new reference. */
void cli_diff_print_first(FILE *f, const assay_disagreements *d, size_t max);
json_t *cli_diff_first_json(const assay_disagreements *d);
/* The scales of --scale; an exit status, CLI_OK whatever was found. */
int cli_diff_scales(cli_pair *p, const cli_args *args);

/* ---- scheme_diff_nodes.c ---- */

/* The nodes of --model; likewise. A row has "node", "op" and "verdict": "identical", "different"
 * with numbers, "not decided", "not comparable" or "outside" with "why". */
int cli_diff_network(cli_pair *p, const cli_args *args);

#endif
