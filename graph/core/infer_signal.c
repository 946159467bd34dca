/* Shapes of operators on signals: plain integers of stated widths. */
#include "graph/core/infer.h"

#define MAX_LENGTH (INT64_C(1) << 20) /* of a transform */

enum { GAINS = 125, CURVE = 129 }; /* elements of pcan's and signal_log's tables */

/* Input i is of plain integers of that kind. */
static assay_status check_kind(const assay_inference *c, int i, assay_elem elem)
{
    const assay_type *t = assay_infer_in(c, i);
    char is[8], expected[8];

    if (assay_elem_equal(t->elem, elem) && !assay_is_quantized(t))
        return ASSAY_OK;
    return assay_infer_fail(c, "input %d is %s%s, expected plain %s", i,
                            assay_is_quantized(t) ? "quantized " : "",
                            assay_elem_print(t->elem, is), assay_elem_print(elem, expected));
}

assay_status assay_shape_signal_scale(const assay_inference *c)
{
    assay_infer_shape(c->out, c->x);
    c->out[1] = (assay_type){.elem = assay_int(32, true)};
    return check_kind(c, 0, assay_int(16, true));
}

/* Rows of x are `more` longer than there are twiddle factors, those of the result `more_out`. */
static assay_status transform(const assay_inference *c, int more, int more_out)
{
    const assay_type *twiddle = assay_infer_in(c, 1);
    const int64_t n = twiddle->rank == 2 ? twiddle->dim[0] : 0;
    assay_status s = check_kind(c, 0, assay_int(c->x->elem.bits > 16 ? 32 : 16, true));

    if (s || (s = check_kind(c, 1, c->x->elem)))
        return s;
    if (n < 4 || n > MAX_LENGTH || (n & (n - 1)) || twiddle->dim[1] != 2)
        return assay_infer_fail(
            c, "twiddle factors are not [N,2] with N a power of two from 4 to 2^20");
    if (c->x->rank < 1 || c->x->dim[c->x->rank - 1] != n + more)
        return assay_infer_fail(c, "rows are not of %lld elements", (long long)(n + more));
    assay_infer_shape(c->out, c->x);
    c->out->dim[c->x->rank - 1] = n + more_out;
    return ASSAY_OK;
}

assay_status assay_shape_rfft(const assay_inference *c)
{
    return transform(c, 0, 2);
}

assay_status assay_shape_irfft(const assay_inference *c)
{
    return transform(c, 2, 0);
}

assay_status assay_shape_signal_root(const assay_inference *c)
{
    assay_infer_shape(c->out, c->x);
    c->out->elem = assay_int(32, false);
    return check_kind(c, 0, assay_int(64, true));
}

static assay_status check_range(const assay_inference *c, const char *name, int64_t v, int64_t lo,
                                int64_t hi)
{
    if (v >= lo && v <= hi)
        return ASSAY_OK;
    return assay_infer_fail(c, "%s is %lld, expected %lld to %lld", name, (long long)v,
                            (long long)lo, (long long)hi);
}

assay_status assay_shape_pcan(const assay_inference *c)
{
    const assay_elem word = assay_int(32, false);
    assay_status s = check_kind(c, 0, word);

    assay_infer_shape(c->out, c->x);
    if (s || (s = check_kind(c, 1, word)) || (s = check_kind(c, 2, assay_int(16, true))) ||
        (s = check_range(c, "shift", c->n->attr.pcan.shift, 0, 63)) ||
        (s = assay_infer_vector(c, 2, "gains", GAINS)))
        return s;
    if (!assay_shape_equal(c->x, assay_infer_in(c, 1)))
        return assay_infer_fail(c, "the noise has another shape than the input");
    return ASSAY_OK;
}

assay_status assay_shape_signal_log(const assay_inference *c)
{
    const assay_attr_signal_log *a = &c->n->attr.signal_log;
    assay_status s = check_kind(c, 0, assay_int(32, false));

    assay_infer_shape(c->out, c->x);
    c->out->elem = assay_int(16, true);
    if (s || (s = check_kind(c, 1, assay_int(32, true))) ||
        (s = check_range(c, "shift", a->shift, 0, 31)) ||
        (s = check_range(c, "scale", a->scale, 0, UINT32_MAX)))
        return s;
    return assay_infer_vector(c, 1, "curve", CURVE);
}
