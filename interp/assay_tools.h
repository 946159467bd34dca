/* The tools around a run: what the `assay` command does, for programs. Those that measure accuracy,
 * read data sets or draw are in assay_measures.h, those that examine arithmetic in
 * assay_arithmetic.h.
 *
 * Threads: a handle is used by one thread at a time unless a comment says otherwise.
 * Options are structs that begin with their size: assay_load_options o =
 * ASSAY_OPTIONS(assay_load_options) makes one whose other members are zero, the default. A NULL
 * pointer to options means all defaults.
 * Reports are text: what the command prints, or writes with --json. A pointer to one may be NULL;
 * free what it receives with assay_free; it receives NULL if the call fails.
 * Binary interface: the shared library's name carries the interface's number, libassay.so.0, and
 * every symbol the version that introduced it (assay.map lists them). Under the same number,
 * functions, members of structs that have a size, and enumerators are only added, at the end; none
 * is removed or changes its meaning, and structs without a size do not change: a program runs with
 * every later library of that number. Nothing outside these headers is exported.
 */
#ifndef ASSAY_TOOLS_H
#define ASSAY_TOOLS_H

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* the library hides every symbol but those declared so */
#endif

#ifdef __cplusplus
#define ASSAY_OPTIONS(type)                                                                        \
    ([] {                                                                                          \
        type o = type();                                                                           \
        o.size = sizeof o;                                                                         \
        return o;                                                                                  \
    }())
#else
#define ASSAY_OPTIONS(type)                                                                        \
    {                                                                                              \
        .size = sizeof(type)                                                                       \
    }
#endif

const char *assay_version(void); /* of the library: "0.1.0" */
void assay_free(void *p);        /* frees texts and arrays that functions return; NULL is fine */

/* How many of the samples are done; called by one thread at a time. */
typedef void (*assay_progress)(void *user, int64_t done, int64_t total);

/* ---- schemes; threads may share a scheme --------------------------------------------------- */

/* Makes a scheme from a scheme file's text in memory, YAML or JSON; `file` names it in messages. */
assay_status assay_scheme_from_text(const char *file, const char *text, size_t size,
                                    assay_scheme **out, assay_error *err);
/* The i-th shipped scheme, in order of name; NULL after the last. */
const char *assay_scheme_preset(int i);
/* Borrowed from the scheme. Digest: XXH3-128 of the record's canonical text, 32 hex digits. */
const char *assay_scheme_name(const assay_scheme *s);
const char *assay_scheme_description(const assay_scheme *s); /* or NULL */
const char *assay_scheme_digest(const assay_scheme *s);
/* The canonical text: a scheme file that states every parameter, or a plugin's own description. */
const char *assay_scheme_record(const assay_scheme *s);
/* The same as JSON: maps, lists and strings, which assay_scheme_from_text also reads. */
assay_status assay_scheme_json(const assay_scheme *s, char **json, assay_error *err);
/* Parameters that differ between two schemes for nodes of `op` (NULL: "conv") on codes of more than
 * 8 bits (wide) or at most 8: a JSON list of {"parameter", "doc", "a", "b", "read"}; read: at least
 * one scheme reads it for that op. ASSAY_ERR_UNSUPPORTED: a plugin, which has no record. */
assay_status assay_scheme_diff(const assay_scheme *a, const assay_scheme *b, const char *op,
                               bool wide, char **json, assay_error *err);

/* n rescales, each of its own accumulator: columns of n numbers. A row's factor is `scale`; or
 * in_scale * weight_scale / out_scale (the last two may be NULL: 1), computed as on the target; or
 * multiplier and shift as the target stores them, plus pre if it has a pre-shift. */
typedef struct assay_rescales {
    size_t size; /* sizeof(assay_rescales) */
    size_t n;
    const char *op;   /* the op whose arithmetic applies; NULL: "conv" */
    const char *type; /* of the codes: "i8", "u8", "i16", ...; NULL: the scheme's activations;
                       * unsigned: the arithmetic for nodes with unsigned codes */
    bool wide;        /* the arithmetic for codes of more than 8 bits */
    bool per_tensor;  /* the weights have a single scale */
    const int64_t *acc;
    const double *scale, *in_scale, *weight_scale, *out_scale;
    const int64_t *multiplier, *shift, *pre;
    const int64_t *zero_point, *in_zero_point; /* NULL: 0 */
    const int64_t *lo, *hi; /* bounds of the codes within their type; NULL: the type's */
} assay_rescales;
/* out[i] receives the code. refused[i] receives 1 if the target refuses row i, whose code is then
 * 0; refused NULL: the first refused row is an error. */
