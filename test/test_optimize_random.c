/* Random networks: the same bits before and after. */
#include "test/rewrite_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct live {
    char name[12], type[12];
    double scale;
    int zero, channels, side;
} live;

typedef struct growing {
    test_rng *r;
    assay_buf text;
    live value[64];
    int n;
} growing;

static int upto(growing *w, int n)
{
    return (int)test_between(w->r, 0, n);
}

static live *any(growing *w)
{
    return &w->value[upto(w, w->n - 1)];
}

static void print_type(growing *w, const live *v)
{
    assay_buf_printf(&w->text, "%s: %s[1,%d,%d,%d] q(%.9g,%d)", v->name, v->type, v->channels,
                     v->side, v->side, v->scale, v->zero);
}

/* Parameters near those of others, so that some rewrites are exact. */
static void draw_params(growing *w, live *v)
{
    const double scales[] = {0.0625, 0.1, 0.125, 0.2, 0.25};
    bool is_unsigned = upto(w, 3) == 0;
    strcpy(v->type, is_unsigned ? "u8" : "i8");
    v->scale = scales[upto(w, 4)];
    v->zero =
        upto(w, 1) ? (is_unsigned ? 128 : 0) : (int)test_between(w->r, is_unsigned ? 0 : -20, 20);
}

/* A new value like v, declared by what follows; it becomes live with keep(). */
static live fresh(growing *w, const live *like)
{
    live v = *like;
    snprintf(v.name, sizeof v.name, "v%d", w->n);
    return v;
}

static void keep(growing *w, const live *v)
{
    w->value[w->n++] = *v;
}

static void grow_unary(growing *w)
{
    live x = *any(w), y = fresh(w, &x);
    int kind = upto(w, 6);
    if (kind < 3)
        draw_params(w, &y);
    print_type(w, &y);
    if (kind < 4)
        assay_buf_printf(&w->text, " = rescale(%s)\n", x.name);
    else if (kind == 4)
        assay_buf_printf(&w->text, " = relu(%s)\n", x.name);
    else
        assay_buf_printf(&w->text, " = clip(%s) {lo=%d,hi=%d}\n", x.name, -upto(w, 5),
                         1 + upto(w, 9));
    keep(w, &y);
}

static void grow_move(growing *w)
{
    live x = *any(w), y = fresh(w, &x);
    int kind = upto(w, 3);
    y.side += kind == 1 ? 2 : 0;
    y.channels *= kind == 2 ? 2 : 1;
    if (y.channels > 8 || y.side > 9)
        return;
    print_type(w, &y);
    if (kind == 0)
        assay_buf_printf(&w->text, " = transpose(%s) {perm=[0,1,3,2]}\n", x.name);
    else if (kind == 1)
        assay_buf_printf(&w->text, " = pad(%s) {begin=[0,0,1,1],end=[0,0,1,1]%s}\n", x.name,
                         upto(w, 1) ? ",value=-inf" : "");
    else if (kind == 2)
        assay_buf_printf(&w->text, " = concat(%s, %s) {axis=1}\n", x.name, x.name);
    else
        assay_buf_printf(&w->text, " = reverse(%s) {axes=[2]}\n", x.name);
    keep(w, &y);
}

static void grow_pool(growing *w)
{
    live x = *any(w), y = fresh(w, &x);
    bool average = upto(w, 2) == 0;
    if (average && upto(w, 1))
        draw_params(w, &y);
    print_type(w, &y);
    assay_buf_printf(&w->text,
                     " = %s(%s) {kernel=[3,3],stride=[1,1],pad_begin=[1,1],pad_end=[1,1]}\n",
                     average ? "avg_pool" : "max_pool", x.name);
    keep(w, &y);
}

static void grow_binary(growing *w)
{
    const char *const ops[] = {"add", "sub", "mul", "max", "min"};
    live a = *any(w), b = *any(w), y = fresh(w, &a);
    for (int i = 0;
         i < 10 && (a.side != b.side || a.channels != b.channels || strcmp(a.type, b.type) != 0);
         i++)
        b = *any(w);
    if (a.side != b.side || a.channels != b.channels || strcmp(a.type, b.type) != 0)
        b = a;
    if (upto(w, 1))
        draw_params(w, &y);
    strcpy(y.type, a.type);
    y.zero = strcmp(y.type, "u8") == 0 && y.zero < 0 ? 0 : y.zero;
    y.zero = strcmp(y.type, "i8") == 0 && y.zero > 127 ? 0 : y.zero;
    print_type(w, &y);
    assay_buf_printf(&w->text, " = %s(%s, %s)\n", ops[upto(w, 4)], a.name, b.name);
    keep(w, &y);
}

