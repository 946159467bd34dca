/* Weights before they are packed; see weights.h. */
#include <assert.h>

#include "interp/fast/weights.h"

#include "interp/ref/ref.h"

void fast_filter_load(const assay_filters *f, int64_t o, int32_t *row)
{
    assert(o >= 0 && o < f->outputs && f->group_outputs > 0);
    const int64_t first =
        f->origin + o / f->group_outputs * f->group_step + o % f->group_outputs * f->filter_step;
    if (f->channel_step == 1 && f->cell_step == f->channels) {
        ref_load_centred(&f->weights, first, 1, (size_t)fast_filter_depth(f), o, row);
        return;
    }
    if (f->cells == 1) {
        ref_load_centred(&f->weights, first, f->channel_step, (size_t)f->channels, o, row);
        return;
    }
    for (int64_t cell = 0; cell < f->cells; cell++)
        ref_load_centred(&f->weights, first + cell * f->cell_step, f->channel_step,
                         (size_t)f->channels, o, row + cell * f->channels);
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Greatest |x| for x in lo..hi. */
static int64_t reach(int64_t lo, int64_t hi)
{
    return magnitude(lo) > magnitude(hi) ? magnitude(lo) : magnitude(hi);
}

typedef struct extremes {
    int64_t bound; /* of any sum of absolute terms */
    assay_interval sums;
    int64_t least, max; /* centred weights */
    int64_t raw;        /* greatest |weight code| */
} extremes;

/* False when a sum might leave int32. */
static bool find_extremes(const assay_filters *f, assay_interval x, int32_t *row, extremes *e)
{
    const int64_t depth = fast_filter_depth(f), x_reach = reach(x.lo, x.hi);
    *e = (extremes){0};
    for (int64_t o = 0; o < f->outputs; o++) {
        const int32_t zw = ref_zero_point(f->weights.type, o);
        const int64_t bias = ref_load_bias(&f->bias, o);
        int64_t up = 0, down = 0; /* sums of the weights above and below 0 */
        int32_t least = 0, max = 0;
        fast_filter_load(f, o, row);
        for (int64_t i = 0; i < depth; i++) {
            up += row[i] > 0 ? row[i] : 0;
            down += row[i] < 0 ? row[i] : 0;
            least = row[i] < least ? row[i] : least;
            max = row[i] > max ? row[i] : max;
        }
        if (up - down > INT32_MAX || bias > INT32_MAX || bias < -INT32_MAX)
            return false;
        const int64_t sum = (up - down) * x_reach + magnitude(bias);
        const int64_t lo = up * x.lo + down * x.hi + bias, hi = up * x.hi + down * x.lo + bias;
        e->bound = sum > e->bound ? sum : e->bound;
        e->sums.lo = lo < e->sums.lo ? lo : e->sums.lo;
        e->sums.hi = hi > e->sums.hi ? hi : e->sums.hi;
        e->least = least < e->least ? least : e->least;
        e->max = max > e->max ? max : e->max;
        const int64_t raw = reach((int64_t)least + zw, (int64_t)max + zw);
        e->raw = raw > e->raw ? raw : e->raw;
    }
    return e->bound <= INT32_MAX;
}

bool fast_filters_exact(const assay_fast_setup *s, const assay_filters *f, int32_t *row,
                        assay_operand_form *form)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const int32_t zx = ref_zero_point(x, 0);
    const assay_interval codes = fast_codes_of(x);
    extremes e;
    if (!ASSAY_SCHEME_HAS(s->vt, facts, exact) || x->elem.bits > 16)
        return false;
    if (!find_extremes(f, codes, row, &e))
        return false;
    /* Codes as a target that multiplies raw ones sees them: bytes moved up to unsigned. */
    const int64_t raw_x = assay_elem_max(x->elem) + (x->elem.is_signed ? 128 : 0);
    if (!s->vt->facts->exact(s->unit, e.bound, 2 * raw_x * e.raw) || fast_may_refuse(s, e.sums))
        return false;
    *form = (assay_operand_form){
        .centre = zx, .element = 2, .rows = s->kernels->rows_of_bytes, .bound = e.bound};
    if (fast_is_byte(x) && s->kernels->bytes && e.least >= INT8_MIN && e.max <= INT8_MAX) {
        const int32_t up = x->elem.is_signed ? 128 : 0;
        *form = (assay_operand_form){true, up, zx + up, zx, 1, form->rows, form->bound};
        return true;
    }
    return codes.lo >= INT16_MIN && codes.hi <= INT16_MAX && e.least >= INT16_MIN &&
           e.max <= INT16_MAX;
}

int32_t fast_filter_start(const assay_filters *f, const assay_operand_form *form, int64_t o,
                          const int32_t *row)
{
    assert(form->bound <= INT32_MAX); /* sums without what the zero point adds */
    uint32_t sum = 0;
    if (form->zero != 0)
        for (int64_t i = 0; i < fast_filter_depth(f); i++)
            sum += (uint32_t)row[i];
    return (int32_t)((uint32_t)(int32_t)ref_load_bias(&f->bias, o) - (uint32_t)form->zero * sum);
}
