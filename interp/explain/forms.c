/* Steps of averages, of sums of two operands, of clamps, and between four corners. */
#include "interp/explain/forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/kernel/window.h"
#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"
#include "schemes/apply/tail.h"
#include "schemes/explain/explain.h"

/* ---- averages ---- */

static int64_t centred(const assay_unit *u, const explain_seen *s)
{
    return s->acc - s->count * u->in_zero[0];
}

static int64_t say_reciprocal(explain_trace *t, int64_t v, int64_t d)
{
    unsigned shift;
    const int64_t m = apply_reciprocal(d, &shift);
    explain_say(t, "reciprocal", "1 / %" PRId64 " as %" PRId64 " / 2^%u", d, m, shift);
    explain_say(t, "product", "%" PRId64 " * %" PRId64 " = %" PRId64, v, m, v * m);
    return explain_say_shift(t, "rounding 1", v * m, shift, ASSAY_ROUND_HALF_UP);
}

static int64_t say_two_stages(explain_trace *t, const assay_unit *u, int64_t v)
{
    static const char *const names[] = {"columns", "rows"};
    static const char *const rounds[] = {"rounding 1", "rounding 2"};
    for (int i = 0; i < 2; i++) {
        const int64_t cells = u->sides[1 - i], m = 65536 / cells;
        explain_say(t, names[i], "%" PRId64 " * %" PRId64 " = %" PRId64 " (65536 / %" PRId64 ")", v,
                    m, v * m, cells);
        v = explain_say_shift(t, rounds[i], v * m, 16, ASSAY_ROUND_HALF_AWAY);
    }
    return v;
}

bool explain_pool_form(explain_trace *t, const assay_unit *u, const explain_seen *s, bool *rescaled)
{
    const enum assay_rounding mode = (enum assay_rounding)u->rec.pool.round;
    int64_t v;
    *rescaled = false;
    if (s->count <= 0)
        return false;
    if (u->pool == apply_pool_divide && u->rec.pool.keep_zero_point) {
        v = explain_say_quotient(t, s->acc, s->count, mode);
        if (u->k[0])
            return explain_say_store(t, u, v, s);
    } else if (u->pool == apply_pool_divide) {
        v = explain_say_quotient(t, centred(u, s), s->count, mode);
    } else if (u->pool == apply_pool_reciprocal) {
        v = say_reciprocal(t, centred(u, s), s->count);
    } else if (u->pool == apply_pool_two_stage) {
        v = say_two_stages(t, u, centred(u, s));
    } else if (u->pool == apply_pool_dpu && u->k[2] + u->k[3] >= 0) {
        explain_say(t, "product", "%" PRId64 " * %" PRId64 " = %" PRId64, centred(u, s), u->k[1],
                    centred(u, s) * u->k[1]);
        v = explain_say_shift(t, "rounding 1", centred(u, s) * u->k[1],
                              (unsigned)(u->k[2] + u->k[3]), mode);
        return explain_say_end(t, u, v, s);
    } else {
        return false;
    }
    *rescaled = !u->k[0];
    return *rescaled || explain_say_end(t, u, v, s);
}

/* Values of a window in floats, added in its order. */
bool explain_window_form(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    const enum assay_rounding mode = (enum assay_rounding)u->rec.pool.round;
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    uint32_t sum = 0;
    if (u->window != apply_window_float_sum || s->count <= 0)
        return false;
    for (size_t i = 0; i < s->n_row; i++)
        sum = apply_f32_add(sum, (uint32_t)u->table[s->row[i] - u->table_min]);
    const uint32_t mean = apply_f32_div(sum, apply_f32_from_i32(s->count));
    const uint32_t scaled = apply_f32_div(mean, (uint32_t)u->k[0]);
    const uint32_t f = apply_f32_add(scaled, apply_f32_from_i32((int32_t)o->zero_point));
    const int64_t v = apply_f32_to_int(f, mode, INT32_MIN, apply_float_max(o), INT32_MIN);
    explain_say(t, "sum of reals", "%.9g (0x%08" PRIx32 "), in float32", explain_real(sum), sum);
    explain_say(t, "divided", "%.9g / %d = %.9g (0x%08" PRIx32 ")", explain_real(sum), s->count,
                explain_real(mean), mean);
    explain_say(t, "divided by out scale", "%.9g / %.9g = %.9g (0x%08" PRIx32 ")",
                explain_real(mean), explain_real((uint32_t)u->k[0]), explain_real(scaled), scaled);
    explain_say(t, "plus zero point", "+ %" PRId64 " = %.9g (0x%08" PRIx32 ")", o->zero_point,
                explain_real(f), f);
    explain_say(t, "rounded", "%" PRId64 ", %s", v, assay_rounding_name(mode));
    return explain_say_store(t, u, v, s);
}

