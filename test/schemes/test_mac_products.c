/* Products with scales under schemes of matrix units beside the unit's dots and this machine's own
 * floats, as scheme.h writes them; and what is refused. An allocation fails (the linker wraps
 * malloc, test/meson.build). */
#include "test/schemes/mac_values.h"

#include "schemes/mac/scale.h"
#include "schemes/mac/scheme.h"
#include "test/support/alloc_fails.h"

enum { DEPTH = 80 };

typedef struct product {
    const char *units;
    assay_kind elements, scales;
    int64_t a_run, b_run;
    bool second, bias;
} product;

static const product products[] = {
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, DEPTH, DEPTH, false, true},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, 100, 128, true, false},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, 32, 64, false, true},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F8E8M0, 48, 16, false, false},
    {"nv-hopper-e4m3-f16", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, DEPTH, DEPTH, false, false},
    {"nv-hopper-bf16-f32", ASSAY_KIND_BF16, ASSAY_KIND_F32, DEPTH, 16, false, false},
    {"nv-hopper-tf32-f32", ASSAY_KIND_TF32, ASSAY_KIND_F32, DEPTH, DEPTH, false, true},
    {"nv-blackwell-mxf8-e4m3", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F8E8M0, 32, 64, false, true},
    {"nv-blackwell-nvf4", ASSAY_KIND_F4E2M1, ASSAY_KIND_F8E4M3FN, 16, 16, true, true},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, DEPTH, 32, false, true},
    {"nv-hopper-e4m3-f32", ASSAY_KIND_F8E4M3FN, ASSAY_KIND_F32, 24, DEPTH + 3, false, false},
};

/* Patterns of numbers that are neither large nor small. */
static int32_t pattern(test_rng *r, assay_kind k)
{
    const uint32_t sign = (uint32_t)test_between(r, 0, 1);
    switch (k) {
    case ASSAY_KIND_F8E4M3FN:
        return (int32_t)(sign << 7 | (uint32_t)test_between(r, 0x28, 0x48));
    case ASSAY_KIND_F4E2M1:
        return (int32_t)(sign << 3 | (uint32_t)test_between(r, 0, 7));
    case ASSAY_KIND_F8E8M0:
        return (int32_t)test_between(r, 120, 130);
    case ASSAY_KIND_BF16:
        return (int32_t)(sign << 15 | (uint32_t)test_between(r, 0x3e00, 0x4100));
    default:
        return (int32_t)(sign << 31 | (uint32_t)test_between(r, 0x3e000000, 0x41000000));
    }
}

static float scale_at(const assay_kind k, int32_t code)
{
    enum assay_mac_format f;
    assert_true(mac_format_of(type_of(k).elem, &f));
    return float_of(mac_to_f32(f, (uint32_t)code));
}

/* The unit's dot of elements first to last, zeros behind. */
static float unit_dot(const product *p, const assay_dot *d, size_t first, size_t last)
{
    assay_mac_unit u;
    assay_error err = {0};
    uint32_t a[2 * DEPTH] = {0}, b[2 * DEPTH] = {0}, y = 0;
    uint8_t sa[DEPTH] = {0}, sb[DEPTH] = {0};
    assert_ok(mac_open(p->units, &u, &err), &err);
    const size_t multiple = mac_multiple(&u.record), block = (size_t)u.record.scale_block;
    const size_t k = (last - first + multiple - 1) / multiple * multiple;
    const size_t size = p->elements == ASSAY_KIND_TF32 ? 4 : p->elements == ASSAY_KIND_BF16 ? 2 : 1;
    for (size_t i = first; i < last; i++) { /* little-endian */
        memcpy((char *)a + (i - first) * size, &d->a[i], size);
        memcpy((char *)b + (i - first) * size, &d->b[i], size);
    }
    for (size_t i = 0; block && i < k / block; i++) {
        const size_t at = i * block < DEPTH ? i * block : DEPTH - 1;
        sa[i] = (uint8_t)d->a_scale[at / (size_t)p->a_run];
        sb[i] = (uint8_t)d->b_scale[at / (size_t)p->b_run];
    }
    const assay_mac_rows in = {
        .k = k, .a = a, .b = b, .scale_a = block ? sa : NULL, .scale_b = block ? sb : NULL};
    assert_ok(mac_dots(&u.record, 1, &in, &y, &err), &err);
    return float_of(mac_to_f32((enum assay_mac_format)u.record.out, y));
}

static float expected_dot(const product *p, const assay_dot *d)
{
    const size_t run = (size_t)(p->a_run < p->b_run ? p->a_run : p->b_run);
    const bool in_unit = strstr(p->units, "blackwell") != NULL;
    float y = 0;
    if (in_unit)
        y = unit_dot(p, d, 0, DEPTH);
    for (size_t i = 0; !in_unit && i < DEPTH; i += run) {
        const float part = unit_dot(p, d, i, i + run < DEPTH ? i + run : DEPTH);
        const float scale = scale_at(p->scales, d->a_scale[i / (size_t)p->a_run]) *
                            scale_at(p->scales, d->b_scale[i / (size_t)p->b_run]);
        y = run >= DEPTH ? part * scale : fmaf(scale, part, y);
    }
    if (p->second)
        y = y * (float_of((uint32_t)d->a_second) * float_of((uint32_t)d->b_second));
    return p->bias ? y + float_of((uint32_t)d->bias) : y;
}

