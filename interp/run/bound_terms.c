/* Terms of bounds. */
#include "interp/ref/ref.h"
#include "interp/run/bound.h"

int64_t run_bound_reach(const assay_type *t)
{
    int64_t max = 0;
    const size_t points = t->q.granularity == ASSAY_Q_AXIS ? t->q.count : 1;
    for (size_t i = 0; i < points; i++) {
        const int64_t z = ref_zero_point(t, (int64_t)i);
        const int64_t lo = z - assay_elem_min(t->elem), hi = assay_elem_max(t->elem) - z;
        max = lo > max ? lo : max;
        max = hi > max ? hi : max;
    }
    return max;
}

int64_t run_bound_of(int64_t a, int64_t b, int64_t c)
{
    return b > 0 && a > (INT64_MAX - c) / b ? INT64_MAX : a * b + c;
}
