/* One rescale apart from any node: a scheme's record with one real scale, or one multiplier and
 * shift. What batches of rows, `assay scheme try|show|diff` and tests are made of. */
#ifndef ASSAY_SCHEMES_SINGLE_H
#define ASSAY_SCHEMES_SINGLE_H

#include "schemes/derive/derive.h"
#include "schemes/rescale/batch.h"

/* `r` points into the struct: it must not be copied. */
typedef struct assay_single {
    assay_record rec;
    assay_op op;
    assay_rule_rescale rule; /* the record's, or the exact product that stands for thresholds */
    assay_rescale r;
    assay_encoded encoded; /* before reduction; integer encodings */
    int64_t multiplier, shift, pre, scale, scale_w, scale_out, near;
} assay_single;

/* The record in force for an op (NULL: "conv") and a variant (enum assay_variant).
 * ASSAY_ERR_UNSUPPORTED for a plugin, ASSAY_ERR_INPUT for an unknown op, and for one whose
 * arithmetic is more than one rescale of an accumulator (or of a product, or of a code) under this
 * scheme: a single rescale would show something else. */
assay_status assay_single_start(assay_single *o, const assay_scheme *s, const char *op,
                                unsigned variant, assay_error *err);
/* The same for a record in force; op is one that rescales an accumulator of products. */
void assay_single_of_record(assay_single *o, const assay_record *rec, assay_op op);
/* Row i of *b; false, with the reason in why, when the target refuses its scale. Where a scheme
 * applies three scales in steps, the one given is the first and the others are 1. */
bool assay_single_set(assay_single *o, const assay_batch *b, size_t i, char *why, size_t size);
/* The same for R = in * weight / out, formed as the rule says; of *b's scales nothing is read but
 * per_tensor. */
bool assay_single_form(assay_single *o, const assay_batch *b, size_t i, float in, float weight,
                       float out, char *why, size_t size);
/* Row i in the one of the two ways that it is given in. */
bool assay_single_of_row(assay_single *o, const assay_batch *b, size_t i, char *why, size_t size);
/* The rescale r of a prepared unit, as it is for one channel; borrows the unit's thresholds. */
void assay_single_of_unit(assay_single *o, const assay_unit *u, const assay_rescale *r,
                          size_t channel);
/* An exact sum of products as the accumulator of a weighted op holds it when it is complete; what
 * other ops rescale has no width of its own. False: the target refuses the sum. */
bool assay_single_apply_overflow(const assay_single *o, int64_t *acc);
/* Whether all of lo..hi are held as they are. */
bool assay_single_holds(const assay_single *o, int64_t lo, int64_t hi);
/* The code of an accumulator, or of an exact sum. False, with the reason in why: the target refuses
 * it. */
bool assay_single_code(const assay_single *o, int64_t acc, bool is_sum, int64_t *code, char *why,
                       size_t size);
/* R as the rule rounds it before encoding; whether it stays a float. */
double assay_single_formed(const assay_single *o, double scale);
bool assay_single_is_float(const assay_single *o);

#endif