/* ---- sums of two operands ---- */

static bool say_common_exponent(explain_trace *t, const assay_unit *u, const explain_seen *s,
                                int64_t a, int64_t b)
{
    const int64_t p = a * u->k[0], q = b * u->k[1], sum = apply_wrap(p + q, 32);
    explain_say(t, "first product", "%" PRId64 " * %" PRId64 " = %" PRId64, a, u->k[0], p);
    explain_say(t, "second product", "%" PRId64 " * %" PRId64 " = %" PRId64, b, u->k[1], q);
    explain_say(t, "sum", "%" PRId64, sum);
    return explain_say_end(t, u,
                           explain_say_shift(t, "rounding 1", sum, (unsigned)u->k[2],
                                             (enum assay_rounding)u->rec.add.round),
                           s);
}

static bool say_aligned(explain_trace *t, const assay_unit *u, const explain_seen *s, int64_t a,
                        int64_t b)
{
    const enum assay_rounding align = (enum assay_rounding)u->rec.add.align_round;
    const int64_t guard = INT64_C(1) << u->k[2];
    if (u->k[3] < 0 || u->subtract)
        return false;
    const int64_t x = explain_say_shift(t, "first operand", a * guard, (unsigned)u->k[0], align);
    const int64_t y = explain_say_shift(t, "second operand", b * guard, (unsigned)u->k[1], align);
    explain_say(t, "sum", "%" PRId64, x + y);
    return explain_say_end(t, u,
                           explain_say_shift(t, "rounding 1", x + y, (unsigned)u->k[3],
                                             (enum assay_rounding)u->rec.add.round),
                           s);
}

/* MLAS: raw codes times their ratios, and the zero points in one number. */
static bool say_float_scaled(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    const enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const uint32_t x = apply_f32_from_i32(s->in[0]), y = apply_f32_from_i32(s->in[1]);
    const uint32_t r[2] = {(uint32_t)u->k[0], (uint32_t)u->k[1]};
    const int last = u->rec.add.fused && !u->k[3] ? 0 : 1;
    const uint32_t z = (uint32_t)u->k[2], in[2] = {x, y};
    uint32_t f = z;
    explain_say(t, "zero points", "%.9g (0x%08" PRIx32 ")", explain_real(z), z);
    for (int i = 0; i < 2; i++) {
        const int which = i == 1 ? last : 1 - last;
        f = u->rec.add.fused ? apply_f32_fma(in[which], r[which], f)
                             : apply_f32_add(f, apply_f32_mul(in[which], r[which]));
        explain_say(t, which ? "plus second" : "plus first",
                    "+ %d * %.9g = %.9g (0x%08" PRIx32 ")%s", s->in[which], explain_real(r[which]),
                    explain_real(f), f, u->rec.add.fused ? ", fused" : "");
    }
    const int64_t v = apply_f32_to_int(f, mode, INT64_MIN, INT64_MAX, INT64_MIN);
    explain_say(t, "rounded", "%" PRId64 ", %s", v, assay_rounding_name(mode));
    return explain_say_store(t, u, v, s);
}

/* Each operand brought to the output's scale and rounded there. */
static bool say_separate(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    static const char *const names[] = {"first operand", "second operand"};
    int64_t to[2];
    for (int i = 0; i < 2; i++) {
        const assay_rescale *r = &u->scale[i == 0 ? ASSAY_FIRST : ASSAY_SECOND];
        const int64_t x = s->in[i] - u->in_zero[i];
        char by[64] = "";
        to[i] = (int64_t)apply_rescale_value(r, x, 0);
        if (r->multiplier && r->shift)
            snprintf(by, sizeof by, " by %" PRId64 " / 2^%" PRId64, r->multiplier[0], r->shift[0]);
        explain_say(t, names[i], "%d - %" PRId64 " = %" PRId64 ", rescaled%s: %" PRId64, s->in[i],
                    u->in_zero[i], x, by, to[i]);
    }
    const int64_t sum = u->subtract ? to[0] - to[1] : to[0] + to[1];
    explain_say(t, u->subtract ? "difference" : "sum", "%" PRId64, sum);
    return explain_say_end(t, u, sum, s);
}

