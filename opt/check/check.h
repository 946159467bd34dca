/* The certificate's checker. It shares nothing with the passes or the prover but the certificate:
 * it reads the fragments as text, prepares their nodes from the scheme's text, and runs the
 * scheme's row functions over domains that it enumerates itself. Internal to opt/check. */
#ifndef ASSAY_OPT_CHECK_H
#define ASSAY_OPT_CHECK_H

#include <jansson.h>

#include "graph/core/graph.h"
#include "schemes/scheme.h"

#define CHECK_MAX_BITS 16 /* of a domain that is enumerated */

typedef struct check_replay check_replay; /* the model, step by step */

typedef struct check_context {
    const char *file;
    int step;
    const char *pass; /* of the step, or NULL */
    const assay_scheme *scheme;
    assay_graph *before, *after;
    const assay_graph *model; /* the network the steps start from; NULL: not given */
    assay_graph **constant;   /* results of earlier steps that computed or changed constants */
    int n_constants;
    int64_t *spread; /* by output of the network: the sum of bounded steps; owned */
    size_t n_spread;
    bool unproved;        /* a step was applied without a proof */
    bool in_body;         /* of control flow */
    check_replay *replay; /* with the model; owned */
    int given;            /* steps with something that only the model could show */
    assay_error *err;
} check_context;

assay_status check_reject(const check_context *c, const char *what);
assay_status check_out_of_memory(const check_context *c);
uint32_t check_traits(const assay_node *n);
/* A node's arithmetic; release it with the scheme's vtable. */
assay_status check_prepare(const check_context *c, const assay_graph *g, const assay_node *n,
                           assay_unit **unit);
/* The arithmetic of a node before and of one after the step. Both are NULL at first; the caller
 * releases them even on failure. */
assay_status check_prepare_pair(const check_context *c, const assay_node *a, const assay_node *b,
                                assay_unit **before, assay_unit **after);
void check_release_pair(const check_context *c, assay_unit *before, assay_unit *after);
bool check_is_code(const assay_type *t);
bool check_same_type(const assay_type *a, const assay_type *b); /* kind and parameters */
bool check_same_bounds(const assay_node *a, const assay_node *b);
const assay_node *check_producer(const assay_graph *g, int value); /* or NULL */
/* The same value by name in both fragments. */
bool check_same_value(const assay_graph *g, int v, const assay_graph *h, int w);
/* A constant of the model, or of an earlier step that made it; NULL: there is none. */
const assay_value *check_constant_of(const check_context *c, const char *name);
/* The code of element i of a constant. */
int64_t check_code(const assay_value *v, int64_t i);
/* Codes as memory of type t keeps them, whatever a unit made. */
void check_store(const assay_type *t, int32_t *code, size_t count);
/* Transpose, reshape, relabel: the element at `i` of the output is that element of the input. */
size_t check_source_of(const assay_graph *g, const assay_node *n, size_t i);
/* A function of one code of a fragment: all its results by code - least; malloc'd. */
assay_status check_tabulate(const check_context *c, const assay_graph *g, const assay_node *n,
                            int32_t **table, size_t *size);

/* The output of a fragment that works element by element, for all codes of its one or two inputs,
 * the first slowest; *result is malloc'd. */
assay_status check_tabulate_all(const check_context *c, const assay_graph *g, int32_t **result,
                                size_t *n);

/* With the model: what changing a value's codes by so many adds at each output of the network, as
 * the steps so far left it, is what is claimed: with what those steps came to never more than the
 * output's codes can differ by. */
assay_status check_spread(check_context *c, const char *value, int64_t bound,
                          const json_t *claimed);

/* ---- replay.c: the steps, one after the other, make the result of the model ---- */
assay_status check_replay_begin(check_context *c);
assay_status check_replay_step(check_context *c, const char *obligation, const char *node);
assay_status check_replay_result(const check_context *c, const assay_graph *result);
void check_replay_end(check_context *c);

/* Products in one sum of matrix product n of fragment g, in the network as it is; 0: not known. */
int64_t check_depth(const check_context *c, const assay_graph *g, const assay_node *n);

/* ---- products: pair.c, weights.c, products.c ---- */
/* The one product before and after, and the function before it (linear) or after it: in all
 * else they are the same. */
assay_status check_product_pair(const check_context *c, bool linear, const assay_node **a,
                                const assay_node **function, const assay_node **b);
/* The fragment's bias is the model's. */
assay_status check_model_bias(const check_context *c, const assay_node *a);
/* Accumulators that can occur, those of no products at all (0) among them. */
typedef struct check_reachable {
    int64_t lo, hi;
    bool known;             /* false: the model's weights are missing or cannot be identified */
    bool overflows;         /* sums may leave the accumulator: then lo and hi are its ends */
    int64_t greatest, pair; /* magnitudes: of all products and the bias, of two raw products */
} check_reachable;
/* Of node n of fragment g, on codes of type x; bias: added to the sums of a matrix product by
 * another node of g, or -1. */
check_reachable check_reach(const check_context *c, const assay_graph *g, const assay_node *n,
                            int bias, const assay_unit *u, const assay_type *x);
/* A function of codes: by code - least. */
typedef struct check_table {
    const int32_t *code;
    size_t size;
    int64_t least;
} check_table;

/* *worst: the greatest difference of the codes that two units make of accumulators factor * x and
 * x, x in lo..hi, channel by channel; those before go through the table, which may be NULL. For a
 * plugin that does not declare itself monotone, every accumulator is tried; too many are refused.
 */
assay_status check_forms(const check_context *c, const assay_unit *before, const assay_unit *after,
                         const check_table *table, int64_t factor, int64_t lo, int64_t hi,
                         int64_t channels, int64_t *worst);
/* Both units make the same accumulators of such sums, by the same rules or exactly; for unknown
 * sums that is assumed. */
bool check_sums_alike(const check_context *c, const assay_unit *a, const assay_unit *b,
                      const check_reachable *all);
/* Sum of the magnitudes of a channel's weights, where check_reach knows them. */
int64_t check_magnitude(const check_context *c, const assay_graph *g, const assay_node *n,
                        int64_t channel);
/* A pair [lo, hi], in order. */
bool check_interval(const json_t *pair, int64_t *lo, int64_t *hi);

/* ---- sinking: a node `below` rescales; afterwards `moved`, and a rescale after each output ----
 */
bool check_same_rescale(const assay_graph *g, const assay_node *a, const assay_graph *h,
                        const assay_node *b);
/* `moved` does what `below` did, on what the rescales read (but for what a pad fills with). */
bool check_is_sunk(const assay_graph *g, const assay_node *below, const assay_graph *h,
                   const assay_node *moved, const assay_node *rescale);
/* Output i before is what the moved node's output i, rescaled as `first` does, is after. */
bool check_outputs_fit(const check_context *c, const assay_node *below, const assay_node *moved,
                       const assay_node *first);

/* ---- the obligations, by name in the certificate. *worst: the greatest difference of codes that
 * was found; INT64_MAX where floats differ. ---- */
typedef assay_status check_obligation(check_context *c, const json_t *step, int64_t *worst);
#define OBLIGATION(name, checker) check_obligation check_##checker;
#include "opt/check/obligations.def"
check_obligation check_drift; /* linear, where sums drift */

#endif
