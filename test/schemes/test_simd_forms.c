/* Vector forms of additions, conversions from floats and interpolations against the plain rows of
 * the same unit: records whose fields are drawn together, codes of several types, by every
 * instruction set that the machine has. Those of rescales: test_simd.c, of codes: test_codes.c. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "graph/core/attr.h"
#include "graph/core/type.h"
#include "interp/fast/isa.h"
#include "test/support/random_scheme.h"
#include "test/support/record_case.h"
#include "test/support/scheme_unit.h"

enum { DRAWN = 3000, N = 203 };

static const assay_elem types[] = {{ASSAY_KIND_INT, 8, true},
                                   {ASSAY_KIND_INT, 8, false},
                                   {ASSAY_KIND_INT, 4, true},
                                   {ASSAY_KIND_INT, 6, false}};

static bool has(enum assay_isa isa)
{
    static const char *const names[] = {"portable", "avx2", "vnni"};
    const assay_isa_kernels *k;
    return fast_isa_choose(names[isa], &k, NULL) == ASSAY_OK;
}

static assay_field_value draw_value(test_rng *r, const assay_field *f)
{
    assay_field_value v = test_random_choice(r, f, 2);
    if (f->kind == ASSAY_FIELD_INT)
        v.number = (int32_t)test_between(r, f->min, f->max < 64 ? f->max : 64);
    return v;
}

/* A third of the fields of two sections; NULL: they make no sense together. */
static assay_scheme *draw_scheme(test_rng *r, const char *section, const char *other)
{
    size_t n;
    const assay_field *f = assay_record_fields(&n);
    assay_record d;
    assay_record_default(&d);
    for (size_t i = 0; i < n; i++)
        if ((strcmp(f[i].section, section) == 0 || strcmp(f[i].section, other) == 0) &&
            test_between(r, 0, 2) == 0)
            assay_record_set(&d, &f[i], draw_value(r, &f[i]));
    return record_makes_sense(&d) ? record_scheme(&d) : NULL;
}

/* Codes of one of the types, with a scale of their own. */
typedef struct codes {
    assay_type type;
    float scale;
    int32_t zero;
} codes;

static void draw_codes(test_rng *r, codes *c)
{
    const assay_elem e = types[test_between(r, 0, 3)];
    c->scale =
        (float)ldexp(test_between(r, 0, 2) ? 1 + test_unit(r) : 1, (int)test_between(r, -6, 6));
    c->zero = (int32_t)test_between(r, assay_elem_min(e), assay_elem_max(e));
    c->type = code_type(e.bits, e.is_signed, &c->scale, &c->zero);
}

static int32_t draw_code(test_rng *r, const assay_type *t)
{
    return (int32_t)test_between(r, assay_elem_min(t->elem), assay_elem_max(t->elem));
}

static void same(const uint8_t got[N + 1], const int32_t want[N], const char *what,
                 enum assay_isa isa, int record)
{
    for (int i = 0; i < N; i++)
        if (got[i] != (uint8_t)want[i])
            fail_msg("%s, record %d, instruction set %d: element %d: row %d, vectors %d", what,
                     record, (int)isa, i, (uint8_t)want[i], got[i]);
    assert_int_equal(got[N], 0x5a);
}

/* ---- additions ---- */

static bool add(const assay_scheme *s, test_rng *r, int record)
{
    codes c[3];
    for (int i = 0; i < 3; i++)
        draw_codes(r, &c[i]);
    const assay_type in[2] = {c[0].type, c[1].type};
    assay_unit_spec spec = unit_spec(test_between(r, 0, 1) ? "add" : "sub", in, 2, &c[2].type);
    if (test_between(r, 0, 2) == 0)
        spec.act_lo = 0;
    assay_unit *u;
    if (s->vt->prepare(s, &spec, &u, NULL) != ASSAY_OK)
        return false;
    bool found = false;
    for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_VNNI; isa++) {
        const assay_pair_fn pair = has(isa) ? s->vt->simd->pair(u, isa) : NULL;
        int32_t a[N], b[N], want[N];
        uint8_t x[N], y[N], got[N + 1];
        for (int i = 0; i < N; i++) {
            a[i] = draw_code(r, &in[0]);
            b[i] = draw_code(r, &in[1]);
            x[i] = (uint8_t)a[i];
            y[i] = (uint8_t)b[i];
        }
        if (!pair)
            continue;
        found = true;
        memset(got, 0x5a, sizeof got);
        s->vt->binary(u, a, b, N, want);
        pair(u, x, in[0].elem.is_signed, y, in[1].elem.is_signed, N, got);
        same(got, want, "addition", isa, record);
    }
    s->vt->release(u);
    return found;
}

/* ---- floats to codes ---- */

