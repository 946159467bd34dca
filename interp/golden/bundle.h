/* Golden bundles: the tensors of every layer, hashed and dumped, in a folder.
 *
 *   DIR/manifest.json          what ran and what came out; fixed format, see README.md here
 *   DIR/graph.assay            the network as text
 *   DIR/constants/NAME.npy     weights, biases (unless digests only)
 *   DIR/tensors/0007_conv_NAME.npy  every tensor, in execution order (unless digests only);
 *                              with several samples tensors/s00003/0007_conv_NAME.npy
 *   DIR/accumulators/...       pre-rescale sums, on request
 *   DIR/parameters/0007_conv_NAME.multiplier.hex   the units' integers, where other forms than .npy
 *                              are asked for
 *
 * A bundle is written beside DIR and moved there (graph/files/partial.h): it is whole or absent. */
#ifndef ASSAY_INTERP_BUNDLE_H
#define ASSAY_INTERP_BUNDLE_H

#include <jansson.h>

#include "interp/golden/format.def"
#include "interp/run/program.h"

/* Formats of a dumped array, a bit set. */
enum assay_dump_format {
#define DUMP(ID, name, extension, what) ASSAY_DUMP_BIT_##ID,
    ASSAY_DUMPS(DUMP)
#undef DUMP
        ASSAY_DUMP_COUNT,
#define DUMP(ID, name, extension, what) ASSAY_DUMP_##ID = 1 << ASSAY_DUMP_BIT_##ID,
    ASSAY_DUMPS(DUMP)
#undef DUMP
        ASSAY_DUMP_ALL = (1 << ASSAY_DUMP_COUNT) - 1
};
/* "npy, raw, ..., " for messages. */
#define ASSAY_DUMP_NAME(ID, name, extension, what) #name ", "
#define ASSAY_DUMP_NAMES                           ASSAY_DUMPS(ASSAY_DUMP_NAME)

typedef struct assay_bundle_options {
    const char *dir;        /* NULL: nothing is written, but digests are taken and the manifest made
                               as if all were */
    bool replace;           /* a golden bundle at dir may be replaced */
    bool digests_only;      /* no tensors, no constants */
    bool accumulators;      /* pre-rescale sums too */
    unsigned forms;         /* set of assay_dump_format; 0 means npy */
    int64_t samples;        /* how many will be recorded; more than one get folders of their own */
    bool sequence;          /* the samples are steps: the network's state is carried between them */
    unsigned hex_bits;      /* $readmemh word width in bits (hex.h); 0: one element per word */
    const char *model_file; /* as the user named it; its base name is recorded */
    const char *preprocessing; /* canonical text or NULL */
    bool lists; /* long lists per block stand in the manifest and in the text of the network, as
                   earlier versions had them, not in files */
    bool wide;  /* constants' codes of fewer than 8 bits fill a byte each in .npy files, however
                   many there are, as earlier versions had them */
    bool whole; /* tensors made of constants alone have files, however many elements they have, as
                   earlier versions had them */
} assay_bundle_options;

/* Execution index of every value: inputs first, then the outputs of the nodes in their order; -1
 * for the others. `index` has g->n_values entries. */
void golden_bundle_number(const assay_graph *g, int *index);

/* File name of a tensor without extension: "0007_conv_NAME", with characters unsafe in file names
 * replaced by '_'; names are cut at 160 bytes. */
#define ASSAY_BUNDLE_STEM 256
void golden_bundle_stem(int index, const char *op, const char *name, char stem[ASSAY_BUNDLE_STEM]);
/* A file's path without ".npy"; false when it is not one, or too long. */
bool golden_bundle_stem_of(const char *file, char *stem, size_t size);

/* ---- writing ---- */
typedef struct assay_bundle_writer assay_bundle_writer;

/* The strings of *options are copied. */
assay_status golden_bundle_begin(const assay_bundle_options *options, const assay_program *program,
                                 assay_bundle_writer **out, assay_error *err);
/* Executes `run` (inputs in place) as sample number `sample` and records every tensor. `sources`
 * (one a graph input, entries may be NULL) say where the inputs came from. */
