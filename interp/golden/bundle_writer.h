/* State of a golden bundle that is being written, between its samples (bundle_write.c) and its
 * manifest (bundle_manifest.c). */
#ifndef ASSAY_INTERP_BUNDLE_WRITER_H
#define ASSAY_INTERP_BUNDLE_WRITER_H

#include <jansson.h>

#include "graph/files/memory.h"
#include "graph/files/partial.h"
#include "interp/golden/bundle.h"
#include "interp/golden/bundle_files.h"
#include "interp/golden/digest.h"

/* A tensor that every sample leaves, at its place in their order: the graph's inputs, then the
 * outputs of its nodes. */
typedef struct assay_bundle_slot {
    int value;
    bool has_sums;     /* accumulators were recorded with it */
    bool of_constants; /* it has no file: golden_bundle_is_computed */
    size_t width, bytes;
} assay_bundle_slot;

/* What the samples left; the manifest's entries are made of it at the end. */
typedef struct assay_bundle_records {
    int64_t n, room; /* samples */
    int n_slots;
    assay_bundle_slot *slot;
    int *first;           /* of a node: its first slot; one more at the end */
    bool stops;           /* there is a node after which slots are recorded */
    bool *stop;           /* by node: after it, slots that wait are recorded */
    int done;             /* of the record at hand: slots that wait no longer */
    int64_t *sample;      /* by record: the sample's number */
    char **source;        /* n_inputs a record: names of files, entries may be NULL */
    assay_digest *tensor; /* n_slots a record */
    assay_digest *sums;   /* likewise, when accumulators are asked for; else NULL */
} assay_bundle_records;

struct assay_bundle_writer {
    assay_bundle_options options;
    const assay_program *program;
    char *dir, *model_file, *preprocessing;
    assay_partial partial; /* the folder that is written to */
    assay_bundle_seen old; /* what stood at dir */
    char graph_digest[33]; /* of the network as text */
    assay_bundle_records records;
    json_t *constants;
    json_t
        *params[2]; /* what stands for the scales and zero points of the next constant, or NULL */
    int *index;     /* execution index by value, -1 before it is known */
    char path[4096];
};

/* ---- bundle_record.c ---- */

/* Says what every sample will leave, and makes room for w->options.samples of them. */
assay_status golden_bundle_records_begin(assay_bundle_writer *w, assay_error *err);
void golden_bundle_records_free(assay_bundle_writer *w);

/* ---- bundle_put.c ---- */

/* Are files written but for the manifest? */
bool golden_bundle_has_files(const assay_bundle_writer *w);

/* Writes an array as PART.npy and so on, if files are written at all. */
assay_status golden_bundle_put(assay_bundle_writer *w, const char *part, unsigned forms,
                               const assay_type *type, const void *data, assay_error *err);

/* w->path = PARTIAL/part */
assay_status golden_bundle_path(assay_bundle_writer *w, const char *part, assay_error *err);

/* Makes the folder PARTIAL/part; an existing folder is not an error. */
assay_status golden_bundle_make_dir(assay_bundle_writer *w, const char *part, assay_error *err);

/* ---- bundle_name.c ---- */

/* The folder of a sample's tensors: KIND, or KIND/s00003 when there are several samples. */
void golden_bundle_folder(const assay_bundle_writer *w, const char *kind, int64_t sample,
                          char folder[64]);
/* Where in the bundle a value's files are, without extension. */
enum { ASSAY_BUNDLE_PART = 64 + ASSAY_BUNDLE_STEM + 8 };
void golden_bundle_part(const assay_bundle_writer *w, const char *kind, int value, int64_t sample,
                        char part[ASSAY_BUNDLE_PART]);

/* The op that makes a value, or "input". */
const char *golden_bundle_op(const assay_graph *g, int value);

/* ---- bundle_manifest.c ---- */

/* The manifest's text, which the caller frees either way, and the files of the
 * nodes' parameters; the digest over all tensors' goes to `digest`. */
assay_status golden_bundle_manifest(assay_bundle_writer *w, char digest[33], file_memory *text,
                                    assay_error *err);

/* The last line but one of a manifest: the digest of all that stands before it. */
#define ASSAY_BUNDLE_SEAL ",\n \"xxh3\": \""

/* ---- bundle_tensors.c ---- */

/* Prints what stands between the brackets of the manifest's list of tensors. */
assay_status golden_bundle_tensors_print(const assay_bundle_writer *w, FILE *f, assay_error *err);

#endif
