/* Arithmetic under the glass: one rescale or dot product step by step, where schemes differ, matrix
 * units, rows that tell arithmetics apart, and which arithmetic a device has. What assay_tools.h
 * says of options, texts and threads holds here, too. */
#ifndef ASSAY_ARITHMETIC_H
#define ASSAY_ARITHMETIC_H

#include "assay_tools.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* `assay scheme try`: the one row, as assay_scheme_apply takes it (n is 1), step by step. json:
 * {"scheme", "op", "type", "acc", "code", "steps": [[name, text]]}, code null where the target
 * refuses the sum. ASSAY_ERR_SCHEME: it refuses the scale. */
assay_status assay_scheme_try(const assay_scheme *s, const assay_rescales *row, char **text,
                              char **json, assay_error *err);

/* ---- where schemes differ ----------------------------------------------------------------------
 */

typedef struct assay_scheme_question {
    size_t size;
    const char *op;   /* parameters that it reads, and its rescale; NULL: all, and a conv's */
    const char *type; /* of the codes: "i8", ...; NULL: the first scheme's activations */
    bool wide;        /* the arithmetic of codes of more than 8 bits */
    bool as_is;       /* nodes that a scheme's types do not admit are compared, too */
    int scales;       /* of rescales; 0: none */
    double scale[2]; /* the first, and the last where there are more, by even steps of logarithms */
    bool has_acc;    /* accumulators that count; else those of 21 bits */
    int64_t acc[2];
    int64_t zero_point, in_zero_point;
    const assay_graph *graph; /* whose nodes are compared: quantized, or under a scheme
                                 (assay_group); NULL: none */
} assay_scheme_question;
/* `assay scheme diff`: where two schemes with records differ, decided and not sampled: parameters;
 * rescales, for every accumulator; nodes, for every accumulator that their weights can reach or all
 * their operands. *undecided: scales or nodes that were not decided, or 1 where both leave the op
 * in float. json: {"a", "b", "op", "differ", "undecided", "parameters", "same", "scales", "nodes"}.
 * ASSAY_ERR_UNSUPPORTED: a scheme has no record. */
assay_status assay_scheme_compare(const assay_scheme *a, const assay_scheme *b,
                                  const assay_scheme_question *question, bool *differ,
                                  int *undecided, char **text, char **json, assay_error *err);
/* `assay scheme matrix`: the share of disagreement of each two of n schemes, at most 64, over
 * scales or node by node. json: a list of {"node", "op", "of", "considered", "schemes", "disagree",
 * "left_out"}. */
assay_status assay_scheme_matrix(const assay_scheme *const *s, size_t n,
                                 const assay_scheme_question *question, char **text, char **json,
                                 assay_error *err);
/* `assay scheme show`: what a scheme does for `op` (NULL: "conv"), of codes of more than 8 bits
 * (wide) or of at most 8: in words, tables and examples, what it inherits from whom, its record. */
assay_status assay_scheme_show(const assay_scheme *s, const char *op, bool wide, char **text,
                               assay_error *err);

/* ---- rows that tell schemes apart ------------------------------------------------------------ */

typedef struct assay_vectors_options {
    size_t size;
    const char *op;   /* whose arithmetic; NULL: "conv" */
    const char *kind; /* "multiplier" or "scale"; NULL: as the schemes take them */
    const char *type; /* of the output: "i8", ...; NULL: the scheme's activations */
    bool wide;        /* the arithmetic of codes of more than 8 bits */
    bool has_acc;     /* accumulators that count; else all of the scheme's */
    int64_t acc[2];
    bool has_seed; /* of the rows and networks that are drawn; else 17 */
    uint64_t seed;
    const char *dir; /* assay_scheme_vectors: a new folder for them; NULL: none */
} assay_vectors_options;
/* `assay scheme vectors`: the least rows, or nodes of a small network, that tell each two of n
 * schemes apart; n 1: that scheme from its mutants. *told: all are, or (mutants) all that were seen
 * to differ. json: {"kind", "op", "wide", "type", "accumulators", "settings", "seed", "rows",
 * "cases": [{"a", "b", "verdict": "told|same|open", "row", "proved", "network", "why"}]}.
 * ASSAY_ERR_UNSUPPORTED: a plugin. */
