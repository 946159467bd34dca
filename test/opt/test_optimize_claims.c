/* Claims of the optimizer, over random short chains in every mode: certificates hold with the
 * networks and without, a bound is kept and is never wider than the output's type, and what is
 * proved to change nothing is called exact. ASSAY_TEST_GRAPHS: how many networks a test draws. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/text/text.h"
#include "interp/run/program.h"
#include "test/support/random_codes.h"

static const char *const schemes[] = {"tflite",  "ruy",   "tvm-qnn-upward", "onnxruntime", "npu16",
                                      "gemmini", "nvdla", "glow-interp",    "xnnpack-qs8", "pow2"};
enum { N_SCHEMES = sizeof schemes / sizeof *schemes };

static const assay_optimize_options modes[] = {
    {.allow = ASSAY_ALLOW_EXACT},
    {.allow = ASSAY_ALLOW_BOUNDED, .bound = 3},
    {.allow = ASSAY_ALLOW_BOUNDED, .bound = 200},
    {.allow = ASSAY_ALLOW_ANY},
};
enum { N_MODES = sizeof modes / sizeof *modes };

typedef struct tally {
    int networks, applied, bounded, unproved, differing;
} tally;

/* Codes by which the outputs of the network can differ at all: of those in float, the codes that
 * they were dequantized from. */
static int64_t widest_output(const assay_graph *g)
{
    int64_t max = 0;
    for (int i = 0; i < g->n_outputs; i++) {
        const assay_value *v = &g->value[g->output[i]];
        if (v->producer >= 0 && g->node[v->producer].op == ASSAY_OP_DEQUANTIZE)
            v = assay_node_in(g, &g->node[v->producer], 0);
        const assay_elem e = v->type.elem;
        const bool codes = e.kind == ASSAY_KIND_INT;
        const int64_t by = codes ? assay_elem_max(e) - assay_elem_min(e) : INT32_MAX;
        max = by > max ? by : max;
    }
    return max;
}

static void claims_hold(rewrite_outcome *o, test_rng *r, tally *t)
{
    const int64_t worst = rewrite_worst_difference(o, r, 4);
    rewrite_certified(o);
    if (!o->report.unproved && worst > o->report.output_bound)
        fail_msg("outputs differ by %lld, stated are %lld\n%s\n%s", (long long)worst,
                 (long long)o->report.output_bound, o->log.text, o->text.text);
    if (o->report.output_bound > widest_output(o->before))
        fail_msg("outputs cannot differ by %lld\n%s\n%s", (long long)o->report.output_bound,
                 o->log.text, o->text.text);
    t->networks++;
    t->applied += o->report.applied;
    t->bounded += o->report.bounded;
    t->unproved += o->report.unproved;
    t->differing += worst > 0;
    rewrite_finish(o);
}

static int n_graphs(int otherwise)
{
    const char *text = getenv("ASSAY_TEST_GRAPHS");
    return text ? atoi(text) : otherwise;
}

/* ---- short chains ---- */

typedef struct chain {
    test_rng *r;
    const char *elem;
    int64_t lo, hi;
    bool powers; /* scales are powers of two, zero points 0 */
    int channels, width;
    char now[16], params[48]; /* of the last value */
    int values;
    assay_buf text;
} chain;

static void draw_params(chain *c)
{
    const double any[] = {0.05, 0.1, 0.2, 0.5, 0.025, 0.01 + test_unit(c->r)};
    const double powers[] = {0.0625, 0.125, 0.25, 0.5, 0.03125, 1};
    const int64_t zero[] = {0, c->lo, c->hi, test_between(c->r, c->lo, c->hi)};
    const double scale = (c->powers ? powers : any)[test_between(c->r, 0, 5)];
    snprintf(c->params, sizeof c->params, "q(%.9g,%d)", scale,
             c->powers ? 0 : (int)zero[test_between(c->r, 0, 3)]);
}

/* " NAME: TYPE PARAMS" of the next value, which becomes the last. */
static void add_value(chain *c, int channels)
{
    snprintf(c->now, sizeof c->now, "v%d", c->values++);
    assay_buf_printf(&c->text, " %s: %s[1,%d,4,%d] %s", c->now, c->elem, channels, c->width,
                     c->params);
}

static void add_numbers(chain *c, int n, int64_t lo, int64_t hi)
{
    for (int i = 0; i < n; i++)
        assay_buf_printf(&c->text, "%s%d", i ? "," : " = [", (int)test_between(c->r, lo, hi));
    assay_buf_printf(&c->text, "]\n");
}

