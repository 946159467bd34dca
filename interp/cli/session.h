/* Sessions: the model, scheme, profile and inputs that most subcommands begin with. */
#ifndef ASSAY_INTERP_CLI_SESSION_H
#define ASSAY_INTERP_CLI_SESSION_H

#include "datasets/dataset.h"
#include "datasets/preprocess.h"
#include "interp/api/choices.h"
#include "interp/api/data.h"
#include "interp/cli/cli.h"
#include "interp/measure/eval.h"
#include "interp/measure/judge.h"
#include "interp/measure/sensitivity.h"
#include "interp/run/program.h"
#include "opt/quantize/quantize.h"

/* Options shared by the commands that run networks; splice into their tables. */
#define CLI_SCHEME_OPTIONS                                                                         \
    {"scheme", 's', "NAME|FILE", "the target's arithmetic: a preset, a .yaml or a .so"},           \
    {                                                                                              \
        "profile", 'p', "FILE", "quantize a float model with this profile first"                   \
    }
#define CLI_ENGINE_OPTIONS                                                                         \
    {"engine", 0, "ref|fast|both",                                                                 \
     "ref (default); fast, the same bits in less time; both, which compares them where fast "      \
     "takes the "                                                                                  \
     "node"},                                                                                      \
    {                                                                                              \
        "node-threads", 0, "N", "threads within a node, for the fast engine (default: 1)"          \
    }
#define CLI_CHOICE_OPTIONS                                                                         \
    {"symmetry", 0, "NAME",                                                                        \
     "asymmetric, symmetric[-narrow|-unsigned], power-of-two[-nearest] (default: the scheme's)"},  \
        {"qparams-method", 0, "assay|glow|fbgemm",                                                 \
         "assay (default), glow or fbgemm: that tool's parameters to the bit, glow's KL too"},     \
    {                                                                                              \
        "calibration", 0, "[PATTERN=]METHOD",                                                      \
            "min-max (default), percentile[:99.99], kl, mse, headroom[:2]; repeatable, per value"  \
    }
#define CLI_QUANTIZE_OPTIONS                                                                       \
    CLI_CHOICE_OPTIONS,                                                                            \
        {"calibrate-weights", 0, "METHOD",                                                         \
         "min-max (default), percentile or mse, per channel; gptq: rounded with error feedback, "  \
         "which takes --dataset of quantize"},                                                     \
        {"per-tensor", 0, NULL, "one weight scale per layer, not one per channel"},                \
        {"keep-float", 0, "PATTERN", "leave matching nodes in float; may be repeated"},            \
        {"precision", 0, "PATTERN=KIND[,...]",                                                     \
         "compute matching nodes in i16, i8, ...; the first match decides"},                       \
        {"target", 0, "FILE", "what the device offers: types and constraints by op"},              \
        {"smooth", 0, "ALPHA",                                                                     \
         "divide channels of activations and multiply weights by powers of two, as SmoothQuant "   \
         "does (0.5 is its own alpha); the profile needs --per-channel"},                          \
        {"integer-io", 0, NULL, "network inputs and outputs are codes, not floats"},               \
    {                                                                                              \
        "strict", 0, NULL, "exit 1 when a node stays in float"                                     \
    }
/* What commands that run a network share. */
#define CLI_QDQ_OPTIONS                                                                            \
    {"adapt", 0, NULL,                                                                             \
     "replace a QDQ network's parameters that the scheme cannot represent (scales, zero points)"}, \
    {                                                                                              \
        "literal", 0, NULL,                                                                        \
            "run a QDQ network literally: floats between its conversions, no integer nodes"        \
    }
#define CLI_AS_IS_OPTION                                                                           \
    {                                                                                              \
        "as-is", 0, NULL,                                                                          \
            "accept a network whose bits, zero points or scales the scheme's types do "            \
            "not admit; those nodes are not claimed bit-exact, and the contract says why"          \
    }
#define CLI_RUN_OPTIONS                                                                            \
    CLI_AS_IS_OPTION, CLI_MODEL_OPTIONS, CLI_SCHEME_OPTIONS, CLI_QDQ_OPTIONS, CLI_ENGINE_OPTIONS,  \
        CLI_QUANTIZE_OPTIONS
#define CLI_INPUT_OPTION                                                                           \
    {                                                                                              \
        "input", 'i', "[NAME=]FILE",                                                               \
            ".npy, .png or raw bytes; one for each input, by name or in order; more make more "    \
            "samples, which a network with state takes as the steps of one sequence"               \
    }
