/* Samples checked against the inputs that they are for; see data.h. */
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/api/data.h"

/* Is that how a tensor of this kind is stored? Codes of odd widths are in the smallest container.
 */
static bool stores(assay_npy_type t, assay_elem e)
{
    static const assay_npy_type container[4][2] = {{ASSAY_NPY_U1, ASSAY_NPY_I1},
                                                   {ASSAY_NPY_U2, ASSAY_NPY_I2},
                                                   {ASSAY_NPY_U4, ASSAY_NPY_I4},
                                                   {ASSAY_NPY_U8, ASSAY_NPY_I8}};
    const size_t size = assay_elem_size(e);

    if (e.kind != ASSAY_KIND_INT && !assay_is_small_float(e))
        return t == (e.kind == ASSAY_KIND_BOOL ? ASSAY_NPY_BOOL : ASSAY_NPY_F4);
    return t == container[size == 1   ? 0
                          : size == 2 ? 1
                          : size == 4 ? 2
                                      : 3][e.kind == ASSAY_KIND_INT && e.is_signed];
}

assay_sample_type assay_sample_of(const assay_value *in)
{
    assay_sample_type t = {.rank = in->type.rank};
    while (t.type < ASSAY_NPY_F8 && !stores(t.type, in->type.elem))
        t.type++;
    memcpy(t.shape, in->type.dim, (size_t)t.rank * sizeof *t.shape);
    return t;
}

/* Same shape, where dimensions of 1 in front do not count. */
static bool shapes_agree(const int64_t *a, int rank_a, const int64_t *b, int rank_b)
{
    while (rank_a > 0 && a[0] == 1 && rank_a > rank_b) {
        a++;
        rank_a--;
    }
    while (rank_b > 0 && b[0] == 1 && rank_b > rank_a) {
        b++;
        rank_b--;
    }
    for (int d = 0; d < rank_a && rank_a == rank_b; d++)
        if (a[d] != b[d])
            return false;
    return rank_a == rank_b;
}

static const char *print_type(const assay_type *t, char buf[160])
{
    char elem[8];
    int n = snprintf(buf, 160, "%s[", assay_elem_print(t->elem, elem));
    for (int d = 0; d < t->rank; d++)
        n += snprintf(buf + n, 160 - (size_t)n, "%s%lld", d ? "," : "", (long long)t->dim[d]);
    snprintf(buf + n, 160 - (size_t)n, "]");
    return buf;
}

assay_status assay_sample_check(const assay_sample_type *t, const assay_value *in, const char *file,
                                assay_error *err)
{
    char wanted[160], found[160], advice[320];

    if (stores(t->type, in->type.elem) &&
        shapes_agree(t->shape, t->rank, in->type.dim, in->type.rank))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT, "%s: holds %s, but input '%s' takes %s%s", file,
                      dataset_sample_print(t, found, sizeof found), in->name,
                      print_type(&in->type, wanted), assay_advise(t, in, advice));
}

assay_status assay_codes_check(const assay_value *in, const void *data, const char *file,
                               assay_error *err)
{
    const assay_elem e = in->type.elem;
    const size_t n = (size_t)assay_shape_count(&in->type);
    char kind[8];

    const bool small = assay_is_small_float(e);
    if ((e.kind != ASSAY_KIND_INT && !small) || e.bits == 8 * assay_elem_size(e))
        return ASSAY_OK;
    const assay_elem codes = small ? assay_int(e.bits, false) : e; /* of patterns */
    for (size_t i = 0; i < n; i++) {
        const int64_t v = assay_elem_get(codes, data, i);
        if (v < assay_elem_min(codes) || v > assay_elem_max(codes))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: element %zu is %lld, outside %s of input '%s'", file, i,
                              (long long)v, assay_elem_print(e, kind), in->name);
    }
    return ASSAY_OK;
}