/* A rescale, a clip, or a pad with any code. */
static void add_step(chain *c)
{
    char x[sizeof c->now];
    memcpy(x, c->now, sizeof x);
    switch (test_between(c->r, 0, 5)) {
    case 0:
        c->width += 2;
        add_value(c, c->channels);
        assay_buf_printf(&c->text,
                         " = pad(%s) {begin=[0,0,0,2], end=[0,0,0,0], has_code=true, code=%d}\n", x,
                         (int)test_between(c->r, c->lo, c->hi));
        break;
    case 1:
    case 2:
        add_value(c, c->channels);
        assay_buf_printf(&c->text, " = clip(%s) {lo=%.6g,hi=%.6g}\n", x, -3 * test_unit(c->r),
                         0.1 + 3 * test_unit(c->r));
        break;
    default:
        draw_params(c);
        add_value(c, c->channels);
        assay_buf_printf(&c->text, " = rescale(%s)\n", x);
    }
}

/* A function of the chain and a constant of one number, or of one by channel. */
static void add_function(chain *c)
{
    static const char *const ops[] = {"mul", "add", "sub"};
    const int n = test_between(c->r, 0, 3) ? c->channels : 1;
    const bool swapped = test_between(c->r, 0, 2) == 0;
    const char *op = ops[test_between(c->r, 0, 2)];
    char x[sizeof c->now];
    memcpy(x, c->now, sizeof x);
    draw_params(c);
    assay_buf_printf(&c->text, " const c: %s[1,%d,1,1] %s", c->elem, n, c->params);
    add_numbers(c, n, c->lo, c->hi);
    draw_params(c);
    add_value(c, c->channels);
    assay_buf_printf(&c->text, " = %s(%s, %s)\n", op, swapped ? "c" : x, swapped ? x : "c");
}

/* A layer whose bias may saturate its outputs. */
static void add_layer(chain *c)
{
    const int far = test_between(c->r, 0, 1) ? 1000000 : 1000;
    char x[sizeof c->now];
    double scale;
    memcpy(x, c->now, sizeof x);
    sscanf(c->params, "q(%lf", &scale);
    assay_buf_printf(&c->text, " const w: i8[2,%d,1,1] q(0.5,0)", c->channels);
    add_numbers(c, 2 * c->channels, -8, 8);
    assay_buf_printf(&c->text, " const b: i32[2] q(%.9g,0)", scale * 0.5);
    add_numbers(c, 2, -far, far);
    draw_params(c);
    add_value(c, 2);
    assay_buf_printf(&c->text, " = conv(%s, w, b)%s\n", x,
                     test_between(c->r, 0, 1) ? " act[0,6]" : "");
}

static assay_graph *draw_chain(test_rng *r, const char *scheme)
{
    const bool is_signed = test_between(r, 0, 1);
    chain c = {.r = r,
               .elem = is_signed ? "i8" : "u8",
               .lo = is_signed ? -128 : 0,
               .hi = is_signed ? 127 : 255,
               .powers = strcmp(scheme, "pow2") == 0 || test_between(r, 0, 4) == 0,
               .channels = (int)test_between(r, 1, 3),
               .width = 4};
    assay_graph *g;
    assay_error err;
    assay_buf_printf(&c.text, "graph g {\n input");
    draw_params(&c);
    add_value(&c, c.channels);
    assay_buf_printf(&c.text, "\n");
    for (int n = (int)test_between(r, 1, 3); n > 0; n--)
        add_step(&c);
    if (test_between(r, 0, 2))
        add_function(&c);
    else
        add_layer(&c);
    if (test_between(r, 0, 3) == 0) {
        assay_buf_printf(&c.text, " out: f32[1,%d,4,%d] = dequantize(%s)\n",
                         strstr(c.text.text, "conv") ? 2 : c.channels, c.width, c.now);
        snprintf(c.now, sizeof c.now, "out");
    }
    assay_buf_printf(&c.text, " output %s\n}\n", c.now);
    if (text_graph_parse(c.text.text, c.text.length, "chain", NULL, &g, &err) != ASSAY_OK)
        fail_msg("%s\n%s", err.text, c.text.text);
    assay_buf_free(&c.text);
    return g;
}

/* Whether the scheme has arithmetic for all of it. */
static bool runs(const assay_graph *g, const char *scheme)
{
    assay_scheme *s;
    assay_program *p = NULL;
    assay_error err;
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    const bool good =
        run_program_make_with(g, s, &(assay_program_options){0}, &p, &err) == ASSAY_OK;
    assay_program_free(p);
    assay_scheme_free(s);
    return good;
}

