/* Assay: a reference interpreter for quantized neural networks.
 *
 * The one header that a user includes. Handles are opaque; there is no global state; every function
 * that can fail returns an assay_status and, when `err` is not NULL, stores one line in it that
 * names the file, node or value at fault and says what was expected and what was found.
 *
 * An assay_graph holds a network, an assay_scheme the arithmetic of a target; an assay_program
 * binds one to the other, runs in integers only, and its tensors make up a golden bundle. */
#ifndef ASSAY_H
#define ASSAY_H

#include "graph/base.h"     /* status and error, element kinds, tensor types */
#include "schemes/vtable.h" /* the arithmetic of a target */

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* the library hides every symbol but those declared so */
#endif

/* ---- networks ---------------------------------------------------------------------------- */

/* Reads a model (ONNX, TFLite, or Assay's text form; recognized by content) and lowers it to
 * canonical form: constants and BatchNorm folded, unused nodes removed. A network that is already
 * quantized stays as it is. Free with assay_graph_free. */
assay_status assay_load(const char *path, assay_graph **out, assay_error *err);
/* Writes the format that PATH's extension names: .onnx, .tflite, or .assay (the text form, with
 * large constants in the folder PATH.d). Any other extension is an error. */
assay_status assay_save(const assay_graph *g, const char *path, assay_error *err);

/* Inputs, outputs and values by index. A value's type belongs to the graph. */
int assay_input_count(const assay_graph *g);
int assay_output_count(const assay_graph *g);
int assay_input(const assay_graph *g, int i);  /* value index of input i */
int assay_output(const assay_graph *g, int i); /* value index of output i */
int assay_value_count(const assay_graph *g);
int assay_value_find(const assay_graph *g, const char *name); /* value index or -1 */
const char *assay_value_name(const assay_graph *g, int value);
const assay_type *assay_value_type(const assay_graph *g, int value);

/* Replaces dequantize -> op -> quantize of a QDQ network (ONNX) by integer nodes, as the scheme
 * defines them; an op that the scheme cannot compute stays in float between its conversions. A
 * network without conversions does not change. */
assay_status assay_group_conversions(assay_graph *g, const assay_scheme *s, assay_error *err);

/* Quantizes a float network under a scheme from a profile (YAML, written by `assay profile`), as
 * `assay quantize` does without options. */
assay_status assay_quantize_file(const assay_graph *g, const char *profile, const assay_scheme *s,
                                 assay_graph **out, assay_error *err);

/* ---- running ----------------------------------------------------------------------------- */

typedef struct assay_program assay_program; /* a graph bound to a scheme; threads may share it */
typedef struct assay_run assay_run;         /* one arena; used by one thread at a time */

/* Borrows g and s (s may be NULL for a float network) until assay_program_free. keep_all: every
 * value can be read after a run; otherwise only inputs and outputs. ASSAY_ERR_UNSUPPORTED when the
 * network has types, zero points or a granularity that the scheme's `types` do not admit;
 * assay_program_make_as_is runs it anyway, but claims no bits for such nodes: bundles list them. */
assay_status assay_program_make(const assay_graph *g, const assay_scheme *s, bool keep_all,
                                assay_program **out, assay_error *err);
assay_status assay_program_make_as_is(const assay_graph *g, const assay_scheme *s, bool keep_all,
                                      assay_program **out, assay_error *err);
void assay_program_free(assay_program *p);
assay_status assay_run_new(const assay_program *p, assay_run **out, assay_error *err);
void assay_run_free(assay_run *r);
/* Resets state variables to their initial contents. */
void assay_run_reset(assay_run *r);
/* Memory of a value in this run, in native order and storage: write inputs here before a run, read
 * outputs here after it. NULL for a value that has no memory or is not kept. */
void *assay_run_data(assay_run *r, int value);
/* Runs all nodes on the present contents of the inputs. */
assay_status assay_execute(assay_run *r, assay_error *err);

/* Nodes by index, in execution order. */
int assay_node_count(const assay_graph *g);
int assay_node_find(const assay_graph *g, const char *name); /* node index or -1 */
const char *assay_node_name(const assay_graph *g, int node); /* NULL: no such node */
/* Computes one node of a program from given inputs, by the program's engine: in[i] are the elements
 * of the node's input i in native order and storage (NULL where it is a constant or absent), out[i]
 * is room for output i. accumulators (NULL: not wanted) has room for one int64 per element of
 * output 0 and receives the sums before the rescale if the op has any. Many threads may replay one
 * program. ASSAY_ERR_UNSUPPORTED: a node with state or control flow; ASSAY_ERR_SCHEME: a sum or a
 * code that the scheme refuses, as in a run. */
assay_status assay_replay_node(const assay_program *p, int node, const void *const *in,
                               void *const *out, int64_t *accumulators, assay_error *err);

