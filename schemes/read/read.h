/* Reading a scheme file: what its parts share. Internal to schemes/read*.c. */
#ifndef ASSAY_SCHEMES_READ_H
#define ASSAY_SCHEMES_READ_H

#include "schemes/record/data.h"
#include "schemes/record/guess.h"
#include "schemes/record/tree.h"

typedef struct assay_reading {
    const char *file;
    assay_scheme_data *data;
    assay_error *err;
    const assay_tree **at; /* where the file states each field of the base; NULL: it does not */
    /* contract.exact_ops, contract.exact_float_ops and contract.exact are its own */
    bool states_ops, states_floats, states_exact;
} assay_reading;

/* ---- read_errors.c ---- */
/* ASSAY_ERR_INPUT "FILE:LINE:COLUMN: what" */
assay_status assay_read_fail(const assay_reading *c, const assay_tree *t, const char *what);
assay_status assay_read_no_memory(const assay_reading *c);

assay_status assay_read_unknown_key(const assay_reading *c, const assay_tree *t, const char *where,
                                    const assay_guess *g);

/* ---- read_precomputed.c ---- */
/* `given: {multiplier: [...], shift: [...], zero_point: N}` of a node. */
assay_status assay_read_precomputed(const assay_reading *c, const assay_tree *t, const char *node);

#endif