assay_status assay_scheme_vectors(const assay_scheme *const *s, size_t n,
                                  const assay_vectors_options *options, bool *told, char **text,
                                  char **json, assay_error *err);
/* `assay vectors lint`: the rows of path, a folder of .npy columns or a .csv file. *whole: all are
 * as s computes them and no mutant that differs anywhere lives. json: {"scheme", "rows", "wrong",
 * "killed", "lives", "equal", "alike", "open", "mutants": [{"mutant", "fate", "row", "why"}]}. */
assay_status assay_vectors_lint(const assay_scheme *s, const char *path,
                                const assay_vectors_options *options, bool *whole, char **text,
                                char **json, assay_error *err);

/* ---- matrix units: dot products of small floats; a unit may serve many threads --------------- */

typedef struct assay_matrix_unit assay_matrix_unit;
/* The i-th of the shipped units, in order of their names; NULL behind the last. */
const char *assay_matrix_unit_preset(int i);
/* A shipped unit by name, or (a name with '/' or ending in .yaml) a file. */
assay_status assay_matrix_unit_open(const char *name, assay_matrix_unit **out, assay_error *err);
/* From a unit file's text in memory; `file` names it in messages. */
assay_status assay_matrix_unit_from_text(const char *file, const char *text, size_t size,
                                         assay_matrix_unit **out, assay_error *err);
void assay_matrix_unit_free(assay_matrix_unit *u);
/* {"name", "description", "contract", "multiple", "bits": {"a", "b", "acc", "out", "scale"}, "mac":
 * {parameter: value}}; k comes in multiples of "multiple", a pattern is stored in so many bits. */
assay_status assay_matrix_unit_json(const assay_matrix_unit *u, char **json, assay_error *err);

/* n dot products of k elements: raw patterns, one an unsigned integer of 8, 16, 32 or 64 bits, the
 * least that holds the format. */
typedef struct assay_dots {
    size_t size;
    size_t n, k;
    const void *a, *b;             /* [n, k] */
    const void *c;                 /* [n], of the accumulator's format; NULL: +0 */
    const void *scale_a, *scale_b; /* [n, k / block], of a unit with block scales; else NULL */
} assay_dots;
/* `assay scheme dot`: d[n], patterns of the unit's results. ASSAY_ERR_INPUT: a k that is no
 * multiple, scales that lack or are too many, a code that is none. */
assay_status assay_matrix_unit_dot(const assay_matrix_unit *u, const assay_dots *rows, void *d,
                                   assay_error *err);
/* `assay scheme try UNIT`: the one row (n is 1) step by step. json: {"unit", "k", "d", "steps":
 * [line]}, patterns as "0x3f800000". */
assay_status assay_matrix_unit_try(const assay_matrix_unit *u, const assay_dots *row, char **text,
                                   char **json, assay_error *err);
/* `assay scheme diff A B` of units: parameters that differ, and a small dot product on which they
 * do: *apart, whether one of those drawn does (seed 0: the command's). json: {"a", "b",
 * "parameters": [{"parameter", "doc", "a", "b"}], "same", "unlike", "row": {"k", "a", "b", "c",
 * "scale_a", "scale_b", "d": [A's, B's]} or null}; unlike: why no row is of both, or null. */
assay_status assay_matrix_units_diff(const assay_matrix_unit *a, const assay_matrix_unit *b,
                                     uint64_t seed, bool *apart, char **text, char **json,
                                     assay_error *err);

/* ---- which arithmetic a device has ----------------------------------------------------------- */