/* In floats, of codes without their zero points: by both scales and the output's (real), or each by
 * its ratio. */
static bool say_floats(explain_trace *t, const assay_unit *u, const explain_seen *s, bool is_real)
{
    static const char *const names[] = {"first operand", "second operand"};
    const enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const bool inside = u->rec.add.zero_point == ASSAY_ZERO_INSIDE;
    uint32_t x[2];
    for (int i = 0; i < 2; i++) {
        x[i] = apply_f32_mul(apply_f32_from_i64(s->in[i] - u->in_zero[i]), (uint32_t)u->k[i]);
        explain_say(t, names[i], "%" PRId64 " * %.9g = %.9g (0x%08" PRIx32 ")",
                    s->in[i] - u->in_zero[i], explain_real((uint32_t)u->k[i]), explain_real(x[i]),
                    x[i]);
    }
    uint32_t f = u->subtract ? apply_f32_sub(x[0], x[1]) : apply_f32_add(x[0], x[1]);
    explain_say(t, u->subtract ? "difference" : "sum", "%.9g (0x%08" PRIx32 ")", explain_real(f),
                f);
    if (is_real) {
        f = apply_f32_div(f, (uint32_t)u->k[2]);
        explain_say(t, "divided by out scale", "/ %.9g = %.9g (0x%08" PRIx32 ")",
                    explain_real((uint32_t)u->k[2]), explain_real(f), f);
    }
    if (inside) {
        f = apply_f32_add(f, apply_f32_from_i32((int32_t)o->zero_point));
        explain_say(t, "plus zero point", "+ %" PRId64 " = %.9g (0x%08" PRIx32 ")", o->zero_point,
                    explain_real(f), f);
    }
    const int64_t v =
        apply_f32_to_int(f, mode, INT32_MIN, apply_float_max(o), inside ? o->zero_point : 0);
    explain_say(t, "rounded", "%" PRId64 ", %s", v, assay_rounding_name(mode));
    return inside ? explain_say_store(t, u, v, s) : explain_say_end(t, u, v, s);
}

/* Both operands at one fixed scale, each rounded there. */
static bool say_fixed_scale(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    static const char *const names[] = {"first operand", "second operand"};
    const enum assay_rounding mode = (enum assay_rounding)u->rec.add.round;
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    int64_t to[2];
    for (int i = 0; i < 2; i++) {
        const int64_t x = s->in[i] - u->in_zero[i];
        const uint32_t f = apply_f32_mul(apply_f32_from_i64(x), (uint32_t)u->k[i]);
        to[i] = apply_f32_to_int(f, mode, INT32_MIN, INT32_MAX, 0);
        explain_say(t, names[i], "%" PRId64 " * %.9g = %.9g (0x%08" PRIx32 ") -> %" PRId64 ", %s",
                    x, explain_real((uint32_t)u->k[i]), explain_real(f), f, to[i],
                    assay_rounding_name(mode));
    }
    const int64_t sum = apply_wrap(u->subtract ? to[0] - to[1] : to[0] + to[1], 32);
    uint32_t f = apply_f32_mul(apply_f32_from_i64(sum), (uint32_t)u->k[2]);
    explain_say(t, u->subtract ? "difference" : "sum",
                "%" PRId64 " * %.9g = %.9g (0x%08" PRIx32 ")", sum, explain_real((uint32_t)u->k[2]),
                explain_real(f), f);
    f = apply_f32_add(f, apply_f32_from_i32((int32_t)o->zero_point));
    const int64_t v = apply_f32_to_int(f, mode, INT32_MIN, apply_float_max(o), 0);
    explain_say(t, "plus zero point", "+ %" PRId64 " = %.9g (0x%08" PRIx32 ")", o->zero_point,
                explain_real(f), f);
    explain_say(t, "rounded", "%" PRId64 ", %s", v, assay_rounding_name(mode));
    return explain_say_store(t, u, v, s);
}

