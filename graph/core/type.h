/* Element kinds, shapes and quantization parameters of a value in a network.
 *
 * real = scale * (q - zero_point), per tensor, per index of one axis, or per block of an axis. */
#ifndef ASSAY_GRAPH_TYPE_H
#define ASSAY_GRAPH_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"
#include "graph/core/floats.def"

/* Storage in memory is the smallest native container: 1..8 bits in one byte, 9..16 in two,
 * 17..32 in four, 33..64 in eight; bool in one byte; f32 in four. Sub-byte values are unpacked
 * (one code a byte, sign-extended). Digests and dumps use the same container, little-endian. */
size_t assay_elem_size(assay_elem e);

/* Smallest and largest code of an integer element kind (u64 does not occur). */
int64_t assay_elem_min(assay_elem e);
int64_t assay_elem_max(assay_elem e);
/* The code of an integer type that has v's low bits. */
int64_t assay_elem_wrap(assay_elem e, int64_t v);

/* A kind that exists: int of 1..32 bits or i64, f32, bool, a small float. */
bool assay_elem_valid(assay_elem e);
bool assay_elem_equal(assay_elem a, assay_elem b);

/* Element i of an array of integers or bools in their containers. */
int64_t assay_elem_get(assay_elem e, const void *data, size_t i);
void assay_elem_set(assay_elem e, void *data, size_t i, int64_t v);

/* "i8", "u4", "i32", "i64", "f32", "bool", "f8e4m3fn"; of integers in buf, which holds at least 8
 * bytes, else the name in floats.def. */
const char *assay_elem_print(assay_elem e, char buf[8]);
assay_status assay_elem_parse(const char *text, assay_elem *e, assay_error *err);

static inline assay_elem assay_int(unsigned bits, bool is_signed)
{
    return (assay_elem){ASSAY_KIND_INT, (uint8_t)bits, is_signed};
}
static inline assay_elem assay_f32(void)
{
    return (assay_elem){ASSAY_KIND_F32, 32, true};
}
static inline assay_elem assay_bool(void)
{
    return (assay_elem){ASSAY_KIND_BOOL, 8, false};
}

/* A small float's element type; its pattern in memory is unsigned. */
assay_elem assay_small_float(assay_kind k);
static inline bool assay_is_small_float(assay_elem e)
{
    return e.kind > ASSAY_KIND_BOOL;
}

/* Product of the dimensions; 1 for rank 0. The verifier guarantees that it does not overflow. */
int64_t assay_shape_count(const assay_type *t);

/* Bytes of the elements in their containers. */
size_t assay_type_bytes(const assay_type *t);

/* Checked product: ASSAY_ERR_LIMIT when a dimension is negative or the bytes exceed 2^40. */
assay_status assay_shape_check(const assay_type *t, const char *what, assay_error *err);

bool assay_shape_equal(const assay_type *a, const assay_type *b);
/* "[1,3,32,32]" for messages, cut at `size`. Returns buf. */
const char *assay_shape_print(const assay_type *t, char *buf, size_t size);

/* Same scales (bit for bit), zero points, granularity, axis and block. */
bool assay_qparams_equal(const assay_qparams *a, const assay_qparams *b);
/* Whether no two of its zero points differ. */
bool assay_qparams_one_zero_point(const assay_qparams *q);
/* Same element, shape and parameters. */
bool assay_type_equal(const assay_type *a, const assay_type *b);
/* *t with its axis perm[i] as axis i; and the elements of *t in that order. */
assay_type assay_type_permuted(const assay_type *t, const int *perm);
void assay_elements_permuted(const assay_type *t, const void *data, const int *perm, void *out);
/* Whether a positive scale is 2^k. */
bool assay_is_power_of_two(float scale);

/* True when the value carries codes of a real number: an integer kind with parameters. */
static inline bool assay_is_quantized(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->q.granularity != ASSAY_Q_NONE;
}

/* Plain i32: the result of a weighted op or matmul whose sums are not rescaled. */
static inline bool assay_is_accumulator(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->elem.bits == 32 && t->elem.is_signed &&
           t->q.granularity == ASSAY_Q_NONE;
}

/* How many scales the granularity, axis, block and shape of t call for; -1 when the axis or block
 * is impossible. */
int64_t assay_qparams_count(const assay_type *t);

#endif
