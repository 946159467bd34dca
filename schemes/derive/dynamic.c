/* Parameters of codes made in each run; see dynamic.h. */
#include "schemes/derive/dynamic.h"

#include <math.h>

#define LEAST (-128.0)
#define MOST  127.0

static derive_dynamic symmetric_of(float least, float most)
{
    const float magnitude = fmaxf(-least, most);
    return (derive_dynamic){magnitude / 127, 127 / magnitude, 0};
}

static derive_dynamic asymmetric_of(double least, double most)
{
    const double scale = (most - least) / (MOST - LEAST);
    const double low = least / scale, high = most / scale;
    const bool by_least = fabs(LEAST) + fabs(low) < fabs(MOST) + fabs(high);
    const double zero = by_least ? LEAST - low : MOST - high;
    const double code = zero <= LEAST ? LEAST : zero >= MOST ? MOST : round(zero);
    return (derive_dynamic){(float)scale, 1 / (float)scale, (float)code};
}

derive_dynamic derive_dynamic_of(float least, float most, bool symmetric)
{
    if (least == most)
        return (derive_dynamic){1, 1, 0};
    return symmetric ? symmetric_of(least, most) : asymmetric_of((double)least, (double)most);
}
