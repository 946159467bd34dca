/* Data sets of a network's inputs, one sample at a time. */
#ifndef ASSAY_INTERP_API_DATA_H
#define ASSAY_INTERP_API_DATA_H

#include "datasets/dataset.h"
#include "datasets/preprocess.h"
#include "graph/core/graph.h"
#include "interp/assay_measures.h"

/* A data set bound to one input of a network. */
typedef struct assay_source {
    const char *path;  /* borrowed; NULL: an input without elements */
    const char *array; /* the array of .npz that is for the input, or NULL */
    assay_dataset *dataset;
    assay_preprocess preprocess;
    assay_sample_type type; /* after preprocessing */
    const assay_value
        *codes; /* what the samples are codes of, when the network takes real values */
} assay_source;

/* preprocess from the file, or (NULL) from beside the data set. */
assay_status assay_source_preprocess(assay_source *from, const char *file, assay_error *err);
/* Opens the data set; `codes`, a candidate, stays only where the samples are its codes.
 * is_stated: the preprocessing was asked for, also of tokens. ASSAY_ERR_INPUT: samples that are not
 * what the input takes. Of `o` labels, raw and window_step are read. */
assay_status assay_source_open(assay_source *from, const assay_value *in,
                               const assay_dataset_options *o, bool is_stated, assay_error *err);
/* Sample i, or the only sample. */
assay_status assay_source_read(const assay_source *from, const assay_value *in, int64_t i,
                               void *input, assay_error *err);

/* Is a sample of type t, which `file` holds, what the input takes? Leading dimensions of 1 do not
 * count; codes are in the smallest container of their width. */
assay_status assay_sample_check(const assay_sample_type *t, const assay_value *in, const char *file,
                                assay_error *err);
/* advise.c: "; " and what preprocess.yaml could say for such images to be the input, or why it
 * cannot help; or "". */
const char *assay_advise(const assay_sample_type *t, const assay_value *in, char text[320]);
/* The type that an array for the input would have. */
assay_sample_type assay_sample_of(const assay_value *in);
/* Refuses codes outside a type of fewer bits than its container; `data` is the whole input. */
assay_status assay_codes_check(const assay_value *in, const void *data, const char *file,
                               assay_error *err);

#endif
