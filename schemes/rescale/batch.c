/* Rescales by the row; see batch.h. */
#include "schemes/rescale/batch.h"

#include <stdio.h>

#include "schemes/record/data.h"
#include "schemes/rescale/single.h"

assay_status assay_scheme_batch_apply(const assay_scheme *s, const assay_batch *b, int64_t *out,
                                      uint8_t *error, assay_error *err)
{
    assay_single o;
    char why[256] = "";
    assay_status status =
        assay_single_start(&o, s, b->op, assay_variant_of_codes(b->wide, b->type), err);
    if (status)
        return status;
    if (!b->scale && !b->in && (!b->multiplier || !b->shift))
        return assay_fail(err, ASSAY_ERR_INPUT, "scales, or multipliers and shifts, are needed");
    for (size_t i = 0; i < b->n; i++) {
        int64_t code = 0;
        bool ok = assay_single_of_row(&o, b, i, why, sizeof why) &&
                  assay_single_code(&o, b->acc[i], b->sums, &code, why, sizeof why);
        if (!ok && !error)
            return assay_fail(err, ASSAY_ERR_SCHEME, "row %zu: %s", i, why);
        if (error)
            error[i] = !ok;
        out[i] = code;
    }
    return ASSAY_OK;
}

assay_status assay_scheme_batch_derive(const assay_scheme *s, const char *op, unsigned variant,
                                       const double *scale, size_t n, int64_t *multiplier,
                                       int64_t *shift, int64_t *pre, uint8_t *error,
                                       assay_error *err)
{
    assay_single o;
    char why[256] = "";
    const assay_batch rows = {.n = n, .scale = scale, .type = {ASSAY_KIND_INT, 32, true}};
    assay_status status = assay_single_start(&o, s, op, variant, err);
    if (status)
        return status;
    if (o.rec.rescale.encoding == ASSAY_ENCODE_THRESHOLDS)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "scheme %s: its scales become thresholds, not multipliers", s->name);
    for (size_t i = 0; i < n; i++) {
        bool ok = assay_single_set(&o, &rows, i, why, sizeof why);
        if (!ok && !error)
            return assay_fail(err, ASSAY_ERR_SCHEME, "row %zu: %s", i, why);
        if (error)
            error[i] = !ok;
        bool floats = assay_single_is_float(&o);
        const assay_encoded *e = &o.encoded;
        multiplier[i] = !ok ? 0 : floats ? o.scale : e->multiplier;
        shift[i] = !ok || floats ? 0 : derive_shift_to_target(&o.rec.rescale, e->shift) - e->pre;
        if (pre)
            pre[i] = ok && !floats ? e->pre : 0;
    }
    return ASSAY_OK;
}
