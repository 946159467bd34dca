/* A closer look at arithmetic: one rescale or dot product step by step, where schemes differ,
 * matrix units, rows that distinguish schemes, and which arithmetic a device has. What
 * assay_tools.h says about options, texts and threads also applies here. */
#ifndef ASSAY_ARITHMETIC_H
#define ASSAY_ARITHMETIC_H

#include "assay_tools.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* `assay scheme try`: a single row, as for assay_scheme_apply (n is 1), step by step. json:
 * {"scheme", "op", "type", "acc", "code", "steps": [[name, text]]}; code is null if the target
 * refuses the accumulator. ASSAY_ERR_SCHEME: it refuses the scale. */
assay_status assay_scheme_try(const assay_scheme *s, const assay_rescales *row, char **text,
                              char **json, assay_error *err);

/* ---- where schemes differ ----------------------------------------------------------------------
 */

typedef struct assay_scheme_question {
    size_t size;
    const char *op;   /* compares the parameters it reads and its rescale; NULL: all, and conv's */
    const char *type; /* of the codes: "i8", ...; NULL: the first scheme's activations */
    bool wide;        /* the arithmetic for codes of more than 8 bits */
    bool as_is;       /* also compares nodes that a scheme's types do not admit */
    int scales;       /* number of rescale factors to compare; 0: none */
    double scale[2]; /* the first factor and, if there are more, the last; logarithmically spaced */
    bool has_acc;    /* acc[0] to acc[1] is the accumulators' range; otherwise 21 bits */
    int64_t acc[2];
    int64_t zero_point, in_zero_point;
    const assay_graph *graph; /* network whose nodes are compared: quantized, or grouped under a
                                 scheme (assay_group); NULL: none */
} assay_scheme_question;
/* `assay scheme diff`: where two schemes with records differ, decided rather than sampled: in their
 * parameters; in rescales, for every accumulator; in nodes, for every accumulator that their
 * weights can reach or for all operands. *undecided: how many scales or nodes were not decided, or
 * 1 if both leave the op in float. json: {"a", "b", "op", "differ", "undecided", "parameters",
 * "same", "scales", "nodes"}. ASSAY_ERR_UNSUPPORTED: a scheme has no record. */
assay_status assay_scheme_compare(const assay_scheme *a, const assay_scheme *b,
                                  const assay_scheme_question *question, bool *differ,
                                  int *undecided, char **text, char **json, assay_error *err);
/* `assay scheme matrix`: how often each pair of n schemes (at most 64) disagrees, over scales or
 * node by node. json: a list of {"node", "op", "of", "considered", "schemes", "disagree",
 * "left_out"}. */
assay_status assay_scheme_matrix(const assay_scheme *const *s, size_t n,
                                 const assay_scheme_question *question, char **text, char **json,
                                 assay_error *err);
/* `assay scheme show`: what a scheme does for `op` (NULL: "conv") on codes of more than 8 bits
 * (wide) or at most 8: words, tables, examples, what it inherits and from which scheme, its record.
 */
assay_status assay_scheme_show(const assay_scheme *s, const char *op, bool wide, char **text,
                               assay_error *err);

/* ---- rows that distinguish schemes ----------------------------------------------------------- */

typedef struct assay_vectors_options {
    size_t size;
    const char *op;   /* the op whose arithmetic is tested; NULL: "conv" */
    const char *kind; /* of rows: "multiplier" or "scale"; NULL: what the schemes take */
    const char *type; /* of the output: "i8", ...; NULL: the scheme's activations */
    bool wide;        /* the arithmetic for codes of more than 8 bits */
    bool has_acc;     /* acc[0] to acc[1] is the accumulators' range; otherwise the scheme's */
    int64_t acc[2];
    bool has_seed;   /* seed is that of the random rows and networks; otherwise 17 */
    uint64_t seed;   /* at most 2^63 - 1 */
    const char *dir; /* assay_scheme_vectors: a new folder to write them to; NULL: none */
} assay_vectors_options;
/* `assay scheme vectors`: the fewest rows, or nodes of a small network, that distinguish each pair
 * of n schemes; n 1: that scheme from its mutants. A row's multiplier and shift mean multiplier /
 * 2^shift under every scheme; assay_scheme_apply takes a shift as the target itself writes it.
 * *told: all were distinguished, or (mutants) all that were seen to differ. json: {"kind", "op",
 * "wide", "type", "accumulators", "settings", "seed", "rows", "cases": [{"a", "b", "verdict":
 * "told|same|open", "row", "proved", "network", "why"}]}. ASSAY_ERR_UNSUPPORTED: a plugin. */
