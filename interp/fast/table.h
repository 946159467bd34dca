/* A function of one code of at most 16 bits as a table of all its values: the unit itself is asked
 * for every code, so the table is exact under any scheme. */
#ifndef ASSAY_INTERP_FAST_TABLE_H
#define ASSAY_INTERP_FAST_TABLE_H

#include "interp/fast/fast.h"

typedef struct assay_table {
    bool identity;         /* every code is its own value, in the same storage */
    int in_size, out_size; /* bytes of a code and of a value: 1 or 2 */
    void *value;           /* by the bits of the code's storage */
} assay_table;

/* Whether codes of input 0 and output 0 have tables, and computing all of them costs little
 * compared with `outputs` of them. */
bool fast_table_pays(const assay_fast_setup *s, int64_t outputs);

/* The node's unary function. Fails only for want of memory. */
assay_status fast_table_make(const assay_fast_setup *s, assay_table *out, assay_error *err);
/* The same for any function of rows of codes. */
typedef void (*assay_table_fn)(const assay_fast_setup *s, const int32_t *x, size_t n, int32_t *y);
assay_status fast_table_make_of(const assay_fast_setup *s, assay_table_fn f, assay_table *out,
                                assay_error *err);
void fast_table_free(assay_table *t);

/* The values of the node's unary function of codes of at most 8 bits, by the code's byte; whether
 * it is the identity. */
bool fast_table_bytes(const assay_fast_setup *s, assay_elem in, uint8_t value[256]);

/* y[i] = the value of x[i]; where in_size and out_size are equal, y may be x. */
void fast_table_look_up(const assay_table *t, const void *x, size_t n, void *y);

#endif