assay_status assay_scheme_apply(const assay_scheme *s, const assay_rescales *rows, int64_t *out,
                                uint8_t *refused, assay_error *err);
/* The integers that encode rows->scale; pre may be NULL; float encodings give IEEE bits. */
assay_status assay_scheme_derive(const assay_scheme *s, const assay_rescales *rows,
                                 int64_t *multiplier, int64_t *shift, int64_t *pre,
                                 uint8_t *refused, assay_error *err);

/* ---- networks; threads may share a network that none of them changes ------------------------- */
enum assay_model_form { ASSAY_MODEL_TEXT, ASSAY_MODEL_ONNX, ASSAY_MODEL_TFLITE };
typedef struct assay_load_options {
    size_t size;
    int64_t batch;            /* extent of an ONNX model's symbolic first dimension; 0: 1 */
    const char *const *shape; /* of inputs: "x=1x3x64x64" */
    size_t n_shapes;
    bool keep_narrow;       /* a float16 model keeps rounding its values to float16 */
    bool as_it_is;          /* not lowered to canonical form: the nodes of the file */
    const char *const *fix; /* ONNX inputs that become constants: "sizes=1,8,8", "m=FILE.npy" */
    size_t n_fixed;
    const char *const *state; /* outputs that are inputs of the next step: "PAST=PRESENT,...", a
                                 star in both stands for the same text */
    size_t n_states;
    /* A model whose shapes depend on values of its inputs (NonZero, a Reshape to a computed shape)
     * is loaded for one sample and valid only for others that lead to the same shapes. This
     * function writes the elements of one input of that sample, in native order and storage; it may
     * be called more than once per input. NULL: such a model is ASSAY_ERR_UNSUPPORTED. */
    assay_status (*sample)(void *user, const char *input, const assay_type *type, void *elements,
                           assay_error *err);
    void *user;
    const assay_scheme *sample_scheme; /* computes a quantized model on that sample */
    bool hybrid; /* TFLite: float ops with integer weights compute in integers, as its kernels do */
    bool decode; /* constants held as codes become floats where the network computes in floats, as
                    profiles and assay_quantize require */
} assay_load_options;
/* assay_load with options; *form (may be NULL) receives the file's format. */
assay_status assay_load_with(const char *path, const assay_load_options *options, assay_graph **out,
                             enum assay_model_form *form, assay_error *err);
/* The same for a model in memory, which is borrowed until assay_graph_free; `name` replaces the
 * file's name in messages. Constants in other files are refused. */
assay_status assay_load_memory(const char *name, const void *bytes, size_t size,
                               const assay_load_options *options, assay_graph **out,
                               enum assay_model_form *form, assay_error *err);
/* An independent copy. */
assay_status assay_graph_copy(const assay_graph *g, assay_graph **out, assay_error *err);
/* The text form, including all constants. */
assay_status assay_graph_text(const assay_graph *g, char **text, assay_error *err);
/* {"name", "digest", "quantized", "quantized_for", "inputs", "outputs", "values": [{"name",
 * "dtype", "bits", "shape", "scale", ..., "constant"}], "nodes": [{"name", "op", "inputs",
 * "outputs", "macs", "quantized"}]}; values and nodes by index. */
assay_status assay_graph_json(const assay_graph *g, char **json, assay_error *err);
bool assay_graph_is_quantized(const assay_graph *g); /* some node computes on codes */
/* Elements of a constant, borrowed, in native order and storage; NULL: not a constant. */
const void *assay_value_constant(const assay_graph *g, int value);

/* ---- profiles ------------------------------------------------------------------------------- */

typedef struct assay_profile assay_profile;

/* An empty profile of a float network in canonical form. */
assay_status assay_profile_new(const assay_graph *g, assay_profile **out, assay_error *err);
assay_status assay_profile_read(const char *path, assay_profile **out, assay_error *err);
assay_status assay_profile_write(const assay_profile *p, const char *path, assay_error *err);
void assay_profile_free(assay_profile *p);
/* What the file records besides the values. Strings may be NULL; whole: the number of samples in
 * all parts together, 0 if unknown. */
