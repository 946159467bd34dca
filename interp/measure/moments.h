/* Second moments of what a float network's layers read, over samples. */
#ifndef ASSAY_INTERP_MEASURE_MOMENTS_H
#define ASSAY_INTERP_MEASURE_MOMENTS_H

#include "interp/measure/eval.h"
#include "opt/profile/moments.h"

/* Of a canonical float network. One thread: the sums are of one order. */
assay_status measure_moments(const assay_graph *g, const assay_samples *samples,
                             assay_moments **out, assay_error *err);

#endif
