/* Registers whose width is the target's own and no parameter of the record: what codes of a type
 * can bring into them. What could leave one is refused when the unit is prepared; nothing wraps
 * around there unseen. */
#include "graph/core/type.h"
#include "schemes/derive/derive.h"

int64_t derive_reach(const assay_type *t)
{
    const int64_t least = assay_elem_min(t->elem), greatest = assay_elem_max(t->elem);
    int64_t reach = 0;
    for (size_t i = 0; i < t->q.count; i++) {
        const int64_t zero = t->q.zero_point != NULL ? t->q.zero_point[i] : 0;
        const int64_t down = zero - least, up = greatest - zero;
        reach = down > reach ? down : reach;
        reach = up > reach ? up : reach;
    }
    return reach;
}

assay_status derive_fits(const assay_derive *d, double max, unsigned bits, const char *what)
{
    if (max < (double)(UINT64_C(1) << (bits - 1)))
        return ASSAY_OK;
    return derive_fail(d, "%s can reach %.9g, beyond the %u bits that hold it", what, max, bits);
}

assay_status derive_left_shift(const assay_derive *d, int n, int32_t wanted, int32_t *bits)
{
    int64_t reach = 1;
    for (int i = 0; i < n; i++) {
        const int64_t r = derive_reach(&d->spec->in[i]);
        reach = r > reach ? r : reach;
    }
    *bits = wanted;
    while (*bits > 0 && reach > INT32_MAX >> *bits)
        (*bits)--;
    return derive_fits(d, (double)reach, 32, "a code less its zero point");
}
