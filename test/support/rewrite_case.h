/* Optimizing a network that is given as text, and what the tests of rewrites look at. */
#ifndef ASSAY_TEST_REWRITE_CASE_H
#define ASSAY_TEST_REWRITE_CASE_H

#include "graph/core/buf.h"
#include "opt/rewrite/optimize.h"
#include "test/support/support.h"

typedef struct rewrite_outcome {
    assay_graph *before, *after;
    assay_scheme *scheme;
    assay_optimize_report report;
    assay_buf log, text; /* the log's lines; the network afterwards */
} rewrite_outcome;

/* run and log of the options are filled in. Everything must succeed. */
rewrite_outcome rewrite_with(const char *scheme, const char *text,
                             const assay_optimize_options *given);
/* The same of a graph, which goes with the outcome. */
rewrite_outcome rewrite_graph(const char *scheme, assay_graph *g,
                              const assay_optimize_options *given);
rewrite_outcome rewrite_run(const char *scheme, const char *text);
/* For a target that offers codes of 8 bits everywhere and whose file prefers this. */
rewrite_outcome rewrite_preferring(const char *scheme, const char *prefer, const char *network);
void rewrite_finish(rewrite_outcome *o);

/* Greatest difference of the outputs' codes on random and extreme inputs. */
int64_t rewrite_worst_difference(const rewrite_outcome *o, test_rng *r, int trials);
/* Both networks give the same bits on random and extreme inputs. */
void rewrite_same_bits(const rewrite_outcome *o, test_rng *r, int trials);
/* The fast engine gives the reference's bits of the network afterwards, node by node. */
void rewrite_engines_agree(const rewrite_outcome *o, test_rng *r, int trials);
/* The certificate holds, and has a step for every application. */
void rewrite_certified(const rewrite_outcome *o);
void rewrite_has(const char *text, const char *part);
void rewrite_lacks(const char *text, const char *part);

/* All rules on one network: exact, with a line of the log, what must be in the text afterwards, and
 * what must be gone from it. */
void rewrite_expect_exact(const char *scheme, const char *in, const char *log, const char *out,
                          const char *gone);
/* Nothing applies; the log names the rule, and the reason. */
void rewrite_expect_refused(const char *scheme, const char *in, const char *rule,
                            const char *counterexample);

const assay_rule *rewrite_rule(const char *name);

/* A rule of ours with something changed: the obligation, and where they are not NULL the pattern or
 * the rewrite. */
typedef struct rewrite_mutant {
    const char *what, *base;
    enum assay_obligation obligation;
    bool (*matches)(const assay_graph *, const int *, assay_match *);
    assay_status (*rewrite)(assay_graph *, const assay_match *, const assay_rule_image *,
                            assay_error *);
    const char *text; /* a network that it would change the results of */
} rewrite_mutant;
/* Under tflite each is refused, with a counterexample. */
void rewrite_catches(const rewrite_mutant *mutants, size_t n);
/* The base rule's rewrite, given other data. */
assay_status rewrite_with_data(const char *base, assay_graph *g, const assay_match *m,
                               const assay_rule_image *image, const void *data, assay_error *err);
/* A pattern: the first two nodes, when they are of one op. */
bool rewrite_first_two(const assay_graph *g, const int *uses, assay_match *m);
/* The node of this kind that a rewrite has left, or NULL. */
assay_node *rewrite_find(assay_graph *g, assay_op op);

/* REWRITE_MUTANT(name, base): the base rule's rewrite, and then `edit`, which sets n, while it is
 * at it. */
#define REWRITE_MUTANT(name, base, edit)                                                           \
    static assay_status name(assay_graph *g, const assay_match *m, const assay_rule_image *image,  \
                             assay_error *err)                                                     \
    {                                                                                              \
        assay_status s = rewrite_rule(base)->rewrite(g, m, image, err);                            \
        assay_node *n = NULL;                                                                      \
        if (s)                                                                                     \
            return s;                                                                              \
        edit;                                                                                      \
        return n ? ASSAY_OK : assay_fail(err, ASSAY_ERR_INTERNAL, "nothing to mutate");            \
    }

/* Weights and bias of a convolution from 1 to 2 channels, input scale 0.1. */
#define REWRITE_CONV_PARTS                                                                         \
    "const w: i8[2,1,2,2] q(axis=0,[0.01,0.02],[0,0]) = [1,2,3,4,-90,100,-110,120]\n"              \
    "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"

#endif
