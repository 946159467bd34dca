/* The table of the rounding modes' results; see roundings.h. */
#include "test/support/roundings.h"

#include <math.h>
#include <string.h>

#include "test/support/support.h"

/* By sign and parity of the floor: for a whole value, a fraction below one half, one half, above.
 */
static const struct {
    const char *mode;
    const char *up[4]; /* positive even, positive odd, negative even, negative odd */
} table[] = {
    {"half-up", {"0011", "0011", "0011", "0011"}},
    {"half-away", {"0011", "0011", "0001", "0001"}},
    {"half-even", {"0001", "0011", "0001", "0011"}},
    {"half-zero", {"0001", "0001", "0011", "0011"}},
    {"floor", {"0000", "0000", "0000", "0000"}},
    {"trunc", {"0000", "0000", "0111", "0111"}},
    {"ceil", {"0111", "0111", "0111", "0111"}},
    {"odd", {"0111", "0000", "0111", "0000"}},
    {"away", {"0111", "0111", "0000", "0000"}},
};

static const char *const *line_of(enum assay_rounding mode)
{
    static const char *const *found[ASSAY_ROUND_COUNT];
    if (found[mode])
        return found[mode];
    const char *name = assay_rounding_name(mode);
    assert_non_null(name);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].mode, name) == 0)
            return found[mode] = table[i].up;
    fail_msg("rounding mode '%s' has no line in test/support/roundings.c", name);
    return NULL;
}

bool test_rounds_up(enum assay_rounding mode, bool negative, bool odd_floor, enum test_part part)
{
    return line_of(mode)[2 * negative + odd_floor][part] == '1';
}

int64_t test_rounded(long double v, enum assay_rounding mode)
{
    const long double whole = truncl(v), rest = fabsl(v - whole); /* exact */
    const bool negative = v < 0;
    const int64_t low = (int64_t)whole - (negative && rest > 0);
    enum test_part part = rest == 0                   ? TEST_WHOLE
                          : rest == 0.5L              ? TEST_HALF
                          : (rest < 0.5L) != negative ? TEST_BELOW_HALF
                                                      : TEST_ABOVE_HALF;
    return low + test_rounds_up(mode, negative, low % 2 != 0, part);
}