static assay_unit_spec product_spec(const product *p, assay_type in[7])
{
    const assay_kind none = ASSAY_KIND_NONE;
    in[0] = in[1] = type_of(p->elements);
    in[2] = in[3] = type_of(p->scales);
    in[4] = in[5] = type_of(p->second ? ASSAY_KIND_F32 : none);
    in[6] = type_of(p->bias ? ASSAY_KIND_F32 : none);
    assay_unit_spec spec = unit_spec("scaled_matmul", in,
                                     p->bias     ? 7
                                     : p->second ? 6
                                                 : 4,
                                     &f32_type);
    spec.depth = DEPTH;
    spec.scale_block[0] = p->a_run;
    spec.scale_block[1] = p->b_run;
    return spec;
}

static void dots(void **state)
{
    test_rng r = test_seed("products under scales", 23);
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const product *p = &products[i];
        assay_scheme *s = scheme_of(p->units, "");
        assay_type in[7];
        const assay_unit_spec spec = product_spec(p, in);
        assay_unit *u = unit_prepare(s, &spec);
        for (int k = 0; k < 20; k++) {
            int32_t a[DEPTH], b[DEPTH], sa[DEPTH], sb[DEPTH], y;
            assay_error err = {0};
            for (int j = 0; j < DEPTH; j++) {
                a[j] = pattern(&r, p->elements);
                b[j] = pattern(&r, p->elements);
                sa[j] = pattern(&r, p->scales) & 0x7fffffff;
                sb[j] = pattern(&r, p->scales) & 0x7fffffff;
            }
            const assay_dot d = {.k = DEPTH,
                                 .a = a,
                                 .b = b,
                                 .a_scale = sa,
                                 .b_scale = sb,
                                 .a_second = p->second ? 0x3fa00000 : 0x3f800000,
                                 .b_second = 0x3f800000,
                                 .bias = p->bias ? 0x3e99999a : 0};
            assert_ok(s->vt->dot(u, &d, &y, &err), &err);
            expect(p->units, (uint32_t)y, expected_dot(p, &d));
            alloc_countdown = 1;
            assert_int_equal(s->vt->dot(u, &d, &y, &err), ASSAY_ERR_MEMORY);
            assert_int_equal(alloc_countdown, 0);
        }
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* ---- refusals ---- */

static void refused(const assay_scheme *s, const assay_unit_spec *spec, const char *part)
{
    assay_error err = {0};
    assay_unit *u;
    assert_refused(s->vt->prepare(s, spec, &u, &err), &err, part);
    assert_null(u);
}

static void refusals(void **state)
{
    assay_scheme *hopper = scheme_of("nv-hopper-e4m3-f32", "");
    assay_scheme *mx = scheme_of("nv-blackwell-mxf8-e4m3", "");
    const assay_type codes = type_of(ASSAY_KIND_F8E4M3FN), i8 = type_of(ASSAY_KIND_INT);
    assay_type in[7] = {f32_type, f32_type};
    product p = products[0];
    (void)state;
    assay_unit_spec spec = unit_spec("resize", in, 1, &f32_type);
    refused(hopper, &spec, "node 'node' (resize): scheme 't': no arithmetic for this op");
    spec = unit_spec("add", in, 2, &codes);
    refused(hopper, &spec, "its inputs and output must be f32");
    in[1] = i8;
    spec = unit_spec("add", in, 2, &f32_type);
    refused(hopper, &spec, "its inputs and output must be f32");
    spec = unit_spec("float_encode", in, 2, &codes);
    refused(hopper, &spec, "expected scales of floats");
    spec = unit_spec("float_encode", in, 2, &i8);
    refused(hopper, &spec, "expected elements of small floats");
    in[0] = i8;
    spec = unit_spec("float_decode", in, 2, &f32_type);
    refused(hopper, &spec, "expected elements of small floats");
    for (int i = 0; i < 4; i++) {
        spec = product_spec(&p, in);
        in[i] = i8;
        refused(hopper, &spec, "expected floats");
    }
    spec = product_spec(&p, in);
    in[1] = type_of(ASSAY_KIND_F8E5M2);
    refused(hopper, &spec, "it has no unit for e4m3fn by e5m2");
    in[0] = in[1];
    refused(hopper, &spec, "it has no unit for e5m2 by e5m2");
    p.a_run = 32;
    p.b_run = 48;
    spec = product_spec(&p, in);
    refused(hopper, &spec, "are not nested");
    p.a_run = 48;
    p.b_run = 32;
    spec = product_spec(&p, in);
    refused(hopper, &spec, "are not nested");
    p = products[7];
    spec = product_spec(&p, in);
    in[3] = f32_type;
    refused(mx, &spec, "scales in another format");
    in[3] = in[2];
    in[2] = f32_type;
    refused(mx, &spec, "scales in another format");
    p.a_run = 16;
    spec = product_spec(&p, in);
    refused(mx, &spec, "fewer elements of K");
    p.a_run = 32;
    p.b_run = 48;
    spec = product_spec(&p, in);
    refused(mx, &spec, "fewer elements of K");
    alloc_countdown = 1;
    assay_error err = {0};
    assay_unit *u;
    assert_int_equal(mx->vt->prepare(mx, &spec, &u, &err), ASSAY_ERR_MEMORY);
    assay_scheme_free(hopper);
    assay_scheme_free(mx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dots),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
