/* Layer normalization at its edges: absent gamma and beta, one rounding, what is refused. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "test/support/scheme_unit.h"

enum { N = 12, SHIFT = 10 };

typedef struct layer {
    assay_scheme *scheme;
    assay_type in[3], out;
    float scale[4];
    int32_t zero[4];
    assay_unit_spec spec;
} layer;

static void open_layer(layer *l, const char *record)
{
    char text[300];
    assay_error err = {0};
    *l = (layer){.scale = {0.05f, 1.0f / (1 << SHIFT), 1.0f / (1 << 20), 0.03f},
                 .zero = {3, 0, 0, -7}};
    for (int i = 0; i < 4; i++) {
        assay_type t = code_type(i == 0 || i == 3 ? 8
                                 : i == 1         ? 16
                                                  : 32,
                                 true, &l->scale[i], &l->zero[i]);
        t.dim[0] = N;
        if (i < 3)
            l->in[i] = t;
        else
            l->out = t;
    }
    l->spec = unit_spec("layer_norm", l->in, 3, &l->out);
    l->spec.depth = N;
    l->spec.epsilon = 1e-5;
    snprintf(text, sizeof text, "scheme: t\n%s", record);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &l->scheme, &err), &err);
}

static void run(layer *l, const int32_t x[3 * N], int32_t y[N])
{
    assay_error err = {0};
    assay_unit *u;
    assert_ok(l->scheme->vt->prepare(l->scheme, &l->spec, &u, &err), &err);
    l->scheme->vt->row(u, x, N, y);
    l->scheme->vt->release(u);
}

#define SQRT "softmax: {layer_norm: integer-sqrt, layer_norm_shift: 10, layer_norm_fraction: 10}\n"
#define NEWTON                                                                                     \
    "softmax: {layer_norm: newton-inverse-sqrt, layer_norm_shift: 10, layer_norm_fraction: 10}\n"

static const char *const kinds[] = {SQRT, NEWTON,
                                    NEWTON "rescale: {round: [half-up], left_shift: product}\n"};

/* Without gamma all are 1, without beta all are 0; an operand of one element serves them all. All
 * within a step of the real function. */
static void absent(void **state)
{
    (void)state;
    test_rng rng = test_seed("absent", 8);
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); k++) {
        layer l;
        open_layer(&l, kinds[k]);
        for (int i = 0; i < 200; i++) {
            int32_t x[3 * N], y[4][N];
            double mean = 0, variance = 0;
            for (int j = 0; j < N; j++) {
                x[j] = (int32_t)test_between(&rng, -128, 127);
                x[N + j] = 1 << SHIFT; /* gamma 1 */
                x[2 * N + j] = 0;
                mean += x[j] / (double)N;
            }
            for (int j = 0; j < N; j++)
                variance += (x[j] - mean) * (x[j] - mean) / (double)N;
            l.spec.n_in = 3;
            run(&l, x, y[0]);
            l.spec.n_in = 2;
            run(&l, x, y[1]);
            l.spec.n_in = 1;
            run(&l, x, y[2]);
            l.spec.n_in = 3;
            const assay_type kept[2] = {l.in[1], l.in[2]};
            l.in[1] = l.in[2] = (assay_type){.rank = 0};
            run(&l, x, y[3]);
            l.in[1] = kept[0];
            l.in[2] = kept[1];
            for (int j = 0; j < N; j++) {
                double want = (x[j] - mean) / sqrt(variance) / (double)l.scale[3] + l.zero[3];
                want = fmin(fmax(want, -128), 127);
                if (!(fabs(y[0][j] - want) <= 1.5))
                    fail_msg("%s element %d: %d, expected %g", kinds[k], j, y[0][j], want);
                for (int other = 1; other < 4; other++)
                    assert_int_equal(y[other][j], y[0][j]);
            }
        }
        assay_scheme_free(l.scheme);
    }
}

static void refused(const layer *l, const char *message)
{
    char expected[300];
    assay_error err = {0};
    assay_unit *u;
    assert_int_equal(l->scheme->vt->prepare(l->scheme, &l->spec, &u, &err), ASSAY_ERR_SCHEME);
    snprintf(expected, sizeof expected, "scheme t, node node (layer_norm): %s", message);
    assert_string_equal(err.text, expected);
}

