/* A rule: a pattern, a rewrite, and the obligation that must be discharged for it; and the verdict
 * on one application. A scheme's shared object may bring rules of its own. */
#ifndef ASSAY_OPT_RULE_H
#define ASSAY_OPT_RULE_H

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
    int64_t factor;       /* likewise: the rescale multiplies by it; 0: not by an integer */
    bool fills;           /* likewise: a pad that moves fills with code `fill` there */
    int64_t fill;
} assay_match;

enum assay_obligation {
#define OBLIGATION(ID, name, prover) ASSAY_PROVE_##ID,
#include "opt/prove/obligations.def"
};

/* Codes that the fragment can yield: the candidate saturation of a merged rescale. */
typedef struct assay_rule_image {
    int64_t lo, hi;
} assay_rule_image;

typedef struct assay_rule {
    const char *name;
    enum assay_obligation obligation;
    bool bounds; /* the rewrite saturates at the image when that is needed for equality */
    bool late;   /* tried when no other rule applies */
    /* Whether the pattern is at m->lower; fills the rest of *m. uses: by value. */
    bool (*matches)(const assay_graph *g, const int *uses, assay_match *m);
    /* Edits g in place. The output values of m->lower keep their names and types. Nodes may remain
     * unused. image: NULL, or where to saturate. */
    assay_status (*rewrite)(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                            assay_error *err);
    uint32_t preference; /* 0: always in force; or of enum assay_preference (target.h) */
} assay_rule;

/* Rules of a scheme that is a shared object: it exports `const assay_rule_list
 * *assay_rules_plugin(void)`, built against this header, and they are tried after ours. Their
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
    ASSAY_BOUNDED, /* over the whole domain outputs differ by at most `bound` codes */
    ASSAY_UNPROVED /* neither */
};

typedef struct assay_verdict {
    enum assay_verdict_kind kind;
    int64_t bound;
    char evidence[160];       /* "256/256 codes equal" */
    char counterexample[160]; /* inputs and both outputs where they differ most, or "" */
} assay_verdict;

#endif
