/* A real number as an integer; see real.h. */
#include "schemes/derive/real.h"

#include <math.h>

int64_t derive_round_real(double x, enum assay_rounding mode)
{
    const double max = 0x1p62;
    if (isnan(x))
        return 0;
    if (x >= max || x <= -max)
        return x > 0 ? INT64_C(1) << 62 : -(INT64_C(1) << 62);
    int64_t q = (int64_t)x;            /* toward zero */
    double rest = fabs(x - (double)q); /* exact; from the floor it would not be */
    uint64_t fraction = (uint64_t)(rest * 0x1p64);
    if (rest > 0 && fraction == 0)
        fraction = 1; /* smaller than a fraction shows: it is there, all that a rule asks */
    if (x < 0 && fraction > 0) { /* the floor is one below, and so much nearer */
        q--;
        fraction = 0 - fraction;
    }
    return q + assay_rounds_up(mode, x < 0, q & 1, fraction);
}
