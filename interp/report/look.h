/* A tensor of a bundle as a report shows it: counts, a histogram, planes as pictures. */
#ifndef ASSAY_INTERP_REPORT_LOOK_H
#define ASSAY_INTERP_REPORT_LOOK_H

#include "interp/golden/bundle.h"
#include "interp/page/planes.h"

enum { REPORT_BINS = 256 };

typedef struct report_look {
    const assay_bundle_tensor *tensor; /* of the first sample that has it */
    bool has_data;                     /* its elements were dumped, and read */
    int samples;
    /* ---- of all samples ---- */
    int64_t elements, nan, infinite, zeros; /* zeros: reals, so codes of the zero point */
    int64_t low, high;                      /* at the least and the greatest code */
    double min, max; /* of codes, or of finite reals; 0 when there are none */
    int n_bins;      /* 0: nothing to count */
    int64_t bin[REPORT_BINS];
    double left, step; /* bin i is [left + i * step, left + (i + 1) * step) */
    /* ---- the first sample's planes ---- */
    page_planes planes;
    int shown, every; /* so many planes, of every so-manieth line and element */
    int width, height;
    uint8_t *pixel; /* [height][width]: 1 .. 255, 128 is zero; 0: between planes */
} report_look;

/* Looks into all tensors of `bundle` that have the name and number of tensor i; `pixels` is the
 * most that the picture may have. report_look_clear whatever the status. */
assay_status report_look_into(const assay_bundle *bundle, int i, int64_t pixels, report_look *out,
                              assay_error *err);
void report_look_clear(report_look *l);
/* Whether elements are counted as codes: integers; else as reals. */
bool report_look_is_codes(const assay_type *t);
/* The codes' scale and zero point: false where the tensor has none, or several. */
bool report_look_scale(const assay_type *t, double *scale, int32_t *zero_point);

#endif
