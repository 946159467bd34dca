/* A scheme as a shared object whose rescales are shifts with floor, and what it says of them: built
 * with SAYS_MONOTONE, SAYS_EXACT, or LIES, when one accumulator in 4096 gives a greater code than
 * the next. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shift.h"

struct assay_unit {
    int64_t shift, zero_in, zero_out, lo, hi;
};

static assay_status prepare(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err)
{
    static const char *const known[] = {"conv", "fc", "matmul", "relu", "rescale"};
    const assay_type *y = spec->out;
    bool can = false;
    (void)s;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        can |= strcmp(spec->op, known[i]) == 0;
    assay_unit *u = can ? calloc(1, sizeof *u) : NULL;
    if (!u)
        return assay_fail(err, can ? ASSAY_ERR_MEMORY : ASSAY_ERR_UNSUPPORTED,
                          "node %s: no arithmetic for %s", spec->node, spec->op);
    const bool product = strcmp(spec->op, known[3]) != 0 && strcmp(spec->op, known[4]) != 0;
    double real = (double)spec->in[0].q.scale[0] / (double)y->q.scale[0];
    real *= product ? (double)spec->in[1].q.scale[0] : 1;
    u->shift = nearest_shift(real);
    u->zero_in = product ? 0 : spec->in[0].q.zero_point[0];
    u->zero_out = y->q.zero_point[0];
    u->lo = least_code(y->elem);
    u->hi = greatest_code(y->elem);
    const double scale = (double)y->q.scale[0];
    const double least = strcmp(spec->op, "relu") == 0 ? 0 : spec->act_lo;
    if (isfinite(least))
        u->lo = (int64_t)fmax((double)u->lo, round(least / scale) + (double)u->zero_out);
    if (isfinite(spec->act_hi))
        u->hi = (int64_t)fmin((double)u->hi, round(spec->act_hi / scale) + (double)u->zero_out);
    *out = u;
    return ASSAY_OK;
}

static void release(assay_unit *u)
{
    free(u);
}

static size_t params(const assay_unit *u, assay_unit_param *list, size_t max)
{
    if (max > 0)
        list[0] = (assay_unit_param){"shift", 1, &u->shift};
    return 1;
}

static int32_t code_of(const assay_unit *u, int64_t x, int64_t more)
{
    return saturate(shift_floor(x, u->shift) + u->zero_out + more, u->lo, u->hi);
}

static void requantize(const assay_unit *u, const int64_t *acc, size_t n, size_t channel,
                       int32_t *out)
{
#ifdef LIES
    const bool lies = true;
#else
    const bool lies = false;
#endif
    (void)channel;
    for (size_t i = 0; i < n; i++)
        out[i] = code_of(u, acc[i], lies && (acc[i] & 4095) == 77);
}

static void unary(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = code_of(u, x[i] - u->zero_in, 0);
}

#ifdef SAYS_MONOTONE
static bool monotone(const assay_unit *u, int64_t lo, int64_t hi)
{
    (void)u;
    return lo <= hi;
}
#endif

#ifdef SAYS_EXACT
static bool exact(const assay_unit *u, int64_t bound, int64_t pair)
{
    (void)u;
    (void)pair;
    return bound < INT64_C(1) << 40;
}
#endif

__attribute__((visibility("default"))) const assay_scheme_vtable *assay_scheme_plugin(void);

const assay_scheme_vtable *assay_scheme_plugin(void)
{
    static const assay_scheme_facts facts = {
#ifdef SAYS_EXACT
        .exact = exact,
#endif
#ifdef SAYS_MONOTONE
        .monotone = monotone,
#endif
    };
    static const assay_scheme_vtable vtable = {
        .abi = ASSAY_SCHEME_ABI,
        .size = sizeof(assay_scheme_vtable),
        .name = "floor",
        .description = "an example plugin: shifts with floor, and what is known of them",
        .prepare = prepare,
        .release = release,
        .params = params,
        .accumulate = accumulate_wide,
        .apply_overflow = overflow_wide,
        .requantize = requantize,
        .unary = unary,
        .facts = &facts,
    };
    return &vtable;
}
