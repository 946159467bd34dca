/* Tensors that are others with their axes in another order: a device's layout. */
#ifndef ASSAY_INTERP_GOLDEN_PERMUTED_H
#define ASSAY_INTERP_GOLDEN_PERMUTED_H

#include <stdint.h>

#include "graph/core/type.h"

/* Orders by number: the layouts, the axes' own order, and any other order of so many axes, as words
 * in a dictionary follow one another. Only of the last does the number of axes say which it is. */
enum { GOLDEN_LAST, GOLDEN_FIRST, GOLDEN_OWN_ORDER, GOLDEN_ORDERS = GOLDEN_OWN_ORDER + 720 };

typedef struct golden_orders {
    uint64_t set[(GOLDEN_ORDERS + 63) / 64];
} golden_orders;

/* The orders in which all elements of b are a's with its axes permuted: axis i of b is a's axis
 * perm[i]. False: there is none. The shape of b is that, axes of one element aside, or a's own (as
 * where a file says none); of any other shape the elements may be a's in their own order. */
bool golden_permuted_find(const assay_type *ta, const void *a, const assay_type *tb, const void *b,
                          golden_orders *found);
bool golden_permuted_has(const golden_orders *orders, int order);
/* The axes in that order; false: so few have none of that number. */
bool golden_permuted_axes(int rank, int order, int *perm);
/* "as channels last", "as channels first", "in another shape", or else "with axes 0,2,1", which
 * `room` is for. */
const char *golden_permuted_name(int rank, int order, char *room, size_t size);
/* Whether it is one of the first two, which blame reads. */
bool golden_permuted_is_layout(int order);

#endif
