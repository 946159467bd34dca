/* Laws of every preset's rescale, and the fast rows against the slow ones. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"
#include "schemes/record/data.h"
#include "schemes/rescale/batch.h"
#include "test/support/scheme_unit.h"

static assay_scheme *open_scheme(const char *name)
{
    assay_error err = {0};
    assay_scheme *s = NULL;
    assert_ok(assay_scheme_open(name, &s, &err), &err);
    return s;
}

/* One rescale of a scheme at scale R = s, weights and output at scale 1. */
typedef struct law_unit {
    float scale, one, out_scale;
    int32_t zero, none;
    assay_type type[2], out;
    assay_unit *unit;
    assay_scheme *scheme;
} law_unit;

static bool prepare(law_unit *l, const char *name, float scale, int32_t zero)
{
    assay_scheme_caps caps;
    assay_error err = {0};
    memset(l, 0, sizeof *l);
    l->scale = scale;
    l->one = l->out_scale = 1;
    l->zero = zero;
    l->scheme = open_scheme(name);
    assay_scheme_get_caps(l->scheme, &caps);
    l->type[0] = code_type(caps.activation_bits, caps.activation_signed, &l->scale, &l->none);
    l->type[1] = code_type(caps.weight_bits, caps.weight_signed, &l->one, &l->none);
    l->out = code_type(caps.activation_bits, caps.activation_signed, &l->out_scale, &l->zero);
    assay_unit_spec spec = unit_spec("conv", l->type, 2, &l->out);
    return l->scheme->vt->prepare(l->scheme, &spec, &l->unit, &err) == ASSAY_OK;
}

static void release(law_unit *l)
{
    if (l->unit != NULL)
        l->scheme->vt->release(l->unit);
    assay_scheme_free(l->scheme);
}

static bool wraps(const char *name)
{
    return strcmp(name, "vta") == 0; /* stores the low bits */
}

/* Inside the range that no target's 32-bit intermediates leave, codes never fall as accumulators
 * rise, and stay in the type. */
static void monotone(void **state)
{
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++) {
        static const float scales[] = {0.5f, 0.25f, 0.0078125f, 0.3f, 0.0037f, 0.99f};
        for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
            law_unit l;
            if (!prepare(&l, *name, scales[k], 0) || wraps(*name)) {
                release(&l);
                continue;
            }
            int64_t lo = assay_elem_min(l.out.elem), hi = assay_elem_max(l.out.elem);
            int32_t last = (int32_t)lo;
            for (int64_t acc = -100000; acc <= 100000; acc += 7) {
                int32_t y;
                l.scheme->vt->requantize(l.unit, &acc, 1, 0, &y);
                if (y < last || y < lo || y > hi)
                    fail_msg("%s, scale %g: %lld gives %d after %d", *name, (double)scales[k],
                             (long long)acc, y, last);
                last = y;
            }
            release(&l);
        }
    }
}

/* Scale 1 and zero point 0: a code in range is itself, one beyond saturates. */
static void identity(void **state)
{
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++) {
        law_unit l;
        if (!prepare(&l, *name, 1, 0) || wraps(*name)) {
            release(&l);
            continue;
        }
        int64_t lo = assay_elem_min(l.out.elem), hi = assay_elem_max(l.out.elem);
        for (int64_t acc = 2 * lo - 5; acc <= 2 * hi + 5; acc++) {
            int32_t y;
            l.scheme->vt->requantize(l.unit, &acc, 1, 0, &y);
            int64_t expected = acc < lo ? lo : acc > hi ? hi : acc;
            if (y != expected)
                fail_msg("%s: %lld gives %d", *name, (long long)acc, y);
        }
        release(&l);
    }
}