assay_status assay_profile_describe(assay_profile *p, const char *preprocessing,
                                    const char *dataset, uint64_t whole, assay_error *err);
/* Runs g, the network of the profile, on `count` samples numbered first, first + 1, ... and adds
 * every value. input[k]: the samples of input k, one after another, in native order and storage.
 * threads 0: all cores. The result depends neither on the number of threads nor on how samples are
 * distributed over profiles that are merged later. ASSAY_ERR_INPUT: a sample with that number was
 * observed before. */
assay_status assay_profile_observe(assay_profile *p, const assay_graph *g, uint64_t first,
                                   uint64_t count, const void *const *input, int threads,
                                   assay_progress progress, void *user, assay_error *err);
/* The same for a network with state, whose samples are the steps of one sequence. */
assay_status assay_profile_observe_steps(assay_profile *p, const assay_graph *g, uint64_t first,
                                         uint64_t count, const void *const *input,
                                         assay_progress progress, void *user, assay_error *err);
/* Adds a histogram per channel for values whose name matches `pattern` (NULL: all). Call it before
 * anything is observed. */
assay_status assay_profile_by_channel(assay_profile *p, const assay_graph *g, const char *pattern,
                                      assay_error *err);
/* Adds `from`; on failure `into` is unchanged. */
assay_status assay_profile_merge(assay_profile *into, const assay_profile *from, assay_error *err);
/* {"samples", "model", "graph", "preprocessing", "dataset", "values": [{"name", "min", "max",
 * "finite", "nan", "inf", "lowest", "step", "counts": [...]}]}: counts[i] elements were in
 * [lowest + i * step, lowest + (i + 1) * step). */
assay_status assay_profile_json(const assay_profile *p, char **json, assay_error *err);

/* ---- quantizing and rewriting ---------------------------------------------------------------- */

/* Strings as for the options of `assay quantize`; NULL: the default. */
typedef struct assay_quantizer_options {
    size_t size;
    const char *symmetry;           /* "asymmetric", "symmetric", "symmetric-narrow", ... */
    const char *qparams_method;     /* "assay", "glow", "fbgemm" */
    const char *const *calibration; /* each "METHOD" or "PATTERN=METHOD" */
    size_t n_calibrations;
    const char *weights; /* calibration of weights: "min-max", "percentile", "mse"; or "gptq" */
    bool per_tensor;     /* one scale per weight tensor */
    const char *const *keep_float; /* patterns of node names */
    size_t n_keep_float;
    const char *const *precision; /* each "PATTERN=KIND[,PATTERN=KIND...]" */
    size_t n_precisions;
    const char *target;         /* a file that describes what the device offers */
    bool integer_io;            /* inputs and outputs become codes */
    const void *const *samples; /* for "gptq": n_samples, as for assay_profile_observe */
    uint64_t n_samples;
    const char *smooth; /* SmoothQuant's alpha, above 0 and at most 1, such as "0.5"; p has channels
                         */
} assay_quantizer_options;
/* p may be NULL only for a scheme of matrix units, which derives scales from the values at run
 * time. `report`: {"integer", "fused", "rescales", "conversions", "gptq", "float": [{"node", "op",
 * "reason"}], "ranges": [{"value", "method", "seen_min", "seen_max", "min", "max", "clipped",
 * "type", "scale", "zero_point", "note"}], "smoothed": [{"value", "other", "channels", "layers",
 * "least", "greatest"}], "weak": [{"node", "op", "sqnr"}]}. ASSAY_ERR_INPUT: the profile is
 * incomplete or belongs to another network. */
assay_status assay_quantize(const assay_graph *g, const assay_profile *p, const assay_scheme *s,
                            const assay_quantizer_options *options, assay_graph **out,
                            char **report, assay_error *err);
/* `assay quantize --weights`: a copy of a float network whose conv and fc weights are in blocks of
 * `format`: "q4_0", "q8_0", "q4_K" or "q6_K". The report is that of assay_quantize: "integer"
 * counts the weights. ASSAY_ERR_INPUT: a quantized network, an unknown format, a weight that is not
 * a number. */
