/* Parts of an evaluation in files, and put together. */
#ifndef ASSAY_INTERP_PART_FILE_H
#define ASSAY_INTERP_PART_FILE_H

#include <jansson.h>

#include "interp/measure/part.h"

typedef struct assay_part_file {
    const char *path; /* the caller's */
    json_t *of;       /* what it is a part of: an object of strings, integers and booleans */
    assay_part part;
} assay_part_file;

/* Writes the file, whole or not at all. */
assay_status measure_part_save(const assay_part_file *f, assay_error *err);
/* Reads one. ASSAY_ERR_INPUT names the file and what is wrong with it; measure_part_file_free
 * either way. */
assay_status measure_part_load(const char *path, assay_part_file *f, assay_error *err);
void measure_part_file_free(assay_part_file *f);

/* Sorts n >= 1 files by their samples and puts them together. They must be parts of one thing, and
 * have the samples from first on, `count` of them, each once. ASSAY_ERR_INPUT names what differs,
 * or the sample that is missing or double. measure_part_free(out) either way. */
assay_status measure_part_join(assay_part_file *f, int n, int64_t first, int64_t count,
                               assay_part *out, assay_error *err);

#endif
