/* Parameters of codes made in each run; see dynamic.h. */
#include "schemes/derive/dynamic.h"

#include <math.h>

#define CODE_MIN (-128.0)
#define CODE_MAX 127.0

static derive_dynamic symmetric_of(float min, float max)
{
    const float magnitude = fmaxf(-min, max);
    return (derive_dynamic){magnitude / 127, 127 / magnitude, 0};
}

static derive_dynamic asymmetric_of(double min, double max)
{
    const double scale = (max - min) / (CODE_MAX - CODE_MIN);
    const double low = min / scale, high = max / scale;
    const bool by_min = fabs(CODE_MIN) + fabs(low) < fabs(CODE_MAX) + fabs(high);
    const double zero = by_min ? CODE_MIN - low : CODE_MAX - high;
    const double code = zero <= CODE_MIN ? CODE_MIN : zero >= CODE_MAX ? CODE_MAX : round(zero);
    return (derive_dynamic){(float)scale, 1 / (float)scale, (float)code};
}

derive_dynamic derive_dynamic_of(float min, float max, bool symmetric)
{
    if (min == max)
        return (derive_dynamic){1, 1, 0};
    return symmetric ? symmetric_of(min, max) : asymmetric_of((double)min, (double)max);
}
