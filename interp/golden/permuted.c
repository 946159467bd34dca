/* Axes in another order; see permuted.h. */
#include "interp/golden/permuted.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/golden/compare.h"

static bool is_code(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT || t->elem.kind == ASSAY_KIND_BOOL;
}

static bool same_element(const assay_type *ta, const void *a, int64_t i, const assay_type *tb,
                         const void *b, int64_t j)
{
    if (is_code(ta) && is_code(tb))
        return golden_element_code(ta, a, i) == golden_element_code(tb, b, j);
    const float x = (float)golden_element_real(ta, a, i), y = (float)golden_element_real(tb, b, j);
    return (x == y && !signbit(x) == !signbit(y)) || (isnan(x) && isnan(y));
}

/* Whether the shape, without its ones, is a's with its axes in that order. */
static bool is_shape(const assay_type *ta, const assay_type *tb, const int *perm)
{
    int i = 0, k = 0;
    while (i < ta->rank || k < tb->rank) {
        if (i < ta->rank && ta->dim[perm[i]] == 1)
            i++;
        else if (k < tb->rank && tb->dim[k] == 1)
            k++;
        else if (i < ta->rank && k < tb->rank && ta->dim[perm[i]] == tb->dim[k])
            i++, k++;
        else
            return false;
    }
    return true;
}

static bool keeps_order(int rank, const int *perm)
{
    for (int i = 0; i < rank; i++)
        if (perm[i] != i)
            return false;
    return true;
}

/* Goes through a's elements in order, and through b's beside them. */
static bool is_permuted(const assay_type *ta, const void *a, const assay_type *tb, const void *b,
                        const int *perm)
{
    int64_t step[ASSAY_MAX_RANK], at[ASSAY_MAX_RANK] = {0}, stride = 1, j = 0;
    const int64_t n = assay_shape_count(ta);
    if (!assay_shape_equal(ta, tb) && !keeps_order(ta->rank, perm) && !is_shape(ta, tb, perm))
        return false;
    for (int i = ta->rank - 1; i >= 0; i--) {
        step[perm[i]] = stride;
        stride *= ta->dim[perm[i]];
    }
    for (int64_t i = 0; i < n; i++) {
        if (!same_element(ta, a, i, tb, b, j))
            return false;
        int k = ta->rank - 1;
        for (; k > 0 && ++at[k] == ta->dim[k]; k--) {
            j -= (ta->dim[k] - 1) * step[k];
            at[k] = 0;
        }
        j += step[k];
    }
    return true;
}

/* Channels last of channels first, or the reverse. */
static void set_layout(int rank, bool last, int *perm)
{
    perm[0] = 0;
    for (int i = 1; i < rank; i++)
        perm[i] = last ? i % (rank - 1) + 1 : (i + rank - 3) % (rank - 1) + 1;
}

/* The k-th permutation of n axes; false where there are no more. */
static bool permutation(int n, int k, int *perm)
{
    int left[ASSAY_MAX_RANK], of = 1;
    for (int i = 2; i <= n; i++)
        of *= i;
    if (k >= of)
        return false;
    for (int i = 0; i < n; i++)
        left[i] = i;
    for (int i = 0; i < n; i++) {
        of /= n - i;
        const int at = k / of;
        k %= of;
        perm[i] = left[at];
        memmove(&left[at], &left[at + 1], (size_t)(n - 1 - at) * sizeof *left);
    }
    return true;
}

bool golden_permuted_axes(int rank, int order, int *perm)
{
    if (!golden_permuted_is_layout(order))
        return permutation(rank, order - GOLDEN_OWN_ORDER, perm);
    if (rank > 2)
        set_layout(rank, order == GOLDEN_LAST, perm);
    return rank > 2;
}

static void add(golden_orders *orders, int order)
{
    orders->set[order / 64] |= UINT64_C(1) << (order % 64); /* below 64 */
}

bool golden_permuted_has(const golden_orders *orders, int order)
{
    return orders->set[order / 64] >> (order % 64) & 1; /* below 64 */
}

bool golden_permuted_find(const assay_type *ta, const void *a, const assay_type *tb, const void *b,
                          golden_orders *found)
{
    const int64_t n = assay_shape_count(ta);
    int perm[ASSAY_MAX_RANK];
    bool any = false;

    *found = (golden_orders){{0}};
    if (ta->rank < 2 || n < 2 || assay_shape_count(tb) != n)
        return false;
    for (int order = 0; order < GOLDEN_ORDERS; order++)
        if (golden_permuted_axes(ta->rank, order, perm) && is_permuted(ta, a, tb, b, perm)) {
            add(found, order);
            any = true;
        }
    return any;
}

bool golden_permuted_is_layout(int order)
{
    return order < GOLDEN_OWN_ORDER;
}

const char *golden_permuted_name(int rank, int order, char *room, size_t size)
{
    int perm[ASSAY_MAX_RANK];
    if (order == GOLDEN_OWN_ORDER)
        return "in another shape";
    if (golden_permuted_is_layout(order))
        return order == GOLDEN_LAST ? "as channels last" : "as channels first";
    golden_permuted_axes(rank, order, perm);
    int n = snprintf(room, size, "with axes ");
    for (int i = 0; i < rank; i++)
        n += snprintf(room + n, size - (size_t)n, "%s%d", i ? "," : "", perm[i]);
    return room;
}
