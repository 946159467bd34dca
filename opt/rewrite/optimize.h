/* Rewrites of integer graphs that carry their proof.
 *
 * A rule is a pattern, a rewrite, and an obligation: what must be shown for the rewrite to change
 * no bit. The rewrite is tried on a fragment cut out of the network, the obligation is discharged
 * on the fragment before and after, and only then is the network touched. The rules run until none
 * applies; opt/README.md states the measure that makes it end. */
#ifndef ASSAY_OPT_OPTIMIZE_H
#define ASSAY_OPT_OPTIMIZE_H

#include "graph/core/buf.h"
#include "graph/core/graph.h"
#include "schemes/scheme.h"

/* Runs a whole graph once, supplied by interp: in[i] and out[i] are memory for input and output i
 * in native storage. ASSAY_ERR_UNSUPPORTED and ASSAY_ERR_SCHEME: the target cannot compute it. */
typedef assay_status (*assay_run_fn)(const assay_graph *g, const assay_scheme *s,
                                     const void *const *in, void *const *out, assay_error *err);

#define ASSAY_MATCH_UPPER 16

/* Where a rule applies: node `lower`, and the nodes `upper` that produce its inputs `slot[i]`. */
typedef struct assay_match {
    int lower, n_upper;
    int upper[ASSAY_MATCH_UPPER], slot[ASSAY_MATCH_UPPER];
    const char *obstacle; /* the pattern is there, but for this reason (static text) it must stay */
    const void *data;     /* for the rewrite: what the proof computed, native storage; or NULL */
    int64_t factor;       /* likewise: the rescale multiplies by it; 0: by no whole number */
    bool fills;           /* likewise: a pad that moves fills with code `fill` there */
    int64_t fill;
} assay_match;

enum assay_obligation {
    ASSAY_PROVE_CODES,        /* all codes of one input, all pairs of two */
    ASSAY_PROVE_TABLE,        /* the same; the results are what the rewrite is given */
    ASSAY_PROVE_ACCUMULATORS, /* threshold forms over the accumulators that can occur */
    ASSAY_PROVE_LINEAR,       /* the rescale multiplies by a whole number, as the bias was */
    ASSAY_PROVE_SUMS,         /* all sums of a window, for each count of cells */
    ASSAY_PROVE_AVERAGE,      /* the same: sums of rescaled codes beside sums of codes */
    ASSAY_PROVE_MOVE,         /* each output element is one input element */
    ASSAY_PROVE_ORDER,        /* the rescale is monotone, the node chooses by order */
    ASSAY_PROVE_ELEMENTS,     /* the node works element by element */
    ASSAY_PROVE_INDICES,      /* every element goes to the same place */
    ASSAY_PROVE_SAME,         /* the same node on the same inputs */
    ASSAY_PROVE_CONSTANT,     /* inputs are known: the result is computed */
    ASSAY_PROVE_PADDING,      /* what is padded is the zero point */
    ASSAY_PROVE_FLOATS,       /* thresholds over all floats, where the function is monotone */
    ASSAY_PROVE_BLEND,        /* the rescale adds one number to every code, so to each blend */
    ASSAY_PROVE_GAINS,        /* normalization: the same gains, threshold forms of products */
    ASSAY_PROVE_FORM,         /* a linear layer in another form sums the same products */
    ASSAY_PROVE_LAYOUT,       /* the same op, its axes in another order */
    ASSAY_PROVE_MOVED /* a constant is moved; of any size, so the certificate leaves it out */
};

/* Codes that the fragment can yield: the candidate saturation of a merged rescale. */
typedef struct assay_image {
    int64_t lo, hi;
} assay_image;

/* Rules that are in force only where a target's file asks for what they make (target.h), or
 * where they are chosen by name: any of these. */
enum assay_preference {
    ASSAY_PREFER_CONV = 1,
    ASSAY_PREFER_FC = 2,
    ASSAY_PREFER_MATMUL = 4,
    ASSAY_PREFER_NHWC = 8,
    ASSAY_PREFER_NCHW = 16
};
#define ASSAY_PREFER_PRODUCTS (ASSAY_PREFER_CONV | ASSAY_PREFER_FC | ASSAY_PREFER_MATMUL)
#define ASSAY_PREFER_LAYOUTS  (ASSAY_PREFER_NHWC | ASSAY_PREFER_NCHW)

