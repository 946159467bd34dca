/* pad: y[i] = x[source(i - begin)] on each axis, where source() of an index outside x is
 *   constant   none: the fill value      edge  the nearest index inside
 *   reflect    mirrored about the first or last element (which is not repeated)
 *   symmetric  mirrored about the border (first and last are repeated)
 *   wrap       the index modulo the extent
 * The fill of codes is a given code, or the zero point for the real value 0 and the least code for
 * -inf; other real values would need a rounding, which no kernel does. */
#include <inttypes.h>
#include <string.h>

#include "interp/move/move.h"

static int64_t modulo(int64_t i, int64_t n)
{
    int64_t r = i % n;
    return r < 0 ? r + n : r;
}

/* Index in 0..n-1 for index i of the padded axis counted from x's first; -1: the fill value. */
static int64_t source(int64_t i, int64_t n, int mode)
{
    if (i >= 0 && i < n)
        return i;
    int64_t r;
    switch (mode) {
    case ASSAY_PAD_EDGE:
        return i < 0 ? 0 : n - 1;
    case ASSAY_PAD_REFLECT:
        if (n == 1)
            return 0;
        r = modulo(i, 2 * n - 2);
        return r < n ? r : 2 * n - 2 - r;
    case ASSAY_PAD_SYMMETRIC:
        r = modulo(i, 2 * n);
        return r < n ? r : 2 * n - 1 - r;
    case ASSAY_PAD_WRAP:
        return modulo(i, n);
    default:
        return -1;
    }
}

/* The integer that binary32 bits stand for; false when they stand for none below 2^62. */
static bool integer_of_bits(uint32_t bits, int64_t *value)
{
    int exponent = (int)(bits >> 23 & 0xff) - 150; /* of the mantissa's last bit */
    int64_t mantissa = (bits & 0x7fffff) | 0x800000;
    if ((bits & 0x7fffffff) == 0)
        mantissa = exponent = 0;
    if (exponent > 38 || exponent < -23)
        return false;
    if (exponent < 0 && mantissa & ((INT64_C(1) << -exponent) - 1))
        return false;
    mantissa = exponent < 0 ? mantissa >> -exponent : mantissa << exponent;
    *value = bits >> 31 ? -mantissa : mantissa;
    return true;
}

static void store_integer(void *to, size_t size, int64_t value)
{
    uint64_t v = (uint64_t)value;
    uint8_t v8 = (uint8_t)v;
    uint16_t v16 = (uint16_t)v;
    uint32_t v32 = (uint32_t)v;
    memcpy(to,
           size == 1   ? (void *)&v8
           : size == 2 ? (void *)&v16
           : size == 4 ? (void *)&v32
                       : &v,
           size);
}

/* One element of fill value, in storage of type t, which is the output's. */
static assay_status fill_element(const assay_node *n, const assay_type *t, char element[8],
                                 assay_error *err)
{
    int64_t value = 0;
    uint32_t bits;

    memcpy(&bits, &n->attr.pad.value, sizeof bits);
    if (t->elem.kind == ASSAY_KIND_F32) {
        memcpy(element, &bits, sizeof bits);
        return ASSAY_OK;
    }
    if (n->attr.pad.has_code) {
        store_integer(element, assay_elem_size(t->elem), n->attr.pad.code);
        return ASSAY_OK;
    }
    bool lowest = bits == 0xff800000u || bits == 0xff7fffffu; /* -inf, -FLT_MAX */
    bool known = lowest || integer_of_bits(bits, &value);
    if (lowest)
        value = assay_elem_min(t->elem);
    else if (assay_is_quantized(t)) {
        known = known && value == 0 && t->q.granularity == ASSAY_Q_TENSOR;
        value = known ? t->q.zero_point[0] : 0;
    }
    if (!known)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "node '%s': pad of %s with binary32 value 0x%08" PRIx32
                          " needs a per-tensor value and fill 0 or -inf",
                          n->name, assay_is_quantized(t) ? "codes" : "integers", bits);
    store_integer(element, assay_elem_size(t->elem), value);
    return ASSAY_OK;
}

assay_status move_check_pad(const assay_graph *g, const assay_node *n, assay_error *err)
{
    char element[8];
    if (n->attr.pad.mode != ASSAY_PAD_CONSTANT)
        return ASSAY_OK;
    return fill_element(n, &g->value[n->out[0]].type, element, err);
}

typedef struct pad_walk {
    const assay_call *call;
    int rank; /* axes up to the last padded one; those after it are part of a cell */
    size_t size, cell;
    char fill[8];
} pad_walk;

static void fill_cells(const pad_walk *p, char *to, int64_t n)
{
    for (char *end = to + (size_t)n * p->cell; to < end; to += p->size)
        memcpy(to, p->fill, p->size);
}

static int64_t begin_of(const pad_walk *p, int d)
{
    return p->call->node->attr.pad.begin.v[d];
}

/* Writes everything below axis d of y at `to`; `from` is the index, in cells of axis d - 1, of what
 * is copied, or -1 where all is fill. Returns the end of what was written. */
static char *pad_axis(const pad_walk *p, int d, int64_t from, char *to)
{
    const assay_view *x = &p->call->in[0];
    int mode = p->call->node->attr.pad.mode;
    int64_t n = x->type->dim[d], out = p->call->out[0].type->dim[d], begin = begin_of(p, d);

    for (int64_t i = 0; i < out; i++) {
        int64_t s = from < 0 ? -1 : source(i - begin, n, mode), run = 1;
        if (d < p->rank - 1) {
            to = pad_axis(p, d + 1, s < 0 ? -1 : from * n + s, to);
            continue;
        }
        if (s < 0) {
            fill_cells(p, to, 1);
        } else {
            if (i - begin >= 0) /* the whole of x's row at once */
                run = i - begin < n ? (out - i < n - s ? out - i : n - s) : 1;
            memcpy(to, (const char *)x->data + (size_t)(from * n + s) * p->cell,
                   (size_t)run * p->cell);
        }
        to += (size_t)run * p->cell;
        i += run - 1;
    }
    return to;
}

assay_status move_pad(assay_call *call, assay_error *err)
{
    const assay_type *x = call->in[0].type, *y = call->out[0].type;
    const assay_attr_pad *a = &call->node->attr.pad;
    pad_walk p = {.call = call, .rank = x->rank, .size = assay_elem_size(x->elem)};
    assay_status s = ASSAY_OK;

    if (a->mode == ASSAY_PAD_CONSTANT)
        s = fill_element(call->node, y, p.fill, err);
    if (s)
        return s;
    if (assay_shape_count(y) == 0)
        return ASSAY_OK;
    while (p.rank > 1 && x->dim[p.rank - 1] == y->dim[p.rank - 1] && begin_of(&p, p.rank - 1) == 0)
        p.rank--;
    p.cell = (size_t)move_extent(x, p.rank, x->rank) * p.size;
    if (x->rank == 0)
        memcpy(call->out[0].data, call->in[0].data, p.size);
    else
        pad_axis(&p, 0, 0, call->out[0].data);
    return ASSAY_OK;
}
