/* Rounding modes by what they do; see modes.h. */
#include "interp/infer/modes.h"

/* What stands behind the floor, as far as any rule asks. */
enum { LOW, HALF, HIGH, FRACTIONS };

static bool rounds_up(int32_t mode, bool negative, bool odd, int fraction)
{
    static const uint64_t top[FRACTIONS] = {UINT64_C(1) << 62, UINT64_C(1) << 63,
                                            UINT64_C(3) << 62};
    return assay_rounds_up((enum assay_rounding)mode, negative, odd, top[fraction]);
}

static bool same_to(int32_t a, int32_t b, bool negative)
{
    bool same = true;
    for (int odd = 0; odd < 2; odd++)
        for (int f = 0; f < FRACTIONS; f++)
            same &= rounds_up(a, negative, odd, f) == rounds_up(b, negative, odd, f);
    return same;
}

static bool same_to_halves(int32_t a, int32_t b)
{
    bool same = true;
    for (int negative = 0; negative < 2; negative++)
        for (int odd = 0; odd < 2; odd++)
            same &= rounds_up(a, negative, odd, HALF) == rounds_up(b, negative, odd, HALF);
    return same;
}

int32_t infer_mode_of_positives(int32_t mode)
{
    int32_t first = 0;
    while (!same_to(first, mode, false))
        first++;
    return first;
}

int32_t infer_mode_of_halves(int32_t mode)
{
    int32_t first = 0;
    while (!same_to_halves(first, mode))
        first++;
    return first;
}

/* Whether -x becomes the negative of what x becomes: of -x, the floor is one further down, its
 * parity the other one, and the fraction what x lacks to the next integer. */
static bool is_symmetric(int32_t mode)
{
    bool symmetric = true;
    for (int odd = 0; odd < 2; odd++)
        for (int f = 0; f < FRACTIONS; f++)
            symmetric &= rounds_up(mode, false, odd, f) != rounds_up(mode, true, !odd, HIGH - f);
    return symmetric;
}

/* The mode that stands for all that do the same to magnitudes. */
static int32_t magnitude_mode_of(int32_t mode)
{
    for (int32_t other = 0; other < ASSAY_ROUND_COUNT; other++)
        if (same_to(other, mode, false) && is_symmetric(other))
            return other;
    return infer_mode_of_positives(mode);
}

infer_modes infer_magnitude_modes(void)
{
    infer_modes all = {.n = 0};
    for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++)
        if (magnitude_mode_of(mode) == mode)
            all.mode[all.n++] = mode;
    return all;
}

bool infer_is_nearest_mode(int32_t mode)
{
    bool nearest = true;
    for (int sign = 0; sign < 2; sign++)
        for (int odd = 0; odd < 2; odd++)
            nearest &= !rounds_up(mode, sign, odd, LOW) && rounds_up(mode, sign, odd, HIGH);
    return nearest;
}

bool infer_is_periodic_mode(int32_t mode)
{
    bool periodic = true;
    for (int odd = 0; odd < 2; odd++)
        for (int f = 0; f < FRACTIONS; f++)
            periodic &= rounds_up(mode, false, odd, f) == rounds_up(mode, true, odd, f);
    return periodic;
}

bool infer_mode_reaches(int32_t mode, bool tie, bool one)
{
    return rounds_up(mode, false, !one, tie ? HALF : HIGH);
}
