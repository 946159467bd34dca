/* An example of a scheme as a shared object: `--scheme ./shift_npu.so`.
 *
 * A device without multipliers: a conv's or fully connected layer's accumulator is shifted to the
 * right by a whole number of bits, the nearest to the real scale, with floor, and saturated. Only
 * schemes/vtable.h is needed to write one; shift.h is what the examples share. */
#include <stdlib.h>
#include <string.h>

#include "shift.h"

struct assay_unit {
    int64_t shift, zero_point, lo, hi;
};

static assay_status prepare(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err)
{
    (void)s;
    if (strcmp(spec->op, "conv") != 0 && strcmp(spec->op, "fc") != 0)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "shift-npu: node %s: no arithmetic for %s",
                          spec->node, spec->op);
    assay_unit *u = calloc(1, sizeof *u);
    if (u == NULL)
        return assay_fail(err, ASSAY_ERR_MEMORY, "shift-npu: out of memory");
    double real = (double)spec->in[0].q.scale[0] * (double)spec->in[1].q.scale[0] /
                  (double)spec->out->q.scale[0];
    u->shift = nearest_shift(real);
    u->zero_point = spec->out->q.zero_point[0];
    u->lo = least_code(spec->out->elem);
    u->hi = greatest_code(spec->out->elem);
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
    if (max > 1)
        list[1] = (assay_unit_param){"zero_point", 1, &u->zero_point};
    return 2;
}

static void requantize(const assay_unit *u, const int64_t *acc, size_t n, size_t channel,
                       int32_t *out)
{
    (void)channel;
    for (size_t i = 0; i < n; i++)
        out[i] = saturate(shift_floor(acc[i], u->shift) + u->zero_point, u->lo, u->hi);
}

__attribute__((visibility("default"))) const assay_scheme_vtable *assay_scheme_plugin(void);

const assay_scheme_vtable *assay_scheme_plugin(void)
{
    static const assay_scheme_vtable vtable = {
        .abi = ASSAY_SCHEME_ABI,
        .size = sizeof(assay_scheme_vtable),
        .name = "shift-npu",
        .description = "an example plugin: power-of-two shifts with floor",
        .prepare = prepare,
        .release = release,
        .params = params,
        .accumulate = accumulate_wide,
        .apply_overflow = overflow_wide,
        .requantize = requantize,
    };
    return &vtable;
}