assay_status golden_bundle_sample(assay_bundle_writer *w, assay_run *run, int64_t sample,
                                  const char *const *sources, assay_error *err);
/* Writes the manifest and moves the bundle into place. digest (33 bytes, may be NULL) receives
 * the digest over all tensor digests. Frees w either way. */
assay_status golden_bundle_commit(assay_bundle_writer *w, char digest[33], assay_error *err);
/* Removes what was written. NULL is fine. */
void golden_bundle_abort(assay_bundle_writer *w);

/* ---- one tensor in the formats of format.def (format.c) ---- */

/* The name in format.def; ".npy" and so on without the dot; the format of a name, or 0. */
const char *golden_dump_name(enum assay_dump_format format);
const char *golden_dump_extension(enum assay_dump_format format);
unsigned golden_dump_find(const char *name, size_t length);
/* The bytes of a file in one form, malloc'd; the C array is named after the stem. */
assay_status golden_dump_render(enum assay_dump_format format, const char *stem, unsigned hex_bits,
                                const assay_type *type, const void *data, unsigned char **bytes,
                                size_t *size, assay_error *err);
/* Writes files in several formats to their final place inside a partial folder; stem is the path
 * without extension. */
assay_status golden_dump_write(const char *stem, unsigned forms, unsigned hex_bits,
                               const assay_type *type, const void *data, assay_error *err);
/* One .npy file, whole or not at all (graph/files/files.h). */
assay_status golden_dump_npy(const char *path, const assay_type *type, const void *data,
                             assay_error *err);
/* NumPy's name of the container of an element kind: "int8", "float32", ... */
const char *golden_dtype_name(assay_elem e);

/* ---- JSON pieces (interp/golden/bundle_json.c); new references, NULL when out of memory ---- */
json_t *golden_json_type(const assay_type *t); /* dtype, bits, shape, scale, zero_point, axis */
/* The same, with what stands for the scales and the zero points, whose references it takes. */
json_t *golden_json_type_with(const assay_type *t, json_t *scale, json_t *zero_point);
/* What stands for an array in a file: {"file", "xxh3"}; file may be NULL. */
json_t *golden_json_array(const char *file, const char *digest);
/* Without parameters. */
json_t *golden_json_node(const assay_graph *g, int node);
/* A unit's parameters, at most so many; returns how many. */
#define ASSAY_BUNDLE_PARAMETERS 64
size_t golden_bundle_parameters(const assay_scheme_vtable *vt, const assay_unit *unit,
                                assay_unit_param list[ASSAY_BUNDLE_PARAMETERS]);

/* ---- reading ---- */
typedef struct assay_bundle_tensor {
    int64_t sample;
    int index;
    const char *name, *op;
    assay_type type;
    const char *digest;
    const char *file;                    /* relative to the bundle, or NULL */
    bool of_constants;                   /* has no file: it is computed from constants */
    const char *sums_digest, *sums_file; /* of the accumulators; NULL where there are none */
} assay_bundle_tensor;

typedef struct assay_bundle {
    char *dir;
    int folder; /* the open folder: nothing outside it is read */
    json_t *manifest;
    bool sealed;       /* the manifest's bytes have the digest that it ends with */
    bool lists, wide;  /* as in assay_bundle_options */
    unsigned forms;    /* set of assay_dump_format that its arrays are in; 0: it does not say */
    unsigned hex_bits; /* as in assay_bundle_options */
    int n_tensors;
    assay_bundle_tensor *tensor;
    struct assay_bundle_network **network; /* by which tensors are computed, once one was */
} assay_bundle;

/* Reads and checks DIR/manifest.json. A bundle need not be trusted: of the files that it names
 * only regular ones below DIR are opened, and no link is followed. */
assay_status golden_bundle_open(const char *dir, assay_bundle **out, assay_error *err);
void golden_bundle_free(assay_bundle *b);
/* The network that a bundle holds and its scheme (NULL for a float run), to be freed. *is_preset:
 * the scheme is one of ours, which also knows what it claims; else it stands for itself. */