bool explain_add_form(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    const int64_t a = s->in[0] - u->in_zero[0];
    const int64_t b = u->subtract ? u->in_zero[1] - s->in[1] : s->in[1] - u->in_zero[1];
    if (u->binary == apply_add_common_exponent)
        return say_common_exponent(t, u, s, a, b);
    if (u->binary == apply_add_align)
        return say_aligned(t, u, s, a, b);
    if (u->binary == apply_add_float_scaled)
        return say_float_scaled(t, u, s);
    if (u->binary == apply_add_separate)
        return say_separate(t, u, s);
    if (u->binary == apply_add_fixed_scale)
        return say_fixed_scale(t, u, s);
    if (u->binary == apply_add_float_real || u->binary == apply_add_float_ratio)
        return say_floats(t, u, s, u->binary == apply_add_float_real);
    if (u->binary != apply_add_plain)
        return false;
    explain_say(t, u->subtract ? "difference" : "sum", "%" PRId64 " + %" PRId64 " = %" PRId64, a, b,
                a + b);
    return explain_say_end(t, u, a + b, s);
}

/* ---- one operand ---- */

void explain_window_codes(explain_trace *t, const assay_graph *g, const assay_node *n,
                          const void *in, int64_t element)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    assay_window w;
    char text[400] = "";
    size_t used = 0;
    kernel_window_of_pool(&w, &n->attr.pool, x, y);
    const assay_strides s = kernel_strides_in(&w);
    const int64_t image = element / (w.out_area * w.in_channels);
    const int64_t rest = element % (w.out_area * w.in_channels);
    const int64_t c = w.nhwc ? rest % w.in_channels : rest / w.out_area;
    const int64_t p = w.nhwc ? rest / w.in_channels : rest % w.out_area;
    const int64_t out[3] = {p / w.out[2] / w.out[1], p / w.out[2] % w.out[1], p % w.out[2]};
    for (int64_t j = 0; j < w.taps && used + 16 < sizeof text; j++) {
        const int64_t tap[3] = {j / w.kernel[2] / w.kernel[1], j / w.kernel[2] % w.kernel[1],
                                j % w.kernel[2]};
        int64_t cell = 0;
        bool inside = true;
        for (int d = 0; d < ASSAY_SPATIAL; d++) {
            const int64_t at = out[d] * w.stride[d] + tap[d] * w.dilation[d] - w.pad[d];
            inside = inside && at >= 0 && at < w.in[d];
            cell = cell * w.in[d] + at;
        }
        if (inside)
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%" PRId64, used ? " " : "",
                assay_elem_get(x->elem, in,
                               (size_t)(image * s.image + c * s.channel + cell * s.cell)));
    }
    explain_say(t, "codes of the window", "%s%s; the greatest is taken", text,
                used + 16 < sizeof text ? "" : " ...");
}

bool explain_clamp_form(explain_trace *t, const assay_unit *u, const explain_seen *s)
{
    return u->unary == apply_clamp && explain_say_store(t, u, s->in[0], s);
}

/* ---- four corners ---- */

bool explain_corner_form(explain_trace *t, const assay_unit *u, const explain_seen *s,
                         bool *rescaled)
{
    *rescaled = false;
    if (u->interpolate != apply_interpolate || s->n_row != 4)
        return false;
    const unsigned bits = (unsigned)u->k[1];
    const int64_t one = INT64_C(1) << bits, y = s->in[0], x = s->in[1];
    const int64_t w[4] = {(one - y) * (one - x), (one - y) * x, y * (one - x), y * x};
    int64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += w[i] * s->row[i];
        explain_say(t, "corner", "%d * %" PRId64 " = %" PRId64 "; sum %" PRId64, s->row[i], w[i],
                    w[i] * s->row[i], sum);
    }
    const int64_t v =
        explain_say_shift(t, "rounding 1", sum, 2 * bits, (enum assay_rounding)u->rec.resize.round);
    *rescaled = !u->k[0];
    return *rescaled || explain_say_store(t, u, v, s);
}