static void refusals(void **state)
{
    (void)state;
    const float infinite = INFINITY, none = 0, two[2] = {1, 1};
    const int32_t zeros[2] = {0, 0};
    layer l;
    open_layer(&l, "");
    refused(&l, "the target has no integer form of layer normalization");
    assay_scheme_free(l.scheme);

    open_layer(&l, SQRT);
    const layer good = l;
#define RESTORE() (memcpy(l.in, good.in, sizeof l.in), l.out = good.out, l.spec.depth = N)
    l.in[1].q.granularity = ASSAY_Q_NONE;
    refused(&l, "gamma is not codes with one scale above 0");
    RESTORE();
    l.in[2].q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 2, two, zeros};
    refused(&l, "beta is not codes with one scale above 0");
    RESTORE();
    l.in[1].q.scale = &infinite;
    refused(&l, "gamma is not codes with one scale above 0");
    l.in[1].q.scale = &none;
    refused(&l, "gamma is not codes with one scale above 0");
    RESTORE();
    l.in[2].elem.bits = 64;
    refused(&l, "beta has 64 bits; expected at most 32");
    RESTORE();
    l.in[1].dim[0] = N + 1;
    refused(&l, "gamma has 13 elements; expected 1 or 12");
    RESTORE();
    l.in[0].elem.bits = 17;
    refused(&l, "needs codes of at most 16 bits and rows of at most 1048576");
    RESTORE();
    l.spec.depth = (1 << 20) + 1;
    l.spec.n_in = 1;
    refused(&l, "needs codes of at most 16 bits and rows of at most 1048576");
    RESTORE();
    l.spec.n_in = 3;
    l.spec.epsilon = -1;
    refused(&l, "epsilon -1 is out of reach at input scale 0.05");
    l.spec.epsilon = 1e30;
    refused(&l, "epsilon 1e+30 is out of reach at input scale 0.05");
    l.spec.epsilon = 1e-5;
    l.spec.act_lo = 1000;
    refused(&l, "the fused activation [1000, inf] leaves no code of the output");
    assay_scheme_free(l.scheme);

    open_layer(&l, "softmax: {layer_norm: newton-inverse-sqrt, layer_norm_fraction: 13}\n");
    refused(&l, "layer_norm_fraction 13; newton-inverse-sqrt has at most 12");
    assay_scheme_free(l.scheme);
    open_layer(&l, SQRT "rescale: {beyond_shift_max: refuse}\n");
    l.scale[2] = 1e-30f;
    refused(&l, "scale 1.048576e-24 needs a right shift of 110, beyond shift_max 62");
    assay_scheme_free(l.scheme);
}

/* The narrowest input register that holds all that rows can bring to a rescale: the greatest |z|
 * (sqrt(11) deviations with 10 fraction bits, what the root is cut by and a rounding, or a
 * difference of codes at a deviation of 1) times gamma, plus beta, over 2^10. */
static void registers(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        bool gamma, beta;
        unsigned beta_bits;
        float beta_scale; /* 2^-20 is gamma's over 2^10 */
        int bits;
        const char *message;
    } list[] = {
        {SQRT, false, false, 16, 0x1p-20F, 13, "normalized * gamma + beta can reach 3401, "},
        {SQRT, true, false, 16, 0x1p-20F, 18, "normalized * gamma + beta can reach 108832, "},
        {SQRT, true, true, 16, 0x1p-22F, 18, "normalized * gamma + beta can reach 108840, "},
        {NEWTON, false, false, 16, 0x1p-20F, 19, "a code less the mean can reach 261120, "},
        {NEWTON, true, false, 16, 0x1p-20F, 24, "normalized * gamma + beta can reach 8355840, "},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int more = 0; more < 2; more++) {
            char record[200], message[300];
            layer l;
            assay_error err = {0};
            assay_unit *u;
            snprintf(record, sizeof record, "%srescale: {input_bits: %d}\n", list[i].kind,
                     list[i].bits - !more);
            open_layer(&l, record);
            l.scale[2] = list[i].beta_scale;
            l.in[2].elem.bits = (uint8_t)list[i].beta_bits;
            if (!list[i].beta)
                l.in[2] = (assay_type){.rank = 0};
            if (!list[i].gamma)
                l.in[1] = (assay_type){.rank = 0};
            snprintf(message, sizeof message,
                     "%sand the rescale refuses some of these values (rescale.input_bits, "
                     "input_shift_range, "
                     "result_overflow or sum_overflow)",
                     list[i].message);
            if (more) {
                assert_ok(l.scheme->vt->prepare(l.scheme, &l.spec, &u, &err), &err);
                l.scheme->vt->release(u);
            } else {
                refused(&l, message);
            }
            assay_scheme_free(l.scheme);
        }
}

/* Newton's rescale rounds as the record says, whatever the mode. */
static void modes(void **state)
{
    static const struct {
        const char *mode;
        int32_t z[2]; /* of -2 and 2, six of each, whose variance is cut to 3: 1182.41 */
    } list[] = {{"half-up", {-1182, 1182}},
                {"floor", {-1183, 1182}},
                {"ceil", {-1182, 1183}},
                {"trunc", {-1182, 1182}}};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char record[300];
        layer l;
        int32_t x[3 * N], y[N];
        snprintf(record, sizeof record, NEWTON "rescale: {round: [%s], left_shift: product}\n",
                 list[i].mode);
        open_layer(&l, record);
        l.scale[3] = 1.0F / 1024; /* codes of z */
        l.out.elem.bits = 16;
        l.spec.n_in = 1;
        for (int j = 0; j < N; j++)
            x[j] = j % 2 ? 2 : -2;
        run(&l, x, y);
        for (int j = 0; j < N; j++)
            if (y[j] - l.zero[3] != list[i].z[j % 2])
                fail_msg("%s: element %d is %d, expected %d", list[i].mode, j, y[j] - l.zero[3],
                         list[i].z[j % 2]);
        assay_scheme_free(l.scheme);
    }
    layer l;
    open_layer(&l, NEWTON "rescale: {encoding: float32, round: [half-even]}\n");
    refused(&l, "its fixed-point form needs rescale.encoding: multiplier and no pre-shift");
    assay_scheme_free(l.scheme);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(absent), cmocka_unit_test(refusals),
                                       cmocka_unit_test(registers), cmocka_unit_test(modes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