static float draw_float(test_rng *r, const codes *c)
{
    static const float ends[] = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F, 3e38F, -3e38F, 1e-45F};
    const float halves = (float)test_between(r, -600, 600) * 0.5F;
    switch (test_between(r, 0, 3)) {
    case 0:
        return ends[test_between(r, 0, 7)];
    case 1:
        return halves * c->scale;
    case 2: /* beside a boundary */
        return nextafterf(halves * c->scale, test_between(r, 0, 1) ? INFINITY : -INFINITY);
    default:
        return (float)(test_unit(r) * 600 - 300) * c->scale;
    }
}

static bool encode(const assay_scheme *s, test_rng *r, int record)
{
    const assay_type in = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};
    codes c;
    draw_codes(r, &c);
    const assay_unit_spec spec = unit_spec("quantize", &in, 1, &c.type);
    assay_unit *u;
    if (s->vt->prepare(s, &spec, &u, NULL) != ASSAY_OK)
        return false;
    bool found = false;
    for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_VNNI; isa++) {
        const assay_encode_fn form = has(isa) ? s->vt->simd->encode(u, isa) : NULL;
        float x[N];
        uint32_t bits[N];
        int32_t want[N];
        uint8_t got[N + 1];
        for (int i = 0; i < N; i++)
            x[i] = draw_float(r, &c);
        if (!form)
            continue;
        found = true;
        memset(got, 0x5a, sizeof got);
        memcpy(bits, x, sizeof bits);
        s->vt->quantize(u, bits, N, 0, want);
        form(u, x, N, got);
        same(got, want, "conversion", isa, record);
    }
    s->vt->release(u);
    return found;
}

/* ---- interpolations ---- */

/* Four corners and where between them, and their sum. */
static void draw_corners(test_rng *r, const assay_type *t, int32_t bits, int32_t corner[4],
                         int32_t *fy, int32_t *fx, int64_t *sum)
{
    const int64_t one = INT64_C(1) << bits;
    *fy = (int32_t)test_between(r, 0, one - 1);
    *fx = test_between(r, 0, 2) ? (int32_t)test_between(r, 0, one - 1) : (int32_t)(one / 2);
    *sum = 0;
    for (int i = 0; i < 4; i++) {
        corner[i] = draw_code(r, t);
        *sum += corner[i] * (i / 2 ? *fy : one - *fy) * (i % 2 ? *fx : one - *fx);
    }
}

static bool interpolate(const assay_scheme *s, test_rng *r, int record)
{
    codes c;
    draw_codes(r, &c);
    assay_unit_spec spec = unit_spec("resize", &c.type, 1, &c.type);
    spec.flag = ASSAY_RESIZE_LINEAR;
    spec.depth = 0; /* axes that no kernel interpolates */
    assay_unit *u;
    if (s->vt->prepare(s, &spec, &u, NULL) != ASSAY_OK)
        return false;
    bool found = false;
    for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_VNNI; isa++) {
        const assay_interpolate_fn form = has(isa) ? s->vt->simd->interpolate(u, isa) : NULL;
        int32_t corner[4 * N], fy[N], fx[N], want[N], bits = 10;
        int64_t sum[N];
        uint8_t got[N + 1];
        if (!form)
            continue;
        found = true;
        memset(got, 0x5a, sizeof got);
        s->vt->interpolate(u, NULL, NULL, NULL, 0, &bits);
        for (int i = 0; i < N; i++)
            draw_corners(r, &c.type, bits, &corner[4 * i], &fy[i], &fx[i], &sum[i]);
        s->vt->interpolate(u, corner, fy, fx, N, want);
        form(u, sum, N, 1, got);
        same(got, want, "interpolation", isa, record);
    }
    s->vt->release(u);
    return found;
}

/* ---- all ---- */

/* first: the least instruction set that has such forms. */
static void run(const char *section, const char *other,
                bool (*one)(const assay_scheme *, test_rng *, int), enum assay_isa first)
{
    test_rng r = test_seed(section, 7);
    int schemes = 0, found = 0;
    for (int k = 0; k < DRAWN; k++) {
        assay_scheme *s = draw_scheme(&r, section, other);
        for (int i = 0; s && i < 3; i++)
            found += one(s, &r, k);
        schemes += s != NULL;
        assay_scheme_free(s);
    }
    print_message("# %s: %d of %d units have a vector form\n", section, found, 3 * schemes);
    assert_true(found > 0 || !has(first));
}

static void additions(void **state)
{
    (void)state;
    run("add", "rescale", add, ASSAY_ISA_VNNI);
}

static void conversions(void **state)
{
    (void)state;
    run("convert", "rescale", encode, ASSAY_ISA_PORTABLE);
}

static void interpolations(void **state)
{
    (void)state;
    run("resize", "rescale", interpolate, ASSAY_ISA_PORTABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(additions), cmocka_unit_test(conversions),
                                       cmocka_unit_test(interpolations)};
    return cmocka_run_group_tests_name("simd_forms", tests, NULL, NULL);
}