#define CLI_MODEL_OPTIONS                                                                          \
    {"shape", 0, "INPUT=DIMS", "shape of an ONNX model's input, such as x=1x3x64x64; repeatable"}, \
        {"fix", 0, "INPUT=NUMBERS",                                                                \
         "an ONNX model's input as a constant, where shapes follow from it, such as sizes=1,8,8, " \
         "or FILE.npy; repeatable"},                                                               \
        {"state", 0, "PAST=PRESENT,...",                                                           \
         "outputs that are inputs of the next step, such as past_key_values.*=present.*; "         \
         "repeatable"},                                                                            \
    {                                                                                              \
        "batch", 0, "N", "extent of a symbolic first dimension (default: 1)"                       \
    }
#define CLI_DATA_OPTIONS                                                                           \
    {"dataset", 'd', "[NAME=]PATH",                                                                \
     "folder of PNGs, .npy or .npz; or a file: IDX, CIFAR-10 .bin, .npy, .npz, raw or tokens "     \
     "(.txt, "                                                                                     \
     ".npy of one dimension); one for each input, but .npz, which has an array for each"},         \
        {"labels", 0, "PATH",                                                                      \
         "labels, where they are not beside the data set; per pixel: a folder with one map per "   \
         "sample "                                                                                 \
         "(NAME.png, NAME.npy), or .npy [N,H,W]"},                                                 \
        {"raw", 0, "TYPE", "type and shape of raw data, such as u8:32x32x3, or u16 of tokens"},    \
        {"stride", 0, "N",                                                                         \
         "tokens from the start of one window to the next (default: its length)"},                 \
        {"preprocess", 0, "FILE", "preprocessing (default: preprocess.yaml beside the data set)"}, \
        {"first", 0, "N", "skip N samples"}, {"limit", 'n', "N", "use at most N samples"},         \
        {"threads", 'j', "N", "threads over samples (default: all cores)"},                        \
        {"sequence", 0, NULL,                                                                      \
         "a data set's samples are the steps of one sequence: state is carried on"},               \
    {                                                                                              \
        "quiet", 'q', NULL, "no progress"                                                          \
    }

/* What an output is judged by. */
#define CLI_JUDGE_OPTIONS                                                                          \
    {"class-axis", 0, "N",                                                                         \
     "the classes' axis in the first output (default: the one beside label maps' pixels; "         \
     "all, where the output is one list)"},                                                        \
        {"next-tokens", 0, NULL,                                                                   \
         "labels are the tokens that follow, of samples that are rows of tokens (those of a "      \
         "stream are anyway)"},                                                                    \
        {"by", 0, "labels|agreement",                                                              \
         "what is lost: of what labels say (default), or of the best classes, or tokens, that "    \
         "are float's"},                                                                           \
    {                                                                                              \
        "ignore-label", 0, "N",                                                                    \
            "value of label maps where a pixel has no label (default: 255), of tokens that are "   \
            "not judged (default: none)"                                                           \
    }

typedef struct cli_session {
    assay_graph *graph; /* what runs: integer when quantized */
    assay_graph
        *floating; /* the canonical float network, when the model was float and is quantized */
    assay_scheme *scheme; /* NULL when none was given */
    assay_profile *profile;
    assay_quantize_report report;
    assay_program *program;
} cli_session;

/* Loads a model with the shapes that --shape and --batch give, in canonical form or as it is. */
int cli_model_load(const cli_args *a, const char *path, bool canonical, assay_graph **g);

/* CLI_OK when --output is not given or its extension names a network format. Called before the
 * work.
 */
int cli_check_output(const cli_args *a);

/* ASSAY_OK when the scheme's types admit the network; else one line with the node, the reason and
 * what to do. For commands with CLI_AS_IS_OPTION, where it is not given. */
assay_status cli_admits(const cli_args *a, const assay_graph *g, const assay_scheme *s,
                        assay_error *err);

/* Makes integer nodes of an ONNX network's dequantize -> op -> quantize (not with --literal), with
 * --adapt after its parameters were replaced by the scheme's; other networks do not change. report
 * may be NULL. */
assay_status cli_group(const cli_args *a, assay_graph *g, const assay_scheme *scheme,
                       assay_quantize_report *report, assay_error *err);

/* The engine options of --engine and --node-threads. */
int cli_engine_options(const cli_args *a, assay_program_options *o);

/* Loads the first positional argument and quantizes when --profile is given. CLI_OK or an exit
 * status after a message. cli_session_close either way. */
int cli_session_load(cli_session *s, const cli_args *a);
/* The same, and makes a program (keep_all: every tensor stays). */
int cli_session_open(cli_session *s, const cli_args *a, bool keep_all);
void cli_session_close(cli_session *s);