assay_status assay_scheme_vectors(const assay_scheme *const *s, size_t n,
                                  const assay_vectors_options *options, bool *told, char **text,
                                  char **json, assay_error *err);
/* `assay vectors lint`: judges the rows in path, a folder of .npy columns or a .csv file. *whole:
 * all are as s computes them and no mutant that differs anywhere survives. json: {"scheme", "rows",
 * "wrong", "killed", "lives", "equal", "alike", "open", "mutants": [{"mutant", "fate", "row",
 * "why"}]}. */
assay_status assay_vectors_lint(const assay_scheme *s, const char *path,
                                const assay_vectors_options *options, bool *whole, char **text,
                                char **json, assay_error *err);

/* ---- matrix units: dot products of small floats; threads may share a unit -------------------- */

typedef struct assay_matrix_unit assay_matrix_unit;
/* The i-th shipped unit, in order of name; NULL after the last. */
const char *assay_matrix_unit_preset(int i);
/* Opens a shipped unit by name or, if the name contains '/' or ends in .yaml, a file; of a scheme
 * of matrix units, likewise, its first unit. */
assay_status assay_matrix_unit_open(const char *name, assay_matrix_unit **out, assay_error *err);
/* Makes a unit from a unit file's text in memory; `file` names it in messages. */
assay_status assay_matrix_unit_from_text(const char *file, const char *text, size_t size,
                                         assay_matrix_unit **out, assay_error *err);
void assay_matrix_unit_free(assay_matrix_unit *u);
/* {"name", "description", "contract", "multiple", "bits": {"a", "b", "acc", "out", "scale"}, "mac":
 * {parameter: value}}; k must be a multiple of "multiple", "bits" are those that store a pattern.
 */
assay_status assay_matrix_unit_json(const assay_matrix_unit *u, char **json, assay_error *err);

/* n dot products of k elements: raw bit patterns, each in an unsigned integer of 8, 16, 32 or 64
 * bits, the narrowest that holds the format. */
typedef struct assay_dots {
    size_t size;
    size_t n, k;
    const void *a, *b;             /* [n, k] */
    const void *c;                 /* [n], in the accumulator's format; NULL: +0 */
    const void *scale_a, *scale_b; /* [n, k / block] for a unit with block scales, else NULL */
} assay_dots;
/* `assay scheme dot`: d[n] receives the unit's results as bit patterns. ASSAY_ERR_INPUT: a k that
 * is not a multiple, missing or unexpected scales, a pattern outside its format. */
assay_status assay_matrix_unit_dot(const assay_matrix_unit *u, const assay_dots *rows, void *d,
                                   assay_error *err);
/* `assay scheme try UNIT`: a single row (n is 1) step by step. json: {"unit", "k", "d", "steps":
 * [line]}, patterns as "0x3f800000". */
assay_status assay_matrix_unit_try(const assay_matrix_unit *u, const assay_dots *row, char **text,
                                   char **json, assay_error *err);
/* `assay scheme diff A B` of units: parameters that differ, and a small dot product on which the
 * units do; *apart: whether one of the rows drawn from seed does (0: the command's). json: {"a",
 * "b", "parameters": [{"parameter", "doc", "a", "b"}], "same", "unlike", "row": {"k", "a", "b",
 * "c", "scale_a", "scale_b", "d": [A's, B's]} or null}; unlike: why no row fits both units, or
 * null. */
assay_status assay_matrix_units_diff(const assay_matrix_unit *a, const assay_matrix_unit *b,
                                     uint64_t seed, bool *apart, char **text, char **json,
                                     assay_error *err);

/* ---- which arithmetic a device has ----------------------------------------------------------- */