assay_status golden_bundle_network(const assay_bundle *b, assay_graph **graph,
                                   assay_scheme **scheme, bool *is_preset, assay_error *err);
/* Tensors of so many elements have no file if they are made of constants alone: they are computed
 * when they are read. */
#define ASSAY_BUNDLE_COMPUTED ((int64_t)1 << 16)
bool golden_bundle_is_computed(const assay_type *t);
/* By value of a network: whether a node makes it of constants alone. malloc'd. */
assay_status golden_bundle_of_constants(const assay_graph *g, bool **out, assay_error *err);
/* Whether golden_bundle_read can give tensor i: not of a bundle of digests only. */
bool golden_bundle_has_elements(const assay_bundle *b, int i);
/* Elements of a tensor made of constants alone, by the bundle's own network; malloc'd. */
assay_status golden_bundle_compute(const assay_bundle *b, int i, void **data, assay_error *err);
void golden_bundle_network_free(struct assay_bundle_network *n);
/* Elements of tensor i, malloc'd in native order; the file's shape and dtype are checked.
 * ASSAY_ERR_IO where a file exists and cannot be read, _INPUT where its content is wrong. */
assay_status golden_bundle_read(const assay_bundle *b, int i, void **data, assay_error *err);
/* Its accumulators, int64 of its shape; *type describes them. */
assay_status golden_bundle_read_sums(const assay_bundle *b, int i, assay_type *type, void **data,
                                     assay_error *err);
/* Elements of `type` from file `file` of the bundle. */
assay_status golden_bundle_read_array(const assay_bundle *b, const char *file,
                                      const assay_type *type, void **data, assay_error *err);
/* Reads back what golden_json_type wrote, in files of b what stands there (NULL: of no bundle);
 * scales and zero points are malloc'd into *t (free with golden_json_type_free). */
assay_status golden_json_type_read(const assay_bundle *b, const json_t *o, const char *what,
                                   assay_type *t, assay_error *err);
void golden_json_type_free(assay_type *t);
/* The array that stands in a file for a list of numbers, as f32, i32 or i64 of rank 1, malloc'd. */
assay_status golden_bundle_read_numbers(const assay_bundle *b, const json_t *array, assay_type *t,
                                        void **data, assay_error *err);
/* The integers of parameter `name`, whether they are a list or in a file; malloc'd. */
assay_status golden_bundle_integers(const assay_bundle *b, const char *name, const json_t *list,
                                    int64_t **value, size_t *n, assay_error *err);
/* The same as the array that a file has of them. */
assay_status golden_bundle_parameter(const assay_bundle *b, const char *name, const json_t *list,
                                     assay_type *type, void **data, assay_error *err);
/* The type of a tensor's accumulators, and of n integers of a unit's parameter: int32 where all
 * fit, else int64. */
assay_type golden_bundle_sums_type(const assay_type *tensor);
assay_type golden_bundle_parameter_type(const int64_t *value, size_t n);
/* The same integers as elements of that type, malloc'd. */
assay_status golden_bundle_parameter_data(const assay_type *type, const int64_t *value, void **data,
                                          assay_error *err);

/* ---- verify (interp/golden/verify.c) ---- */
typedef struct assay_verify_result {
    int64_t tensors;
    int64_t files_bad;   /* missing, other bytes than they should be, or not of the bundle */
    int64_t replay_bad;  /* tensors that a fresh run gives otherwise */
    int64_t entries_bad; /* other entries of the manifest that are not so */
} assay_verify_result;
/* Compares every file with the manifest, and the manifest with its own digest. With `replay` it
 * also runs the bundle's own graph under its own scheme on its own inputs by that engine and
 * compares all that the manifest says with what it would say of that run; replay may be NULL, its
 * keep_all counts as set. `report` (may be NULL) gets one line for each fault. Faults are counted,
 * not errors; what cannot be read or run is an error. */
assay_status golden_bundle_verify(const char *dir, const assay_program_options *replay,
                                  void (*report)(void *, const char *), void *user,
                                  assay_verify_result *out, assay_error *err);

#endif