/* All values of an option, in the next free places of *room, which then points after them. */
const char *const *cli_values(const cli_args *a, const char *option, const char ***room, size_t *n);

/* Quantizer options from the command line, whose lists are in `room`, of as many as options were
 * given; and what they are. assay_choices_free either way. */
assay_quantizer_options cli_quantizer_options(const cli_args *a, const char **room);
int cli_quantize_options(const cli_args *a, assay_choices *q);
void cli_report_print(const assay_quantize_report *r, FILE *f);

/* "PATH: 43 values over 256 samples", and which values held NaN or infinity; and --json. */
int cli_profile_report(const cli_args *a, const char *path, const assay_profile *p);

/* Does the input have elements? One without, such as a cache before its first row, needs no data.
 */
bool cli_takes_data(const assay_graph *g, int input);
/* The index of the input that "NAME=TEXT" names, and where TEXT begins; -1 and 0 without one. */
int cli_named_input(const assay_graph *g, const char *text, size_t *skip);

/* Which --dataset is for each input: only `path` of source[g->n_inputs] is set. *first receives the
 * input of the first one given, whose labels count. */
int cli_sources_find(const cli_args *a, const assay_graph *g, assay_source *source, int *first);
/* How the samples of n sources are read, from files beside them or from --preprocess. */
assay_status cli_sources_preprocess(const cli_args *a, assay_source *source, int n,
                                    assay_error *err);
/* The same in words: one line where all are read alike, else one per input; malloc'ed, or NULL. */
char *cli_sources_print(const assay_graph *g, const assay_source *source, int first);

/* Data sets bound to a network's inputs. */
typedef struct cli_data {
    assay_source *source;  /* one per input, in the network's order */
    int labels;            /* whose labels are the samples' */
    char *preprocessing;   /* of all sources */
    assay_samples samples; /* ready for measure_evaluate */
    int threads;
    int64_t ignored; /* label of pixels without one, or token that is not judged */
    int64_t stride;  /* from a window of tokens to the next; 0: its length */
    cli_progress progress;
    const assay_graph *graph;
} cli_data;

/* Opens --dataset for the graph's inputs; checks shapes and types. */
int cli_data_open(cli_data *d, const cli_args *a, const assay_graph *g, const char *what);
/* The same for the float twin of a network that takes codes and whose inputs --dataset names:
 * samples that are codes of that network's input become the real values that they stand for. */
int cli_data_open_twin(cli_data *d, const cli_args *a, const assay_graph *g,
                       const assay_graph *coded, const char *what);
void cli_data_close(cli_data *d);
/* Ends the progress line: later output goes below it. */
void cli_data_end(cli_data *d);
/* The data sets' names, in the order of the inputs; malloc'ed, or NULL. */
char *cli_data_names(const cli_data *d);
/* --shard 3/16 keeps the third sixteenth of the samples, in whole samples; all, where it is not
 * given. CLI_TROUBLE after a message. */
int cli_take_shard(const cli_args *a, assay_samples *s);
/* The same, and progress is of those. */
int cli_data_shard(cli_data *d, const cli_args *a);
/* Where classes are in an output of the network that d was opened for, and whether the samples have
 * labels for them; says on stderr where there are labels that cannot be used. */
int cli_data_judge(const cli_data *d, const assay_value *out, assay_judge *j, bool *labelled);

/* What `sensitivity` and `tune` begin with: a float network, a profile, a scheme, options and
 * samples to judge by, handed to `judge`; its status. by_sample: on a terminal progress is of the
 * samples of each measurement. */
int cli_trial_run(const cli_args *a, bool by_sample,
                  int (*judge)(const cli_args *a, const assay_trial *t));

/* --input [NAME=]FILE ... : one file per input, by name or in order; more files are more samples.
 */
typedef struct cli_files {
    const cli_args *args;
    const assay_graph *graph;
    const char **file; /* [sample][input]; the names are argv's own */
    int64_t samples;
} cli_files;
/* Which file is for which input; none is read yet. cli_files_close either way. */
int cli_files_open(cli_files *f, const cli_args *a, const assay_graph *g);
void cli_files_close(cli_files *f);
const char *cli_files_name(const cli_files *f, int64_t sample, int input);
/* Reads one .npy, .png or raw file as the network's k-th input. */
assay_status cli_files_read(const cli_files *f, int64_t sample, int k, void *to, assay_error *err);

/* The same, and there is at least one sample. */
int cli_inputs_open(cli_files *f, const cli_args *a, const assay_graph *g);
/* Fills the inputs of a run with a sample of --input; sources[i] receives each file's name. */
assay_status cli_inputs_read(const cli_files *f, int64_t sample, assay_run *run,
                             const char **sources, assay_error *err);

#endif