/* ---- golden bundles ------------------------------------------------------------------------ */

/* Runs `r` (inputs in place; made from p with keep_all) and writes a golden bundle to the new
 * folder `dir`: every tensor as .npy, with its digest; with `accumulators` also the sums before
 * each rescale. digest (33 bytes, may be NULL) receives the digest over all tensors. */
assay_status assay_golden(const assay_program *p, assay_run *r, const char *dir, bool accumulators,
                          char *digest, assay_error *err);

/* ---- comparing tensors (unit tests, device dumps) ----------------------------------------- */

/* A threshold below zero is unset. With none set, codes must be equal and floats equal with equal
 * signs (any NaN equals any NaN). An element passes when it satisfies at least one of max_lsb, rel
 * and abs that are set; cosine and sqnr apply to the whole tensor and, when only they are set,
 * decide alone. */
typedef struct assay_thresholds {
    double max_lsb; /* largest difference of codes, where both sides are integers */
    double rel;     /* |a-b| <= rel * |a| in real values; a is the reference */
    double abs;     /* |a-b| <= abs in real values */
    double cosine;  /* lowest cosine similarity */
    double sqnr;    /* lowest signal-to-quantization-noise ratio, in dB */
} assay_thresholds;

#define ASSAY_THRESHOLDS_EXACT                                                                     \
    {                                                                                              \
        -1.0, -1.0, -1.0, -1.0, -1.0                                                               \
    }

typedef struct assay_comparison {
    int64_t elements;
    int64_t differing;  /* elements that are not equal */
    int64_t mismatches; /* elements beyond the element-wise thresholds */
    int64_t first;      /* flat index of the first mismatch, or -1 */
    double max_lsb;     /* largest difference of codes; 0 for floats */
    double max_abs, max_rel;
    double cosine; /* 1 for two zero vectors */
    double sqnr;   /* dB; infinity when equal */
    bool pass;
} assay_comparison;

/* Compares b against the reference a: same shape, any two element kinds. ASSAY_ERR_INPUT when the
 * shapes differ. A difference is not an error: it is out->pass == false. */
assay_status assay_compare(const assay_type *type_a, const void *a, const assay_type *type_b,
                           const void *b, const assay_thresholds *limits, assay_comparison *out,
                           assay_error *err);

/* ---- blaming a device (unit tests of compilers and kernels) ------------------------------- */

enum assay_blame_verdict {
    ASSAY_BLAME_CLEAN,     /* equals golden, or equals the replay of equal inputs */
    ASSAY_BLAME_INHERITED, /* differs only because its inputs do */
    ASSAY_BLAME_OWN,       /* differs from a replay on the device's own inputs */
    ASSAY_BLAME_NOT_DUMPED,
    ASSAY_BLAME_SUSPECT /* lies in a region between dumps that differs as a whole */
};

typedef struct assay_blame_node {
    int index;                    /* of its first output, in the bundle's manifest */
    const char *name, *node, *op; /* names of that tensor, of the node and of the op */
    enum assay_blame_verdict verdict;
    /* Elements of its outputs that differ from golden, and from the replay; -1: not dumped. */
    int64_t differing_cumulative, differing_isolated;
} assay_blame_node;

/* One cause. */
typedef struct assay_blame_fault {
    const assay_blame_node *at;
    const char *cause; /* its class: "rescale.rounding", "bias.missing", "unexplained", ... */
    const char *const *causes; /* classes that explain every element, simplest first */
    int n_causes;
    const char *detail;  /* which mode, how many bits, which channel: in words */
    const char *example; /* one element that differs, in words */
    int64_t elements, differing;
    double explained; /* share of all dumped elements, including those that agree */
} assay_blame_fault;

typedef struct assay_blame_report {
    const assay_blame_fault *fault; /* most upstream first */
    int n_faults;
    const assay_blame_node *node; /* in execution order */
    int n_nodes;
} assay_blame_report;

typedef struct assay_blame_options {
    double rel;                 /* relative difference allowed between floats; below 0: none */
    const char *const *schemes; /* names or files, tried in addition to the shipped ones */
    int n_schemes;
    int threads; /* 0: 2 */
} assay_blame_options;

/* `assay blame`: which nodes of a device are themselves at fault, and why. golden is a bundle,
 * device a folder of dumps or another bundle. options NULL: floats must be equal, shipped schemes.
 * A fault is not an error. ASSAY_ERR_INPUT: a dump with another shape or type, or of another
 * network. The report owns all it points to; free it with assay_blame_free (NULL is fine). */
assay_status assay_blame(const char *golden, const char *device, const assay_blame_options *options,
                         const assay_blame_report **out, assay_error *err);
void assay_blame_free(const assay_blame_report *report);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