/* Presets of one class agree for scales that are float32. */
static void classes(void **state)
{
    (void)state;
    static const char *const members[][6] = {
        {"tflite", "cmsis-nn", "gemmlowp", "ethos-u", "tosa-double", NULL},
        {"tflite-single", "ruy", "cmsis-nn-single", "tosa-single", "tvm-qnn-upward", NULL},
        {"xnnpack-qs8", "onnxruntime", "fbgemm", "pytorch-qnnpack", NULL},
    };
    test_rng rng = test_seed("classes", 303);
    const assay_elem int8 = assay_int(8, true);
    enum { N = 4096 };
    static int64_t acc[N], first[N], other[N], zero[N];
    static double scale[N];
    for (int i = 0; i < N; i++) { /* scales of 2^-12 .. 1/2, results within twice the range */
        scale[i] =
            (double)(float)ldexp(0.5 + test_unit(&rng) / 2, (int)test_between(&rng, -11, -1));
        acc[i] = (int64_t)((test_unit(&rng) - 0.5) * 512 / scale[i]);
        zero[i] = test_between(&rng, -128, 127);
    }
    assay_batch b = {.n = N, .type = int8, .acc = acc, .scale = scale, .zero_point = zero};
    for (size_t k = 0; k < 3; k++)
        for (size_t m = 0; members[k][m] != NULL; m++) {
            assay_error err = {0};
            assay_scheme *s = open_scheme(members[k][m]);
            int64_t *out = m == 0 ? first : other;
            assert_ok(assay_scheme_batch_apply(s, &b, out, NULL, &err), &err);
            for (int i = 0; i < N && m > 0; i++)
                if (out[i] != first[i])
                    fail_msg("%s and %s differ: acc %lld, scale %.9g", members[k][0], members[k][m],
                             (long long)acc[i], scale[i]);
            assay_scheme_free(s);
        }
}

/* Public incidents: one accumulator, two honest answers. */
static void incidents(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        int64_t acc;
        double scale;
        int64_t zero, expected;
    } cases[] = {
        {"xnnpack-qs8", 585, 0.0111, -126, -120},
        {"tflite", 6028, 0.00406430103, 0, 25},
        {"tflite-single", 6028, 0.00406430103, 0, 24},
        {"xnnpack-qs8", 5, 0.1, 0, 0},
        {"xnnpack-qu8-arm", 5, 0.1, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_error err = {0};
        assay_scheme *s = open_scheme(cases[i].scheme);
        double scale = (double)(float)cases[i].scale;
        int64_t out;
        assay_batch b = {.n = 1,
                         .type = assay_int(8, true),
                         .acc = &cases[i].acc,
                         .scale = &scale,
                         .zero_point = &cases[i].zero};
        assert_ok(assay_scheme_batch_apply(s, &b, &out, NULL, &err), &err);
        assert_int_equal(out, cases[i].expected);
        assay_scheme_free(s);
    }
}

/* The 64-bit rows and the short float paths give what the general path gives: the same rule is run
 * once as chosen and once by apply_rescale_value. */
static void rows_agree(void **state)
{
    (void)state;
    test_rng rng = test_seed("rows", 404);
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++)
        for (int k = 0; k < 40; k++) {
            law_unit l;
            assay_scheme *probe = open_scheme(*name);
            bool pow2 = assay_data(probe)->base.types.power_of_two_scales != 0;
            assay_scheme_free(probe);
            double real =
                ldexp(pow2 ? 0.5 : 0.5 + test_unit(&rng) / 2, (int)test_between(&rng, -20, 3));
            if (!prepare(&l, *name, (float)real, 0)) {
                release(&l);
                continue;
            }
            const assay_rescale *r = &l.unit->scale[ASSAY_OUT];
            for (int i = 0; i < 500; i++) {
                int64_t acc = test_between(&rng, INT32_MIN, INT32_MAX);
                acc >>= test_between(&rng, 0, 31);
                if (r->rule->encoding == ASSAY_ENCODE_THRESHOLDS)
                    continue;
                int32_t slow = apply_rescale_finish(r, apply_rescale_value(r, acc, 0));
                int32_t quick = apply_rescale_one(r, acc, 0);
                if (slow != quick)
                    fail_msg("%s, scale %.9g, acc %lld: row %d, value %d", *name, real,
                             (long long)acc, quick, slow);
            }
            release(&l);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotone),  cmocka_unit_test(identity),   cmocka_unit_test(classes),
        cmocka_unit_test(incidents), cmocka_unit_test(rows_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