typedef struct assay_probe_options {
    size_t size;
    const char *types;   /* "s8s8" (default), "u8s8", "u8u8", "s16s8" */
    const char *ops;     /* separated by commas; NULL: all */
    const char *scheme;  /* whose bits the bundles hold; NULL: one for the types */
    const char *formats; /* of "text,onnx,tflite"; NULL: all that can hold the network */
    uint64_t seed;       /* 0: 1 */
} assay_probe_options;
/* Writes the probe networks, their inputs and bundles to the new folder. */
assay_status assay_probe(const char *dir, const assay_probe_options *options, assay_error *err);

typedef struct assay_answers_options {
    size_t size;
    const char *const *schemes; /* names or files, looked at beside the shipped ones */
    size_t n_schemes;
    bool only; /* ... or in place of them */
    unsigned hex_bits;
    const char *next; /* the smallest probe that tells the remaining schemes apart, in a new folder;
                         NULL: none */
} assay_answers_options;
/* `assay infer DIR OUTPUTS`: dir is of assay_probe, or a golden bundle. scheme: a scheme file. */
assay_status assay_infer_answers(const char *dir, const char *outputs,
                                 const assay_answers_options *options, bool *explained, char **text,
                                 char **json, char **scheme, assay_error *err);

enum assay_inferred { ASSAY_INFERRED_UNIQUE, ASSAY_INFERRED_CLASS, ASSAY_INFERRED_NONE };
typedef struct assay_infer_options {
    size_t size;
    const char *oracle; /* a shell command, called with a folder of rows and one for answers; or: */
    /* answers the rows in folder `in` by files in folder `out`, as such a command does */
    assay_status (*ask)(void *user, const char *in, const char *out, assay_error *err);
    void *user;
    const char *kind; /* "multiplier" or "scale" */
    const char *type; /* "i8", "u8" or "i16" */
    size_t budget;    /* rows; 0: 20000 */
    int acc_bits;     /* 0: 32 */
    double timeout;   /* seconds a call of the command; 0: 60 */
    bool has_domain;  /* what may be asked about: else all that the device takes */
    int64_t multiplier[2];
    int32_t shift[2];
    assay_progress progress; /* rows asked, of the budget; NULL: none */
    void *progress_user;
} assay_infer_options;
assay_status assay_infer_oracle(const assay_infer_options *options, enum assay_inferred *verdict,
                                char **text, char **json, char **scheme, assay_error *err);

/* A device asked by dot products: formats as unit files name them. */
typedef struct assay_infer_dot_options {
    size_t size;
    const char *oracle; /* or ask: as in assay_infer_options; rows are as `assay infer` documents */
    assay_status (*ask)(void *user, const char *in, const char *out, assay_error *err);
    void *user;
    const char *a, *b, *acc, *out; /* out NULL: acc */
    const char *scale;             /* of block scales; NULL: none */
    size_t scale_block;            /* products that share one; 0: no scales */
    size_t k;                      /* products of a row */
    size_t budget;                 /* rows; 0: 20000 */
    double timeout;                /* seconds a call of the command; 0: 60 */
    double seconds;                /* of the processor, for searching; 0: 60 */
    assay_progress progress;       /* rows asked, of the budget; NULL: none */
    void *progress_user;
} assay_infer_dot_options;
/* `assay infer --kind dot`: the unit that gives all of its answers, or the nearest
 * (ASSAY_INFERRED_NONE); never ASSAY_INFERRED_UNIQUE. unit: a unit file. */
assay_status assay_infer_dot(const assay_infer_dot_options *options, enum assay_inferred *verdict,
                             char **text, char **json, char **unit, assay_error *err);

/* `assay infer --model MODEL --dumps DIR`: what dumps of a quantized network's tensors say of the
 * device. Its inputs are dumped, too, or (count above 0) input[k] are `count` samples of input k,
 * one behind the other, in native order and storage. scheme: a scheme file. `next` is not of these.
 * ASSAY_ERR_INPUT: the network is float; no dump of an input. */
assay_status assay_infer_dumps(const char *model, const char *dumps, uint64_t count,
                               const void *const *input, const assay_answers_options *options,
                               bool *explained, char **text, char **json, char **scheme,
                               assay_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