static void grow_conv(growing *w)
{
    live x = *any(w), y = fresh(w, &x);
    draw_params(w, &y);
    y.channels = 2;
    assay_buf_printf(&w->text, "const w%d: i8[2,%d,1,1] q(axis=0,[0.01,0.03],[0,0]) = [", w->n,
                     x.channels);
    for (int i = 0; i < 2 * x.channels; i++)
        assay_buf_printf(&w->text, "%s%d", i ? "," : "", (int)test_between(w->r, -127, 127));
    assay_buf_printf(&w->text, "]\nconst b%d: i32[2] q(axis=0,[%.9g,%.9g],[0,0]) = [%d,%d]\n", w->n,
                     (double)((float)x.scale * 0.01f), (double)((float)x.scale * 0.03f),
                     upto(w, 2000) - 1000, upto(w, 2000) - 1000);
    print_type(w, &y);
    assay_buf_printf(&w->text, " = conv(%s, w%d, b%d) {kernel=[1,1]}\n", x.name, w->n, w->n);
    keep(w, &y);
}

static void grow_edge(growing *w)
{
    live x = *any(w), y = fresh(w, &x);
    if (upto(w, 1))
        draw_params(w, &y);
    assay_buf_printf(&w->text, "f%d: f32[1,%d,%d,%d] = dequantize(%s)\n", w->n, x.channels, x.side,
                     x.side, x.name);
    print_type(w, &y);
    assay_buf_printf(&w->text, " = quantize(f%d)\n", w->n);
    keep(w, &y);
}

static void grow_table(growing *w)
{
    live x = *any(w), y = fresh(w, &x);
    strcpy(y.type, "i8");
    y.scale = 1.0 / 128;
    y.zero = 0;
    if (strcmp(x.type, "i8") != 0)
        return;
    print_type(w, &y);
    assay_buf_printf(&w->text, " = tanh(%s)\n", x.name);
    keep(w, &y);
}

static void grow_network(growing *w, int nodes)
{
    live x = {"v0", "i8", 0.1, 0, 2, 4};
    assay_buf_printf(&w->text, "graph random { input v0: i8[1,2,4,4] q(0.1,0)\n");
    keep(w, &x);
    while (w->n < nodes)
        switch (upto(w, 11)) {
        case 0:
        case 1:
            grow_move(w);
            break;
        case 2:
            grow_pool(w);
            break;
        case 3:
        case 4:
            grow_binary(w);
            break;
        case 5:
            grow_conv(w);
            break;
        case 6:
            grow_edge(w);
            break;
        case 7:
            grow_table(w);
            break;
        default:
            grow_unary(w);
        }
    for (int i = w->n > 3 ? w->n - 3 : 0; i < w->n; i++)
        assay_buf_printf(&w->text, "output v%d\n", i);
    assay_buf_printf(&w->text, "}\n");
}

static void random_networks_keep_their_bits(void **state)
{
    const char *const schemes[] = {"tflite", "tosa-single", "onnxruntime", "glow-interp"};
    test_rng r = test_seed("random_networks_keep_their_bits", 20261121);
    int applied = 0, refused = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        growing w = {.r = &r};
        grow_network(&w, (int)test_between(&r, 5, 40));
        rewrite_outcome o = rewrite_run(schemes[i % 4], w.text.text);
        rewrite_same_bits(&o, &r, 6);
        rewrite_certified(&o);
        applied += o.report.applied;
        refused += o.report.refused;
        rewrite_finish(&o);
        assay_buf_free(&w.text);
    }
    print_message("# %d rewrites applied, %d refused\n", applied, refused);
    assert_true(applied > 20 && refused > 20);
}

/* In bounded mode outputs differ by no more than is stated. */
static void random_networks_keep_to_the_bound(void **state)
{
    const char *const schemes[] = {"tflite", "tosa-single", "onnxruntime", "glow-interp"};
    test_rng r = test_seed("random_networks_keep_to_the_bound", 20261122);
    int bounded = 0, seen = 0;
    (void)state;
    for (int i = 0; i < 40; i++) {
        growing w = {.r = &r};
        grow_network(&w, (int)test_between(&r, 5, 40));
        const assay_optimize_options options = {.allow = ASSAY_ALLOW_BOUNDED,
                                                .bound = test_between(&r, 1, 6)};
        rewrite_outcome o = rewrite_with(schemes[i % 4], w.text.text, &options);
        int64_t worst = rewrite_worst_difference(&o, &r, 6);
        if (worst > o.report.output_bound)
            fail_msg("outputs differ by %lld, stated are %lld\n%s\n%s", (long long)worst,
                     (long long)o.report.output_bound, o.log.text, w.text.text);
        assert_int_equal(o.report.unproved, 0);
        rewrite_certified(&o);
        bounded += o.report.bounded;
        seen += worst > 0;
        rewrite_finish(&o);
        assay_buf_free(&w.text);
    }
    print_message("# %d bounded rewrites, differences seen in %d networks\n", bounded, seen);
    assert_true(bounded > 20 && seen > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks_keep_their_bits),
        cmocka_unit_test(random_networks_keep_to_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
