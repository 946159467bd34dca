/* An example of a scheme as a shared object: `--scheme ./shift_npu.so`.
 *
 * A device without multipliers: a conv's or fully connected layer's accumulator is shifted to the
 * right by a whole number of bits, the nearest to the real scale, with floor, and saturated. Only
 * interp/assay.h is needed to write one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/assay.h"

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
    u->shift = (int64_t)fmin(fmax(round(-log2(real)), 0), 31);
    u->zero_point = spec->out->q.zero_point[0];
    u->lo = spec->out->elem.is_signed ? -(INT64_C(1) << (spec->out->elem.bits - 1)) : 0;
    u->hi = u->lo + (INT64_C(1) << spec->out->elem.bits) - 1;
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

static int64_t accumulate(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                          int64_t bias, int32_t zx, int32_t zw, bool *trapped)
{
    (void)u;
    (void)zx;
    (void)zw;
    (void)trapped;
    for (size_t i = 0; i < n; i++)
        bias += (int64_t)x[i] * w[i];
    return bias;
}

static int64_t settle(const assay_unit *u, int64_t sum, bool *trapped)
{
    (void)u;
    (void)trapped;
    return sum;
}

static void requantize(const assay_unit *u, const int64_t *acc, size_t n, size_t channel,
                       int32_t *out)
{
    (void)channel;
    for (size_t i = 0; i < n; i++) {
        int64_t v = acc[i] < 0 ? ~(~acc[i] >> u->shift) : acc[i] >> u->shift;
        v += u->zero_point;
        out[i] = (int32_t)(v < u->lo ? u->lo : v > u->hi ? u->hi : v);
    }
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
        .accumulate = accumulate,
        .settle = settle,
        .requantize = requantize,
    };
    return &vtable;
}
