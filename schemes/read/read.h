/* Reading a scheme file: what its parts share. Internal to schemes/read. */
#ifndef ASSAY_SCHEMES_READ_H
#define ASSAY_SCHEMES_READ_H

#include "schemes/record/data.h"
#include "schemes/record/guess.h"
#include "schemes/record/tree.h"

/* The message for a matrix unit, by name or file, where a scheme is expected. */
#define ASSAY_READ_IS_UNIT "is a matrix unit; a scheme names its units: mac: {units: [%s]}"

typedef struct assay_reading {
    const char *file;
    assay_scheme_data *data;
    assay_error *err;
    const assay_tree **at; /* where the file states each field of the base; NULL: it does not */
    /* the file states contract.exact_ops, contract.exact_float_ops, contract.exact */
    bool states_ops, states_floats, states_exact;
} assay_reading;

/* ---- errors.c ---- */
/* ASSAY_ERR_INPUT "FILE:LINE:COLUMN: what" */
assay_status assay_read_fail(const assay_reading *c, const assay_tree *t, const char *what);
assay_status assay_read_no_memory(const assay_reading *c);

assay_status assay_read_unknown_key(const assay_reading *c, const assay_tree *t, const char *where,
                                    const assay_guess *g);

/* ---- contract.c ---- */
assay_status assay_read_contract(assay_reading *c, const assay_tree *t);

/* ---- precomputed.c ---- */
/* An integer or a list of integers, of at most 33 bits; *out is the caller's, on failure too. */
assay_status assay_read_numbers(const assay_reading *c, const assay_tree *t, int64_t **out,
                                size_t *n);
/* `given: {multiplier: [...], shift: [...], zero_point: N}` of a node. */
assay_status assay_read_precomputed(const assay_reading *c, const assay_tree *t, const char *node);

/* ---- sections.c ---- */
/* One section's keys, into the base record (scope NULL) or as overrides of `name`. */
assay_status assay_read_section(const assay_reading *c, const assay_tree *t,
                                const enum assay_scope *scope, const char *name);
/* Sections under one op or node, or under `wide` and the like. */
assay_status assay_read_sections(const assay_reading *c, const assay_tree *t,
                                 enum assay_scope scope, const char *name);
/* Ops or nodes by name, with sections under each. */
assay_status assay_read_scopes(const assay_reading *c, const assay_tree *t, enum assay_scope scope);
/* Fails where no op has this name; scope: depthwise is meant to be one, for what is nearest. */
assay_status assay_read_op(const assay_reading *c, const assay_tree *at, const char *name,
                           bool scope);
/* A list of op names, or of "all" alone, into a set; what: the key, for errors. */
assay_status assay_read_op_set(const assay_reading *c, const assay_tree *t, const char *what,
                               bool set[ASSAY_OP_COUNT]);
/* A scalar's text, in place of *out. */
assay_status assay_read_text(const assay_reading *c, const assay_tree *t, char **out);
/* All sections as what a misspelled key may have meant. */
void assay_consider_sections(assay_guess *g);

#endif
