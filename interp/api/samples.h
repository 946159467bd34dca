/* Samples in memory, with labels, as the rooms below take them. */
#ifndef ASSAY_INTERP_API_SAMPLES_H
#define ASSAY_INTERP_API_SAMPLES_H

#include "interp/assay_measures.h"
#include "interp/measure/eval.h"

typedef struct assay_arrays {
    assay_labelled of;
    const assay_graph *graph; /* whose inputs they are */
    int64_t places;           /* of a sample that have labels; 0: the sample has one, or none */
    int64_t first;            /* number of the first sample */
} assay_arrays;

/* assay_samples.read, whose user is (or begins with) an assay_arrays. */
assay_status assay_arrays_read(void *user, int64_t i, int k, void *input, assay_error *err);
/* The options taken; `samples` borrows from `a`, and begins with number 0. */
assay_status assay_arrays_take(const assay_labelled *given, const assay_graph *g, assay_arrays *a,
                               assay_samples *samples, assay_error *err);

#endif
