/* The integer graph under construction: build.c makes nodes, build_values.c values. Internal to
 * quantize/. */
#ifndef ASSAY_OPT_QUANTIZE_BUILD_H
#define ASSAY_OPT_QUANTIZE_BUILD_H

#include "opt/quantize/plan.h"

/* A value of the new graph in particular parameters, made for a use that wants them. */
typedef struct quantize_variant {
    int source, id;
    struct quantize_variant *next;
} quantize_variant;

typedef struct quantize_builder {
    assay_quantizer *q;
    assay_graph *to;
    assay_quantize_report *report;
    int *real;          /* by source value: the float (or index) value in `to`, or -1 */
    int *code;          /* by source value: its codes in the value's own parameters, or -1 */
    bool *codes_wanted; /* by source value: some integer node reads it */
    quantize_variant *variants;
    assay_error *err;
} quantize_builder;

/* NAME:SUFFIX, with the suffix again for as long as the name is taken. */
const char *quantize_build_derived(quantize_builder *b, const char *name, const char *suffix);
/* A NULL name means out of memory. */
assay_status quantize_build_add_value(quantize_builder *b, const char *name, const assay_type *type,
                                      int source, int *id);
/* The value as it is in the float graph. */
assay_status quantize_build_get_real(quantize_builder *b, int v, int *id);
/* A constant with codes that were just made in the arena of `to`. `role` distinguishes twins. */
assay_status quantize_build_coded_constant(quantize_builder *b, int v, const char *role,
                                           const assay_type *type, const void *data, int *id);
/* The value in the codes that node i reads it in: its own, or a rescale of them. */
assay_status quantize_build_rescaled(quantize_builder *b, int i, int v, const assay_code *code,
                                     int *id);

#endif
