/* One rescale apart from any node: a scheme's record with one real scale, or one multiplier and
 * shift. What bulk rows, `assay scheme try|show|diff` and tests are made of. */
#ifndef ASSAY_SCHEMES_LONE_H
#define ASSAY_SCHEMES_LONE_H

#include "schemes/bulk.h"
#include "schemes/derive/derive.h"

/* `r` points into the struct: it must not be copied. */
typedef struct assay_lone {
    assay_record rec;
    assay_rule_rescale rule; /* the record's, or the exact product that stands for thresholds */
    assay_rescale r;
    assay_encoded encoded; /* before reduction; integer encodings */
    int64_t multiplier, shift, pre, scale, scale_w, scale_out, near;
} assay_lone;

/* The record in force for an op (NULL: "conv"). ASSAY_ERR_UNSUPPORTED for a plugin. */
assay_status assay_lone_start(assay_lone *o, const assay_scheme *s, const char *op, bool wide,
                              assay_error *err);
/* Row i of *b; false, with the reason in why, when the target refuses its scale. Where a scheme
 * applies three scales in steps, the one given is the first and the others are 1. */
bool assay_lone_set(assay_lone *o, const assay_bulk *b, size_t i, char *why, size_t size);
/* The same for R = in * weight / out, formed as the rule says; b->scale is not read. */
bool assay_lone_form(assay_lone *o, const assay_bulk *b, float in, float weight, float out,
                     bool per_tensor, char *why, size_t size);
/* R as the rule rounds it before encoding; whether it stays a float. */
double assay_lone_formed(const assay_lone *o, double scale);
bool assay_lone_is_float(const assay_lone *o);

#endif