typedef struct assay_probe_options {
    size_t size;
    const char *types;   /* "s8s8" (default), "u8s8", "u8u8", "s16s8" */
    const char *ops;     /* separated by commas; NULL: all */
    const char *scheme;  /* the scheme whose bits the bundles hold; NULL: one for the types */
    const char *formats; /* some of "text,onnx,tflite"; NULL: all that can hold the network */
    uint64_t seed;       /* 0: 1; at most 2^63 - 1 */
} assay_probe_options;
/* `assay probe`: writes the probe networks, their inputs and bundles to the new folder dir. */
assay_status assay_probe(const char *dir, const assay_probe_options *options, assay_error *err);

typedef struct assay_answers_options {
    size_t size;
    const char *const *schemes; /* names or files, considered in addition to the shipped ones */
    size_t n_schemes;
    bool only;         /* ... or instead of them */
    unsigned hex_bits; /* as in assay_compare_options */
    const char *next;  /* a new folder for the smallest probe that distinguishes the remaining
                          schemes; NULL: none */
} assay_answers_options;
/* `assay infer DIR OUTPUTS`: dir was written by assay_probe, or is a golden bundle. scheme receives
 * the text of a scheme file. */
assay_status assay_infer_answers(const char *dir, const char *outputs,
                                 const assay_answers_options *options, bool *explained, char **text,
                                 char **json, char **scheme, assay_error *err);

enum assay_inferred { ASSAY_INFERRED_UNIQUE, ASSAY_INFERRED_CLASS, ASSAY_INFERRED_NONE };
typedef struct assay_infer_options {
    size_t size;
    const char *oracle; /* a shell command, called with a folder of rows and one for answers; or: */
    /* a function that answers the rows in folder `in` with files in folder `out`, like a command */
    assay_status (*ask)(void *user, const char *in, const char *out, assay_error *err);
    void *user;
    const char *kind; /* "multiplier" or "scale" */
    const char *type; /* "i8", "u8" or "i16" */
    size_t budget;    /* rows; 0: 20000 */
    int acc_bits;     /* 0: 32 */
    double timeout;   /* seconds per call of the command; 0: 60 */
    bool has_domain;  /* rows keep to multiplier and shift; else to what the device takes */
    int64_t multiplier[2];
    int32_t shift[2];
    assay_progress progress; /* rows asked, out of the budget; NULL: none */
    void *progress_user;
} assay_infer_options;
/* `assay infer --oracle`: the arithmetic of a device that answers rows. scheme receives the text of
 * a scheme file. */
assay_status assay_infer_oracle(const assay_infer_options *options, enum assay_inferred *verdict,
                                char **text, char **json, char **scheme, assay_error *err);

/* A device that answers dot products; formats are named as in unit files. */
typedef struct assay_infer_dot_options {
    size_t size;
    const char *oracle; /* or ask: as in assay_infer_options, with the rows of a dot oracle */
    assay_status (*ask)(void *user, const char *in, const char *out, assay_error *err);
    void *user;
    const char *a, *b, *acc, *out; /* formats; out NULL: acc */
    const char *scale;             /* format of block scales; NULL: none */
    size_t scale_block;            /* products that share a scale; 0: no scales */
    size_t k;                      /* products per row */
    size_t budget;                 /* rows; 0: 20000 */
    double timeout;                /* seconds per call of the command; 0: 60 */
    double seconds;                /* processor time for the search; 0: 60 */
    assay_progress progress;       /* rows asked, out of the budget; NULL: none */
    void *progress_user;
} assay_infer_dot_options;
/* `assay infer --kind dot`: the unit that gives all of the device's answers, or the nearest one
 * (ASSAY_INFERRED_NONE); never ASSAY_INFERRED_UNIQUE. unit receives the text of a unit file. */
assay_status assay_infer_dot(const assay_infer_dot_options *options, enum assay_inferred *verdict,
                             char **text, char **json, char **unit, assay_error *err);

/* `assay infer --model MODEL --dumps DIR`: what dumps of a quantized network's tensors reveal about
 * the device. The network's inputs are dumped as well, or (count above 0) input[k] holds `count`
 * samples of input k, one after another, in native order and storage. scheme receives the text of a
 * scheme file. The option `next` is not allowed. ASSAY_ERR_INPUT: the network is float; an input
 * was not dumped. */
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