typedef struct assay_rule {
    const char *name;
    enum assay_obligation obligation;
    bool bounds; /* the rewrite saturates at the image when that is needed for equality */
    bool late;   /* tried where no other rule applies any more */
    /* Whether the pattern is at m->lower; fills the rest of *m. uses: by value. */
    bool (*matches)(const assay_graph *g, const int *uses, assay_match *m);
    /* Edits g in place. The output values of m->lower keep their names and types. Nodes may be left
     * without use. image: NULL, or where to saturate. */
    assay_status (*rewrite)(assay_graph *g, const assay_match *m, const assay_image *image,
                            assay_error *err);
    uint32_t preference; /* 0: always in force; or of enum assay_preference */
} assay_rule;

/* The rules in the order in which they are tried; *n receives their number. */
const assay_rule *assay_rules(size_t *n);

/* Rules of a scheme that is a shared object: it exports `const assay_rule_list
 * *assay_rules_plugin(void)`, built against this header, and they are tried behind ours. Their
 * obligations are discharged here, as those of all rules. */
#define ASSAY_RULES_ABI 2
typedef struct assay_rule_list {
    uint32_t abi;  /* ASSAY_RULES_ABI */
    uint32_t size; /* sizeof(assay_rule) */
    size_t n;
    const assay_rule *rule;
} assay_rule_list;

enum assay_verdict_kind {
    ASSAY_EXACT,   /* proved: no bit changes */
    ASSAY_BOUNDED, /* the whole domain was looked at: outputs differ by at most `bound` codes */
    ASSAY_UNPROVED /* neither */
};

typedef struct assay_verdict {
    enum assay_verdict_kind kind;
    int64_t bound;
    char evidence[160];       /* "256/256 codes equal" */
    char counterexample[160]; /* inputs and both outputs where they differ most, or "" */
} assay_verdict;

enum assay_allow { ASSAY_ALLOW_EXACT, ASSAY_ALLOW_BOUNDED, ASSAY_ALLOW_ANY };

typedef struct assay_optimize_options {
    enum assay_allow allow;
    int64_t bound;          /* codes, for ASSAY_ALLOW_BOUNDED: of each application by itself; what
                               they come to at the outputs is reported */
    const char *passes;     /* names separated by commas, or NULL for all rules */
    const assay_rule *rule; /* NULL: assay_rules */
    size_t n_rules;
    assay_run_fn run;
    const struct assay_target *target; /* asked about the nodes of each rewrite; may be NULL */
    /* A line an application and a line a refusal; may be NULL. */
    void (*log)(void *user, const char *line);
    void *user;
} assay_optimize_options;

typedef struct assay_optimize_report {
    int applied, refused;
    int bounded, unproved; /* of those applied */
    /* When none was applied unproved: codes of the network's outputs differ from before by at most
     * this (of an output in float, the codes that it was dequantized from). */
    int64_t output_bound;
    assay_buf certificate; /* JSON text; free with assay_buf_free */
} assay_optimize_report;

/* Rewrites g to a fixed point by the rules that options and scheme leave in force. Values that
 * survive keep their names. A result of this function is verified. ASSAY_ERR_INPUT: a pass, or a
 * rule of the scheme's, of no such name. */
assay_status assay_optimize(assay_graph *g, const assay_scheme *s,
                            const assay_optimize_options *options, assay_optimize_report *report,
                            assay_error *err);

typedef struct assay_proof_report {
    int steps;  /* in the certificate */
    int proved; /* of them exact */
    int given;  /* steps with an interval or a bound that rests on weights which were not given */
} assay_proof_report;

/* The networks that a certificate speaks of, each NULL when it is not at hand. */
typedef struct assay_proof_networks {
    const assay_graph *model;  /* what was optimized: its weights decide intervals */
    const assay_graph *result; /* what came out */
    const assay_scheme
        *plugin; /* of a certificate under a plugin, whose arithmetic it cannot hold */
} assay_proof_networks;

/* Checks a certificate from its own text: scheme, fragments and claims, and with the networks also
 * that it is theirs. The evaluator is its own (opt/check*.c). networks may be NULL.
 * ASSAY_ERR_INPUT: malformed, edited, of another network, or a claim that does not hold. */
assay_status assay_check_proof(const char *json, size_t length, const char *file,
                               const assay_proof_networks *networks, assay_proof_report *report,
                               assay_error *err);

#endif
