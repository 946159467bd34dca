/* Lists of rounding steps, compared on every product and shift; see same.h.
 *
 * A product is read bit by bit, from the lowest. All that a list remembers of the bits behind it is
 * how the fraction compares with one half, and whether 1 is carried into the bits above. So two
 * lists have few pairs of states, and every product passes through some of them. */
#include <assert.h>

#include "interp/infer/same.h"
#include "schemes/round.h"

/* A fraction: zero, below half, half, above half. */
enum { ZERO, LOW, HALF, HIGH, FRACTIONS };

typedef struct state {
    int fraction;
    bool carry;
} state;

enum { STATES = 2 * FRACTIONS };

static int number_of(state s)
{
    return 2 * s.fraction + s.carry;
}

static state state_of(int number)
{
    return (state){number / 2, number % 2};
}

/* The step that a list is in after so many bits, and whether the previous one has just ended. */
static int step_at(const assay_steps *s, int64_t at, bool *ends)
{
    int64_t end = 0;
    int i = 0;
    *ends = false;
    while (i + 1 < s->n && end + s->step[i].bits <= at) {
        end += s->step[i].bits;
        *ends = end == at;
        i++;
    }
    return i;
}

static bool rounds_up(int32_t mode, int fraction, bool negative, bool odd)
{
    static const uint64_t top[FRACTIONS] = {0, UINT64_C(1) << 62, UINT64_C(1) << 63,
                                            UINT64_C(3) << 62};
    return fraction != ZERO &&
           assay_rounds_up((enum assay_rounding)mode, negative, odd, top[fraction]);
}

/* Whether 1 is added to the bits from here on when the current step ends; `bit` is the next one. At
 * most 1: a fraction that carried is ZERO. */
static bool added(state s, int32_t mode, bool negative, bool bit)
{
    return s.carry || rounds_up(mode, s.fraction, negative, bit != s.carry);
}

static state read_bit(state s, bool bit)
{
    const bool v = bit != s.carry;
    const int with = s.fraction == ZERO ? HALF : HIGH, without = s.fraction == ZERO ? ZERO : LOW;
    return (state){v ? with : without, bit && s.carry};
}

/* Reads one more bit after `at` bits, where a step may have ended. */
static state advance(const assay_steps *s, state x, int64_t at, bool negative, bool bit)
{
    bool ends;
    const int i = step_at(s, at, &ends);
    if (ends)
        x = (state){ZERO, added(x, s->step[i - 1].mode, negative, bit)};
    return read_bit(x, bit);
}

/* The mode of the step to which the last of `at` bits belongs. */
static int32_t last_mode(const assay_steps *s, int64_t at)
{
    bool ends;
    return s->step[step_at(s, at - 1, &ends)].mode;
}

static_assert(STATES * STATES <= 64, "a set of pairs is one word");

/* A set of pairs of states, one bit for each. */
static uint64_t pair_of(int a, int b)
{
    assert(a >= 0 && a < STATES && b >= 0 && b < STATES);
    return UINT64_C(1) << (STATES * a + b);
}

/* Takes a pair out of a set that has one. */
static void take_pair(uint64_t *set, state *a, state *b)
{
    const int pair = __builtin_ctzll(*set);
    *a = state_of(pair / STATES);
    *b = state_of(pair % STATES);
    *set &= *set - 1;
}

/* Whether both lists give one integer for a shift by `at`, from every pair of states. */
static bool agree(uint64_t pairs, const assay_steps *a, const assay_steps *b, int64_t at,
                  bool negative, bool bit)
{
    const int32_t x = last_mode(a, at), y = last_mode(b, at);
    state i, k;
    while (pairs) {
        take_pair(&pairs, &i, &k);
        if (added(i, x, negative, bit) != added(k, y, negative, bit))
            return false;
    }
    return true;
}

static uint64_t read_on(uint64_t pairs, const assay_steps *a, const assay_steps *b, int64_t at,
                        bool negative, bool bit)
{
    uint64_t next = 0;
    state i, k;
    while (pairs) {
        take_pair(&pairs, &i, &k);
        next |= pair_of(number_of(advance(a, i, at, negative, bit)),
                        number_of(advance(b, k, at, negative, bit)));
    }
    return next;
}

bool infer_same_steps_of(const assay_steps *a, const assay_steps *b, int bits, int64_t min,
                         int64_t max, bool negative)
{
    uint64_t now = pair_of(0, 0);
    for (int64_t at = 0; at <= max; at++) {
        uint64_t next = 0;
        for (int bit = 0; bit < 2; bit++) {
            if (at >= bits && bit != negative)
                continue; /* the bits above are the sign's */
            if (at > 0 && at >= min && !agree(now, a, b, at, negative, bit))
                return false;
            next |= read_on(now, a, b, at, negative, bit);
        }
        now = next;
    }
    return true;
}

assay_int128 infer_round_by(const assay_steps *s, assay_int128 p, int64_t shift)
{
    for (int i = 0; i < s->n; i++) {
        const bool last = i == s->n - 1 || s->step[i].bits > shift;
        const int64_t bits = last ? shift : s->step[i].bits;
        p = assay_round_shift128(p, bits > 127 ? 127 : (unsigned)bits,
                                 (enum assay_rounding)s->step[i].mode);
        shift -= bits;
    }
    return p;
}

bool infer_same_product(const assay_steps *a, const assay_steps *b, assay_int128 p, int64_t min,
                        int64_t max)
{
    for (int64_t shift = min > 0 ? min : 0; shift <= max; shift++)
        if (infer_round_by(a, p, shift) != infer_round_by(b, p, shift))
            return false;
    return true;
}

bool infer_same_steps(const assay_steps *a, const assay_steps *b, int bits, int64_t min,
                      int64_t max)
{
    return infer_same_steps_of(a, b, bits, min, max, false) &&
           infer_same_steps_of(a, b, bits, min, max, true);
}