assay_status assay_pack_weights(const assay_graph *g, const char *format, assay_graph **out,
                                char **report, assay_error *err);
/* assay_group_conversions with a report; adapt: quantization parameters that the scheme cannot
 * represent are replaced first. */
assay_status assay_group(assay_graph *g, const assay_scheme *s, bool adapt, char **report,
                         assay_error *err);

typedef struct assay_optimizer_options {
    size_t size;
    const char *allow;  /* "none" (default: exact only), "bounded:N", "any" */
    const char *passes; /* names separated by commas; NULL: all */
    const char *target; /* a file that describes what the device offers */
    bool as_is;         /* as assay_program_make_as_is */
    void (*log)(void *user, const char *line); /* gets each rewrite applied or refused */
    void *user;
} assay_optimizer_options;
/* Rewrites g. certificate: as written by `assay optimize --prove-to`; report: {"applied",
 * "refused", "bounded", "unproved", "output_bound", "nodes_before", "nodes"}. After a failure g can
 * only be freed. */
assay_status assay_optimize(assay_graph *g, const assay_scheme *s,
                            const assay_optimizer_options *options, char **certificate,
                            char **report, assay_error *err);
/* `assay check-proof`: checks a certificate in memory with code that shares nothing with the
 * optimizer. Each of these may be NULL: model, the network that was optimized, whose weights are
 * then checked; result, the network it became; plugin, needed if the certificate is under one.
 * *good is the verdict; report: {"good", "why" (or null), "steps", "proved", "given"}. `name` names
 * the certificate in messages. ASSAY_ERR_UNSUPPORTED: it is not a certificate. */
assay_status assay_check_proof(const char *name, const char *certificate, size_t size,
                               const assay_graph *model, const assay_graph *result,
                               const assay_scheme *plugin, bool *good, char **report,
                               assay_error *err);

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct assay_engine_options {
    size_t size;
    const char *engine; /* "ref" (default), "fast", "both" */
    const char *isa;    /* for "fast": "portable", "avx2", "vnni"; NULL: the best of this machine */
    int threads;        /* for "fast", within a node; 0: 1 */
    bool keep_all;      /* as in assay_program_make */
    bool as_is;         /* as assay_program_make_as_is */
} assay_engine_options;
assay_status assay_program_make_for(const assay_graph *g, const assay_scheme *s,
                                    const assay_engine_options *options, assay_program **out,
                                    assay_error *err);
/* Which nodes are claimed to give exactly the target's bits, as in a manifest's "contract"; the
 * text "null" if there is no scheme. */
assay_status assay_program_contract(const assay_program *p, char **json, assay_error *err);
/* The memory plan as text, as a drawing (SVG), or both. */
assay_status assay_program_plan(const assay_program *p, char **text, char **svg, assay_error *err);
/* Called after each node with its outputs in place (assay_run_data). accumulators: the sums before
 * the rescale, one per element of output 0, if requested and if the op has any; otherwise NULL. Any
 * result other than ASSAY_OK ends the run with that status. */
typedef assay_status (*assay_node_fn)(void *user, assay_run *r, int node,
                                      const int64_t *accumulators, assay_error *err);
assay_status assay_execute_with(assay_run *r, assay_node_fn fn, bool accumulators, void *user,
                                assay_error *err);

/* ---- golden bundles -------------------------------------------------------------------------- */

typedef struct assay_golden_options {
    size_t size;
    const char *dir; /* the new folder */
    bool replace;    /* replaces an existing golden bundle */
    bool digests_only, accumulators;
    const char *formats; /* "npy,hex,..."; npy is always written */
    unsigned hex_bits;   /* width of a $readmemh word; 0: one element per word */
    int64_t samples;     /* how many will be added; 0: 1 */
    bool sequence;       /* the samples are the steps of one sequence */
    const char *model;   /* a name for the manifest; NULL: the network's */
    const char *preprocessing;
} assay_golden_options;
typedef struct assay_bundle_writer assay_bundle_writer;
assay_status assay_golden_begin(const assay_program *p, const assay_golden_options *options,
                                assay_bundle_writer **out, assay_error *err);
