/* What writing a golden bundle holds, between its samples (bundle_write.c) and its manifest
 * (bundle_manifest.c). */
#ifndef ASSAY_INTERP_BUNDLE_WRITER_H
#define ASSAY_INTERP_BUNDLE_WRITER_H

#include <jansson.h>

#include "interp/bundle.h"

/* What one sample leaves of a tensor; the manifest's entry is made of it at the end. */
typedef struct assay_bundle_note {
    int value;
    bool has_sums;
    int64_t sample;
    const char *source; /* of an input: the file's name, owned by the writer; or NULL */
    char xxh3[33], sums[33];
} assay_bundle_note;

typedef struct assay_bundle_notes {
    assay_bundle_note *list;
    size_t n, room;
} assay_bundle_notes;

struct assay_bundle_writer {
    assay_bundle_options options;
    const assay_program *program;
    char *dir, *temporary, *model_file, *preprocessing;
    assay_bundle_notes inputs, tensors;
    json_t *constants;
    int *index;          /* execution index by value, -1 before it is known */
    int64_t sample;      /* the one being recorded */
    assay_status status; /* of what cannot return one: notes of constants */
    char path[4096];
};

/* w->path = temporary/part */
assay_status assay_bundle_path(assay_bundle_writer *w, const char *part, assay_error *err);

/* The folder of a sample's tensors: KIND, or KIND/s00003 when there are several samples. */
void assay_bundle_folder(const assay_bundle_writer *w, const char *kind, int64_t sample,
                         char folder[64]);
/* Where in the bundle a value's files are, without extension. */
enum { ASSAY_BUNDLE_PART = 64 + ASSAY_BUNDLE_STEM + 8 };
void assay_bundle_part(const assay_bundle_writer *w, const char *kind, int value, int64_t sample,
                       char part[ASSAY_BUNDLE_PART]);

/* Writes manifest.json; the digest over all tensors' goes to `digest`. */
assay_status assay_bundle_manifest(assay_bundle_writer *w, char digest[33], assay_error *err);

#endif
