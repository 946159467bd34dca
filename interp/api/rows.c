/* Rows of rescales, and of what stands for real scales. */
#include "interp/api/rows.h"

#include <stdlib.h>
#include <string.h>

#include "interp/api/options.h"
#include "schemes/record/data.h"
#include "schemes/rescale/single.h"

bool assay_scheme_is_wide(const assay_scheme *s)
{
    return s->record && assay_data(s)->base.types.activation_bits > 8;
}

static assay_elem own_type(const assay_scheme *s)
{
    assay_scheme_caps caps;
    assay_scheme_get_caps(s, &caps);
    return assay_int(caps.activation_bits, caps.activation_signed);
}

unsigned assay_scheme_own_variant(const assay_scheme *s, bool wide)
{
    return assay_variant_of_codes(wide, own_type(s));
}

assay_status assay_rows_type(const assay_scheme *s, const char *name, assay_elem *out,
                             assay_error *err)
{
    char *end = NULL;
    if (!name) {
        *out = own_type(s);
        return ASSAY_OK;
    }
    const long bits = name[0] == 'i' || name[0] == 'u' ? strtol(name + 1, &end, 10) : 0;
    if (!end || *end != '\0' || bits < 1 || bits > (name[0] == 'i' ? 32 : 31))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "type takes i1..i32 or u1..u31 (i8, u8, i16, i32), not '%.40s'", name);
    *out = assay_int((unsigned)bits, name[0] == 'i');
    return ASSAY_OK;
}

assay_status assay_scheme_has(const assay_scheme *s, const char *op, assay_error *err)
{
    assay_single single;
    if (s->record && (!op || assay_op_find(op) != ASSAY_OP_COUNT))
        return ASSAY_OK;
    return assay_single_start(&single, s, op, 0, err); /* says why not */
}

assay_status assay_schemes_differ(const assay_scheme *const *s, size_t n, bool once,
                                  assay_error *err)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            if (strcmp(s[k]->name, s[i]->name) != 0)
                continue;
            if (strcmp(s[k]->digest, s[i]->digest) != 0)
                return assay_fail(
                    err, ASSAY_ERR_INPUT,
                    "scheme: two schemes of the name \"%s\" with different records; rename one",
                    s[i]->name);
            if (once)
                return assay_fail(err, ASSAY_ERR_INPUT, "%s is given twice", s[i]->name);
        }
    return ASSAY_OK;
}

assay_status assay_rows_range(const int64_t acc[2], assay_error *err)
{
    if (acc[0] <= acc[1] && acc[0] >= -ASSAY_ROWS_ACC && acc[1] <= ASSAY_ROWS_ACC)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "acc takes accumulators from low to high, at most 2^47 from 0");
}

/* Integers beyond 2^47 would meet no device, and keep sums of them within 64 bits. */
static assay_status check_ranges(const assay_rescales *r, assay_error *err)
{
    const int64_t acc = ASSAY_ROWS_ACC, code = INT64_C(1) << 32;
    const struct {
        const char *name;
        const int64_t *v;
        int64_t lo, hi;
    } column[] = {{"acc", r->acc, -acc, acc},
                  {"multiplier", r->multiplier, -code, code},
                  {"shift", r->shift, -1100, 1100},
                  {"pre", r->pre, 0, 62},
                  {"zero_point", r->zero_point, -code, code},
                  {"in_zero_point", r->in_zero_point, -code, code},
                  {"lo", r->lo, -code, code},
                  {"hi", r->hi, -code, code}};
    for (size_t k = 0; k < sizeof column / sizeof *column; k++)
        for (size_t i = 0; column[k].v && i < r->n; i++)
            if (column[k].v[i] < column[k].lo || column[k].v[i] > column[k].hi)
                return assay_fail(err, ASSAY_ERR_INPUT, "%s, row %zu: %lld is outside %lld..%lld",
                                  column[k].name, i, (long long)column[k].v[i],
                                  (long long)column[k].lo, (long long)column[k].hi);
    return ASSAY_OK;
}

/* Accumulators, and the factor in one way. */
static assay_status check_columns(const assay_rescales *r, assay_error *err)
{
    const bool integers = r->multiplier && r->shift;
    const bool some = r->multiplier || r->shift || r->pre;
    const bool formed = r->weight_scale || r->out_scale;
    if (!r->acc || some != integers || (formed && !r->in_scale) ||
        !!r->scale + !!r->in_scale + integers != 1)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "a row is an accumulator and one of scale; in_scale, weight_scale and "
                          "out_scale; multiplier and shift");
    return check_ranges(r, err);
}

assay_status assay_rows_batch(const assay_scheme *s, const assay_rescales *rows, assay_batch *out,
                              assay_error *err)
{
    assay_rescales r;
    assay_elem type;
    assay_status status = ASSAY_OPTIONS_TAKE(rows, &r, err);

    if (!status)
        status = check_columns(&r, err);
    if (!status)
        status = assay_rows_type(s, r.type, &type, err);
    if (status)
        return status;
    *out = (assay_batch){.n = r.n,
                         .op = r.op,
                         .wide = r.wide || assay_scheme_is_wide(s),
                         .type = type,
                         .sums = true,
                         .acc = r.acc,
                         .scale = r.scale,
                         .in = r.in_scale,
                         .weight = r.weight_scale,
                         .out = r.out_scale,
                         .per_tensor = r.per_tensor,
                         .multiplier = r.multiplier,
                         .shift = r.shift,
                         .pre = r.pre,
                         .zero_point = r.zero_point,
                         .in_zero = r.in_zero_point,
                         .lo = r.lo,
                         .hi = r.hi};
    return ASSAY_OK;
}

assay_status assay_scheme_apply(const assay_scheme *s, const assay_rescales *rows, int64_t *out,
                                uint8_t *refused, assay_error *err)
{
    assay_batch b;
    const assay_status status = assay_rows_batch(s, rows, &b, err);
    return status ? status : assay_scheme_batch_apply(s, &b, out, refused, err);
}

assay_status assay_scheme_derive(const assay_scheme *s, const assay_rescales *rows,
                                 int64_t *multiplier, int64_t *shift, int64_t *pre,
                                 uint8_t *refused, assay_error *err)
{
    assay_rescales r;
    assay_elem type;
    assay_status status = ASSAY_OPTIONS_TAKE(rows, &r, err);

    if (!status && !r.scale)
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "scale is needed: the real factors that the integers encode");
    if (!status)
        status = assay_rows_type(s, r.type, &type, err);
    return status ? status
                  : assay_scheme_batch_derive(
                        s, r.op, assay_variant_of_codes(r.wide || assay_scheme_is_wide(s), type),
                        r.scale, r.n, multiplier, shift, pre, refused, err);
}