static void claims_about_chains_hold(void **state)
{
    test_rng r = test_seed("claims_about_chains_hold", 20261124);
    tally t = {0};
    (void)state;
    for (int i = 0; i < n_graphs(600); i++) {
        const char *scheme = schemes[i % N_SCHEMES];
        assay_graph *g = draw_chain(&r, scheme);
        if (!runs(g, scheme)) {
            assay_graph_free(g);
            continue;
        }
        rewrite_outcome o = rewrite_graph(scheme, g, &modes[test_between(&r, 0, N_MODES - 1)]);
        claims_hold(&o, &r, &t);
    }
    print_message("# %d networks, %d rewrites, %d bounded, %d unproved, differences in %d\n",
                  t.networks, t.applied, t.bounded, t.unproved, t.differing);
    assert_true(t.networks > 100 && t.bounded > 20 && t.differing > 10);
}

/* ---- networks of every op, whatever may be applied ---- */

static void claims_about_networks_hold(void **state)
{
    test_rng r = test_seed("claims_about_networks_hold", 20261125);
    int seen[ASSAY_OP_COUNT] = {0};
    tally t = {0};
    (void)state;
    for (int i = 0; i < n_graphs(40); i++) {
        const char *name = schemes[i % N_SCHEMES];
        assay_scheme *s;
        assay_error err;
        assert_ok(assay_scheme_open(name, &s, &err), &err);
        assay_graph *g = test_random_codes(&r, s, (int)test_between(&r, 3, 20), seen);
        assay_scheme_free(s);
        rewrite_outcome o = rewrite_graph(name, g, &modes[N_MODES - 1]);
        claims_hold(&o, &r, &t);
    }
    print_message("# %d networks, %d rewrites, %d bounded, %d unproved, differences in %d\n",
                  t.networks, t.applied, t.bounded, t.unproved, t.differing);
    assert_true(t.applied > 40 && t.bounded > 5);
}

/* ---- one by one ---- */

/* No code is rescaled to -91: what the pad would have to fill with does not exist, and there is
 * nothing that could be applied, whatever is allowed. */
static void padding_without_a_code_stays(void **state)
{
    const char *text = "graph g {\n input x: u8[1,4] q(0.1,0)\n"
                       " v: i8[1,4] q(0.1,0) = rescale(x)\n"
                       " y: i8[1,6] q(0.1,0) = pad(v) {begin=[0,2], end=[0,0], has_code=true, "
                       "code=-91}\n output y\n}\n";
    (void)state;
    for (int i = 0; i < N_MODES; i++) {
        test_rng r = test_seed("padding_without_a_code_stays", 1);
        rewrite_outcome o = rewrite_with("tflite", text, &modes[i]);
        assert_int_equal(o.report.applied, 0);
        rewrite_has(o.log.text, "no code is rescaled to the padding");
        rewrite_same_bits(&o, &r, 2);
        rewrite_certified(&o);
        rewrite_finish(&o);
    }
}

/* The rescale's errors reach no code of the layer: that is exact, and says so. */
static void what_changes_nothing_is_exact(void **state)
{
    const char *text = "graph g {\n input x: u8[1,4,2,2] q(0.1,0)\n"
                       " v: u8[1,4,2,2] q(0.05,0) = rescale(x)\n"
                       " const w: i8[1,4,1,1] q(0.5,0) = [-1,2,1,-3]\n"
                       " const b: i32[1] q(0.025,0) = [940527]\n"
                       " y: u8[1,1,2,2] q(0.05,255) = conv(v, w, b) act[0,6]\n output y\n}\n";
    (void)state;
    for (int i = 0; i < N_MODES; i++) {
        test_rng r = test_seed("what_changes_nothing_is_exact", 1);
        rewrite_outcome o = rewrite_with("tflite", text, &modes[i]);
        assert_int_equal(o.report.applied, 1);
        assert_int_equal(o.report.bounded, 0);
        rewrite_has(o.log.text, "exact");
        rewrite_has(o.log.text, "change no code");
        rewrite_same_bits(&o, &r, 4);
        rewrite_certified(&o);
        rewrite_finish(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padding_without_a_code_stays),
        cmocka_unit_test(what_changes_nothing_is_exact),
        cmocka_unit_test(claims_about_chains_hold),
        cmocka_unit_test(claims_about_networks_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
