/* The one place where Assay rounds; see round.h. */
#include "schemes/round.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define TEXT(ID, name, text, words, ieee, addend)  text,
#define WORDS(ID, name, text, words, ieee, addend) words,
static const char *const rounding_names[] = {ASSAY_ROUNDINGS(TEXT)};
static const char *const rounding_words[] = {ASSAY_ROUNDINGS(WORDS)};

const char *assay_rounding_name(enum assay_rounding mode)
{
    return (unsigned)mode < ASSAY_ROUND_COUNT ? rounding_names[mode] : NULL;
}

const char *assay_rounding_words(enum assay_rounding mode)
{
    return (unsigned)mode < ASSAY_ROUND_COUNT ? rounding_words[mode] : NULL;
}

bool assay_rounding_parse(const char *name, enum assay_rounding *mode)
{
    for (unsigned i = 0; i < ASSAY_ROUND_COUNT; i++) {
        if (strcmp(name, rounding_names[i]) == 0) {
            *mode = (enum assay_rounding)i;
            return true;
        }
    }
    return false;
}

/* A fraction on the same side of one half as rest / den, 0 <= rest < den: it rounds alike. */
static uint64_t fraction_of(uint64_t rest, uint64_t den)
{
    assert(rest < den);
    const uint64_t half = (uint64_t)1 << 63;
    return rest == 0 ? 0 : rest < den - rest ? half - 1 : rest > den - rest ? half + 1 : half;
}

int64_t assay_round_div(int64_t n, int64_t d, enum assay_rounding mode)
{
    assert(d != 0);
    bool negative = (n < 0) != (d < 0) && n != 0;
    uint64_t num = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    uint64_t den = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
    uint64_t floor = num / den, rest = num % den; /* of the magnitude */
    if (negative && rest != 0) {                  /* -(f + r / d) = -(f + 1) + (d - r) / d */
        floor++;
        rest = den - rest;
    }
    bool up = assay_rounds_up(mode, negative, floor & 1, fraction_of(rest, den));
    if (negative)
        return (int64_t)(0 - (floor - up));
    return floor + up > INT64_MAX ? INT64_MAX : (int64_t)(floor + up);
}

assay_int128 assay_round_div128(assay_int128 n, int64_t d, enum assay_rounding mode)
{
    assert(d > 0);
    assay_int128 floor = n / d, rest = n % d;
    if (rest < 0) {
        floor--;
        rest += d;
    }
    return floor +
           assay_rounds_up(mode, n < 0, floor & 1, fraction_of((uint64_t)rest, (uint64_t)d));
}