/* Runs `r` (inputs in place) as sample number `sample` and writes its tensors. */
assay_status assay_golden_add(assay_bundle_writer *w, assay_run *r, int64_t sample,
                              assay_error *err);
/* Moves the bundle into place and frees w, also on failure. digest: 33 bytes or NULL. */
assay_status assay_golden_commit(assay_bundle_writer *w, char *digest, assay_error *err);
void assay_golden_abort(assay_bundle_writer *w); /* instead of commit; NULL is fine */

typedef struct assay_bundle assay_bundle;
typedef struct assay_stored { /* all borrowed from the bundle */
    int64_t sample;
    int index; /* in order of execution */
    const char *name, *op, *digest;
    const assay_type *type;
    bool has_data, has_sums; /* false: digests only */
} assay_stored;
/* Reads the manifest now, tensors on demand. A bundle need not be trusted: only regular files below
 * `dir` are opened. */
assay_status assay_bundle_open(const char *dir, assay_bundle **out, assay_error *err);
void assay_bundle_close(assay_bundle *b);
assay_status assay_bundle_manifest(const assay_bundle *b, char **json, assay_error *err);
int assay_bundle_count(const assay_bundle *b);
assay_status assay_bundle_get(const assay_bundle *b, int i, assay_stored *out, assay_error *err);
/* Elements of tensor i, in native order and storage, or (sums) its accumulators, int64. Free with
 * assay_free. */
assay_status assay_bundle_read(const assay_bundle *b, int i, bool sums, void **data,
                               assay_error *err);

typedef struct assay_verified {
    int64_t tensors, files_bad, replay_bad, entries_bad; /* as counted by `assay verify` */
} assay_verified;
/* replay NULL: checks files only. fault (may be NULL) gets a line per fault; a fault is not an
 * error. */
assay_status assay_verify(const char *dir, const assay_engine_options *replay,
                          void (*fault)(void *user, const char *line), void *user,
                          assay_verified *out, assay_error *err);

/* ---- device dumps ---------------------------------------------------------------------------- */

typedef struct assay_compare_options {
    size_t size;
    const assay_thresholds *limits;  /* NULL: exact */
    const char *const *tensor;       /* tensors with thresholds of their own, ... */
    const assay_thresholds *special; /* ... namely these: what they set overrides `limits` */
    size_t n_tensors;
    unsigned hex_bits; /* width of a word in .hex dumps; 0: as the dumps state */
    const char *junit; /* a JUnit XML file with a test case per tensor; NULL: none */
} assay_compare_options;
/* `assay diff REFERENCE OTHER`: *same is the verdict. */
assay_status assay_compare_folders(const char *reference, const char *other,
                                   const assay_compare_options *options, bool *same, char **text,
                                   char **json, assay_error *err);
/* `assay blame GOLDEN DEVICE`: *faults receives how many there are. */
assay_status assay_blame_folders(const char *golden, const char *device,
                                 const assay_blame_options *options, int *faults, char **text,
                                 char **json, assay_error *err);

/* `assay explain GOLDEN [DEVICE] WHAT`: how one output element of a node, "conv1[0,3,5,7]", is
 * computed; without an index, the first that differs. device NULL: none. sample: its number; below
 * 0: the first sample in which the element differs. */
assay_status assay_explain(const char *golden, const char *device, const char *what, int64_t sample,
                           const assay_blame_options *options, char **text, char **json,
                           assay_error *err);
/* `assay capsule GOLDEN DEVICE NODE -o DIR`: the folder dir must not exist yet. */
assay_status assay_capsule(const char *golden, const char *device, const char *node,
                           const char *dir, const assay_blame_options *options, char **text,
                           char **json, assay_error *err);

typedef struct assay_report_options {
    size_t size;
    const char *const *name;    /* titles of the files on the page; NULL: their names */
    const char *tensors;        /* a pattern: bundles' tensors to read; NULL: all */
    const char *model_explorer; /* a folder for node data that does not exist yet; NULL: none */
} assay_report_options;
/* `assay report FILE... -o PAGE`: a page about bundles, profiles, and the JSON of runs,
 * evaluations, sensitivities, comparisons and blames. page NULL: none. */
assay_status assay_write_report(const char *const *file, size_t n, const char *page,
                                const assay_report_options *options, assay_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
