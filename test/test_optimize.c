/* Rewrites that carry their proof: text in, text out, a rule at a time; what must be refused;
 * mutated rules, each caught with a counterexample; certificates, edited ones too; random networks.
 */
#include "test/support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text.h"
#include "interp/evaluate.h"
#include "opt/certificate.h"
#include "opt/opt.h"
#include "opt/optimize.h"
#include "opt/rewrite.h"

typedef struct outcome {
    assay_graph *before, *after;
    assay_scheme *scheme;
    assay_optimize_report report;
    assay_buf log, text;
} outcome;

static void keep_line(void *user, const char *line)
{
    assay_buf_printf(user, "%s\n", line);
}

static outcome optimize_with(const char *scheme, const char *text,
                             const assay_optimize_options *given)
{
    outcome o = {0};
    assay_error err;
    assay_optimize_options options = *given;
    options.run = assay_run_graph;
    options.log = keep_line;
    options.user = &o.log;
    assert_ok(assay_scheme_open(scheme, &o.scheme, &err), &err);
    assert_ok(assay_graph_parse(text, strlen(text), "text", NULL, &o.before, &err), &err);
    assert_ok(assay_graph_clone(o.before, &o.after, &err), &err);
    assert_ok(assay_optimize(o.after, o.scheme, &options, &o.report, &err), &err);
    assert_ok(assay_graph_print(o.after, NULL, &o.text, &err), &err);
    return o;
}

static outcome optimize(const char *scheme, const char *text)
{
    return optimize_with(scheme, text, &(assay_optimize_options){0});
}

static void finish(outcome *o)
{
    assay_buf_free(&o->log);
    assay_buf_free(&o->text);
    assay_buf_free(&o->report.certificate);
    assay_graph_free(o->before);
    assay_graph_free(o->after);
    assay_scheme_free(o->scheme);
}

static void *random_data(test_rng *r, const assay_type *t, int trial)
{
    size_t n = (size_t)assay_shape_count(t);
    void *data = calloc(n + 1, assay_elem_size(t->elem));
    for (size_t i = 0; i < n; i++)
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = (float)((test_unit(r) - 0.5) * (trial ? 20 : 2000));
        else
            assay_elem_set(t->elem, data, i,
                           trial ? test_between(r, assay_elem_min(t->elem), assay_elem_max(t->elem))
                           : test_random(r) & 1 ? assay_elem_min(t->elem)
                                                : assay_elem_max(t->elem));
    return data;
}

/* Both networks give the same bits on random and extreme inputs. */
static void assert_same_bits(const outcome *o, test_rng *r, int trials)
{
    for (int trial = 0; trial < trials; trial++) {
        void *in[8], *a[16], *b[16];
        assay_error err;
        for (int i = 0; i < o->before->n_inputs; i++)
            in[i] = random_data(r, &o->before->value[o->before->input[i]].type, trial);
        for (int i = 0; i < o->before->n_outputs; i++) {
            size_t bytes = assay_type_bytes(&o->before->value[o->before->output[i]].type);
            a[i] = malloc(bytes + 1);
            b[i] = malloc(bytes + 1);
        }
        assert_ok(assay_run_graph(o->before, o->scheme, (const void *const *)in, a, &err), &err);
        assert_ok(assay_run_graph(o->after, o->scheme, (const void *const *)in, b, &err), &err);
        for (int i = 0; i < o->before->n_outputs; i++) {
            const assay_value *v = &o->before->value[o->before->output[i]];
            if (memcmp(a[i], b[i], assay_type_bytes(&v->type)) != 0)
                fail_msg("output '%s' differs\n%s\n%s", v->name, o->log.text, o->text.text);
            free(a[i]);
            free(b[i]);
        }
        for (int i = 0; i < o->before->n_inputs; i++)
            free(in[i]);
    }
}

static void assert_certified(const outcome *o)
{
    assay_proof_report r;
    assay_error err;
    assert_ok(assay_check_proof(o->report.certificate.text, o->report.certificate.length, "cert",
                                &r, &err),
              &err);
    assert_int_equal(r.steps, o->report.applied);
}

static void assert_has(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text ? text : "(nothing)");
}

static void assert_lacks(const char *text, const char *part)
{
    if (text && strstr(text, part))
        fail_msg("'%s' is in:\n%s", part, text);
}

/* One rule on one network: exact, and with the line of text that it must leave behind. */
static void expect_exact(const char *scheme, const char *in, const char *log, const char *out,
                         const char *gone)
{
    test_rng r = test_seed("expect_exact", 1);
    outcome o = optimize(scheme, in);
    assert_has(o.log.text, log);
    assert_has(o.log.text, "exact");
    assert_has(o.text.text, out);
    assert_lacks(o.text.text, gone);
    assert_same_bits(&o, &r, 4);
    assert_certified(&o);
    finish(&o);
}

/* Nothing applies, and the log gives the reason. */
static void expect_refused(const char *scheme, const char *in, const char *rule,
                           const char *counterexample)
{
    outcome o = optimize(scheme, in);
    assert_int_equal(o.report.applied, 0);
    assert_true(o.report.refused > 0);
    assert_has(o.log.text, rule);
    assert_has(o.log.text, "refused");
    assert_has(o.log.text, counterexample);
    finish(&o);
}

/* facts/glow.md section 10, 13: the true saturation is the intersection [2, 3] of all ranges. */
static const char chain[] = "graph t { input x: u8[6] q(0.1,0)\n"
                            "a: u8[6] q(0.1,0) = rescale(x) codes[10,30]\n"
                            "b: u8[6] q(0.1,0) = rescale(a) codes[0,40]\n"
                            "c: u8[6] q(0.1,0) = rescale(b) codes[20,40]\n output c }";

static void merging_saturates_at_the_intersection(void **state)
{
    const uint8_t x[6] = {35, 12, 4, 0, 25, 255};
    uint8_t y[6];
    const void *in = x;
    void *out = y;
    assay_error err;
    outcome o = optimize("tflite", chain);
    (void)state;
    assert_has(o.text.text, "c: u8[6] q(0.1,0) = rescale(x) codes[20,30]");
    assert_int_equal(o.after->n_nodes, 1);
    assert_ok(assay_run_graph(o.after, o.scheme, &in, &out, &err), &err);
    assert_memory_equal(y, ((uint8_t[]){30, 20, 20, 20, 25, 30}), 6);
    assert_certified(&o);
    finish(&o);
}

static void merging_is_refused_where_the_first_rounding_shows(void **state)
{
    (void)state;
    expect_refused("tflite",
                   "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                   "b: i8[4] q(0.17,-3) = rescale(a) output b }",
                   "merge-rescales: b after a: refused, differs by 2 LSB", "became");
}

static void identities_go(void **state)
{
    (void)state;
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.1,0) = rescale(x)\n"
                 "b: i8[4] q(0.1,0) = clip(a) {lo=-100,hi=100}\n"
                 "s: i8[4] q(0.00390625,-128) = sigmoid(b) output s }",
                 "identity: b: exact: 256/256 codes equal", "sigmoid(x)", "clip");
    expect_refused("tflite",
                   "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.1,0) = relu(x)\n"
                   "t: i8[4] q(0.0078125,0) = tanh(a) output t }",
                   "identity: a: refused, differs by 128 LSB", "became");
}

static void quantize_after_dequantize(void **state)
{
    (void)state;
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                 "f: f32[4] = dequantize(a) b: i8[4] q(0.3,5) = quantize(f) output b }",
                 "quantize-dequantized: b after f: exact", "b: i8[4] q(0.3,5) = rescale(x)",
                 "quantize");
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.1,0)\n"
                 "f: f32[4] = dequantize(x) b: u8[4] q(0.1,128) = quantize(f) output b }",
                 "quantize-dequantized: b after f: exact: 256/256", "= rescale(x)", "quantize");
}

static void a_pair_in_a_users_network_still_rounds(void **state)
{
    (void)state;
    expect_refused("tflite",
                   "graph t { input x: f32[4] q: i8[4] q(0.1,0) = quantize(x)\n"
                   "f: f32[4] = dequantize(q) y: f32[4] = neg(f) output y }",
                   "dequantize-quantized: f after q: refused, not proved", "became");
}

static void rescale_into_dequantize(void **state)
{
    (void)state;
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.5,0) a: u8[4] q(0.5,128) = rescale(x)\n"
                 "f: f32[4] = dequantize(a) output f }",
                 "absorb-down: f after a: exact: 256/256 codes equal", "dequantize(x)", "rescale");
    expect_refused("tflite",
                   "graph t { input x: i8[4] q(0.5,0) a: i8[4] q(0.5,20) = rescale(x)\n"
                   "f: f32[4] = dequantize(a) output f }",
                   "absorb-down: f after a: refused", "became");
}

static void rescales_sink_below_what_moves(void **state)
{
    (void)state;
    expect_exact("tflite",
                 "graph t { input x: i8[2,3] q(0.1,0) a: i8[2,3] q(0.3,5) = rescale(x)\n"
                 "b: i8[3,2] q(0.3,5) = transpose(a) {perm=[1,0]}\n"
                 "c: i8[6] q(0.3,5) = reshape(b) {shape=[6]} output c }",
                 "sink-move: c after", "c: i8[6] q(0.3,5) = rescale(", "reshape(a)");
    expect_exact("tflite",
                 "graph t { input x: i8[2] q(0.1,0) input z: i8[3] q(0.1,0)\n"
                 "a: i8[2] q(0.3,5) = rescale(x) b: i8[3] q(0.3,5) = rescale(z)\n"
                 "c: i8[5] q(0.3,5) = concat(a, b) output c }",
                 "sink-move: c after a: exact", "concat(x, z)", "concat(a");
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                 "c: i8[6] q(0.3,5) = pad(a) {begin=[1],end=[1]} output c }",
                 "sink-move: c after a: exact", "pad(x)", "pad(a)");
}

static void padding_that_would_be_rescaled_is_refused(void **state)
{
    (void)state;
    expect_refused("tflite",
                   "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
                   "c: i8[6] q(0.3,5) = pad(a) {begin=[1],end=[1],value=-inf} output c }",
                   "sink-move: c after a: refused", "became");
}

static const char pool[] = "graph t { input x: i8[1,1,4,4] q(0.1,0)\n"
                           "a: i8[1,1,4,4] q(0.13,5) = rescale(x)\n"
                           "b: i8[1,1,2,2] q(0.13,5) = %s(a) {kernel=[2,2],stride=[2,2]}\n"
                           "output b }";

static void rescales_sink_below_max_pool_only(void **state)
{
    char text[400];
    (void)state;
    snprintf(text, sizeof text, pool, "max_pool");
    expect_exact("tflite", text, "sink-order: b after a: exact: 256/256 codes in order",
                 "max_pool(x)", "max_pool(a)");
    snprintf(text, sizeof text, pool, "avg_pool");
    outcome o = optimize("tflite", text);
    assert_int_equal(o.report.applied, 0);
    finish(&o);
}

static void rescales_sink_below_a_choice_of_two(void **state)
{
    (void)state;
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
                 "a: i8[4] q(0.3,5) = rescale(x) b: i8[4] q(0.3,5) = rescale(z)\n"
                 "c: i8[4] q(0.3,5) = max(a, b) output c }",
                 "exact: 65536/65536 pairs of codes equal", "max(x, z)", "max(a");
}

static void binary_ops_take_over_rescales(void **state)
{
    (void)state;
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
                 "a: u8[4] q(0.1,128) = rescale(x) c: i8[4] q(0.2,0) = mul(a, z) output c }",
                 "absorb-down: c after a", "mul(x, z)", "rescale");
    expect_exact("tflite",
                 "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.2,0)\n"
                 "c: i8[4] q(0.2,0) = mul(x, z) r: i8[4] q(0.2,0) = relu(c) output r }",
                 "absorb-up: r after c: exact: 65536/65536", "mul(x, z) codes[0,127]", "relu");
    expect_refused("tflite",
                   "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.3,4)\n"
                   "c: i8[4] q(0.2,0) = add(x, z) r: i8[4] q(0.31,7) = rescale(c) output r }",
                   "absorb-up: r after c: refused, differs by 1 LSB", "became");
}

#define CONV_PARTS                                                                                 \
    "const w: i8[2,1,2,2] q(axis=0,[0.01,0.02],[0,0]) = [1,2,3,4,-90,100,-110,120]\n"              \
    "const b: i32[2] q(axis=0,[0.001,0.002],[0,0]) = [100,-200]\n"

static void convolutions_take_over_what_follows(void **state)
{
    (void)state;
    expect_exact("tflite",
                 "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" CONV_PARTS
                 "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                 "r: u8[1,2,2,2] q(0.5,128) = rescale(c) output r }",
                 "absorb-up-weighted: r after c: exact: reachable [",
                 "r: u8[1,2,2,2] q(0.5,128) = conv(x, w, b)", "rescale");
    expect_exact("tflite",
                 "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" CONV_PARTS
                 "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                 "r: i8[1,2,2,2] q(0.5,0) = relu(c) output r }",
                 "absorb-up-weighted: r after c: exact", "codes[0,127]", "relu");
    expect_refused("tflite",
                   "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" CONV_PARTS
                   "c: i8[1,2,2,2] q(0.2,0) = conv(x,w,b) {kernel=[2,2]}\n"
                   "r: i8[1,2,2,2] q(0.33,3) = rescale(c) output r }",
                   "absorb-up-weighted: r after c: refused, differs by 1 LSB", "accumulator");
}

static void convolutions_read_past_a_shift_of_the_zero_point_only(void **state)
{
    (void)state;
    expect_exact("tosa-single",
                 "graph t { input x: i8[1,1,3,3] q(0.1,0) a: u8[1,1,3,3] q(0.1,128) = "
                 "rescale(x)\n" CONV_PARTS
                 "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }",
                 "absorb-down-weighted: c after a: exact: reachable [", "conv(x", "rescale");
    expect_refused(
        "tflite",
        "graph t { input x: i8[1,1,3,3] q(0.2,0) a: i8[1,1,3,3] q(0.1,0) = rescale(x)\n" CONV_PARTS
        "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }",
        "absorb-down-weighted: c after a: refused", "became");
}

static void bounded_mode_applies_within_the_bound(void **state)
{
    const char text[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.15,5) = rescale(x)\n"
                        "b: i8[4] q(0.17,-3) = rescale(a) output b }";
    (void)state;
    outcome o = optimize_with("tflite", text,
                              &(assay_optimize_options){.allow = ASSAY_ALLOW_BOUNDED, .bound = 1});
    assert_has(o.log.text, "merge-rescales: b after a: bounded by 1 LSB");
    assert_int_equal(o.report.applied, 1);
    assert_certified(&o);
    finish(&o);
    o = optimize_with("tflite", text,
                      &(assay_optimize_options){.allow = ASSAY_ALLOW_BOUNDED, .bound = 0});
    assert_int_equal(o.report.applied, 0);
    finish(&o);
}

static void passes_are_chosen_by_name(void **state)
{
    assay_optimize_report report;
    assay_scheme *s;
    assay_graph *g;
    assay_error err;
    (void)state;
    outcome o = optimize_with("tflite", chain, &(assay_optimize_options){.passes = "identity"});
    assert_int_equal(o.report.applied, 0);
    finish(&o);
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(assay_graph_parse(chain, strlen(chain), "text", NULL, &g, &err), &err);
    assay_optimize_options options = {.passes = "identity,merge", .run = assay_run_graph};
    assert_refused(assay_optimize(g, s, &options, &report, &err), &err, "no pass 'merge'");
    assay_graph_free(g);
    assay_scheme_free(s);
}

/* ---- mutants: what a careless pass would do ---- */

static const assay_rule *rule_named(const char *name)
{
    size_t n;
    const assay_rule *rules = assay_rules(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    fail_msg("no rule %s", name);
    return NULL;
}

static assay_status last_range_wins(assay_graph *g, const assay_match *m, const assay_image *image,
                                    assay_error *err)
{
    (void)image;
    (void)err;
    g->node[m->lower].in[0] = g->node[m->upper[0]].in[0];
    return ASSAY_OK;
}

static assay_status off_by_one(assay_graph *g, const assay_match *m, const assay_image *image,
                               assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    (void)image;
    (void)err;
    n->in[0] = g->node[m->upper[0]].in[0];
    n->has_code_bounds = true;
    n->code_lo = 21;
    n->code_hi = 30;
    return ASSAY_OK;
}

/* The rescale's work is forgotten: its input is declared to have the parameters of its output. */
static assay_status drop_rescale(assay_graph *g, const assay_match *m, const assay_image *image,
                                 assay_error *err)
{
    int x = g->node[m->upper[0]].in[0];
    (void)image;
    g->node[m->lower].in[0] = x;
    return assay_graph_set_qparams(g, x, &g->value[g->node[m->upper[0]].out[0]].type.q, err);
}

/* The producer yields the output's codes under a zero point of its own. */
static assay_status wrong_zero_point(assay_graph *g, const assay_match *m, const assay_image *image,
                                     assay_error *err)
{
    const float scale = g->value[g->node[m->lower].out[0]].type.q.scale[0];
    const int32_t zero = g->value[g->node[m->lower].out[0]].type.q.zero_point[0] + 1;
    assay_qparams q = {ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero};
    assay_status s = assay_graph_set_qparams(g, g->node[m->lower].out[0], &q, err);
    return s ? s : rule_named("absorb-up")->rewrite(g, m, image, err);
}

/* One bound of the saturation is lost. */
static assay_status no_lower_bound(assay_graph *g, const assay_match *m, const assay_image *image,
                                   assay_error *err)
{
    assay_image wide = {-128, image ? image->hi : 127};
    return rule_named("merge-rescales")->rewrite(g, m, &wide, err);
}

static bool average_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    int producer = n->in[0] >= 0 ? g->value[n->in[0]].producer : -1;
    (void)uses;
    if (n->op != ASSAY_OP_AVG_POOL || producer < 0 || g->node[producer].op != ASSAY_OP_RESCALE)
        return false;
    m->n_upper = 1;
    m->upper[0] = producer;
    m->slot[0] = 0;
    return true;
}

/* Transposes with another permutation while it is at it. */
static assay_status careless_sink(assay_graph *g, const assay_match *m, const assay_image *image,
                                  assay_error *err)
{
    assay_list *perm = &g->node[m->lower].attr.perm.perm;
    for (int i = 0; i < perm->n; i++)
        perm->v[i] = i;
    return rule_named("sink-move")->rewrite(g, m, image, err);
}

static assay_status alias_output(assay_graph *g, const assay_match *m, const assay_image *image,
                                 assay_error *err)
{
    (void)image;
    (void)err;
    assay_graph_replace_uses(g, g->node[m->lower].out[0], g->node[m->lower].in[0]);
    return ASSAY_OK;
}

static void mutants_are_caught(void **state)
{
    char average[400];
    snprintf(average, sizeof average, pool, "avg_pool");
    const char conv_rescale[] = "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" CONV_PARTS
                                "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                                "r: i8[1,2,2,2] q(0.5,7) = rescale(c) output r }";
    const char relu_chain[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.2,0) = rescale(x)\n"
                              "b: i8[4] q(0.2,0) = relu(a) output b }";
    const char into_conv[] =
        "graph t { input x: i8[1,1,3,3] q(0.2,0) a: i8[1,1,3,3] q(0.1,0) = rescale(x)\n" CONV_PARTS
        "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }";
    const char into_tanh[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.05,3) = rescale(x)\n"
                             "c: i8[4] q(0.0078125,0) = tanh(a) output c }";
    const char narrow_tanh[] =
        "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.004,0) = rescale(x)\n"
        "c: i8[4] q(0.0078125,0) = tanh(a) output c }";
    const char two[] = "graph t { input x: u8[6] q(0.1,0)\n"
                       "a: u8[6] q(0.1,0) = rescale(x) codes[10,30]\n"
                       "b: u8[6] q(0.1,0) = rescale(a) codes[20,40] output b }";
    const char transpose[] =
        "graph t { input x: i8[2,2] q(0.1,0) a: i8[2,2] q(0.3,5) = rescale(x)\n"
        "b: i8[2,2] q(0.3,5) = transpose(a) {perm=[1,0]} output b }";
    const char add_rescale[] =
        "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
        "c: i8[4] q(0.2,0) = add(x, z) r: i8[4] q(0.2,5) = rescale(c) output r }";
    const struct {
        const char *what, *base;
        enum assay_obligation obligation;
        bool (*matches)(const assay_graph *, const int *, assay_match *);
        assay_status (*rewrite)(assay_graph *, const assay_match *, const assay_image *,
                                assay_error *);
        const char *text;
    } mutants[] = {
        {"last range wins", "merge-rescales", ASSAY_PROVE_CODES, NULL, last_range_wins, two},
        {"a bound off by one", "merge-rescales", ASSAY_PROVE_CODES, NULL, off_by_one, two},
        {"a bound lost", "merge-rescales", ASSAY_PROVE_CODES, NULL, no_lower_bound, relu_chain},
        {"relu dropped", "identity", ASSAY_PROVE_CODES, NULL, alias_output, relu_chain},
        {"rescale dropped before conv", "absorb-down-weighted", ASSAY_PROVE_SHIFT, NULL,
         last_range_wins, into_conv},
        {"rescale dropped, parameters forged", "absorb-down", ASSAY_PROVE_CODES, NULL, drop_rescale,
         into_tanh},
        {"wrong zero point after conv", "absorb-up-weighted", ASSAY_PROVE_ACCUMULATORS, NULL,
         wrong_zero_point, conv_rescale},
        {"wrong zero point after add", "absorb-up", ASSAY_PROVE_CODES, NULL, wrong_zero_point,
         add_rescale},
        {"average pool sunk", "sink-order", ASSAY_PROVE_ORDER, average_matches, NULL, average},
        {"average pool sunk as if it moved", "sink-move", ASSAY_PROVE_MOVE, average_matches, NULL,
         average},
        {"transposed otherwise", "sink-move", ASSAY_PROVE_MOVE, NULL, careless_sink, transpose},
        {"saturation dropped before tanh", "absorb-down", ASSAY_PROVE_CODES, NULL, last_range_wins,
         narrow_tanh},
    };
    (void)state;
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        assay_rule rule = *rule_named(mutants[i].base);
        rule.bounds = false;
        rule.obligation = mutants[i].obligation;
        if (mutants[i].matches)
            rule.matches = mutants[i].matches;
        if (mutants[i].rewrite)
            rule.rewrite = mutants[i].rewrite;
        outcome o = optimize_with("tflite", mutants[i].text,
                                  &(assay_optimize_options){.rule = &rule, .n_rules = 1});
        if (o.report.applied || !o.report.refused)
            fail_msg("mutant '%s' got through: %s\n%s", mutants[i].what,
                     o.log.text ? o.log.text : "no match", o.text.text);
        if (!strstr(o.log.text, "became") && !strstr(o.log.text, "changes the type"))
            fail_msg("mutant '%s' without a counterexample: %s", mutants[i].what, o.log.text);
        finish(&o);
    }
}

/* ---- certificates ---- */

/* Replaces the first `from` in the certificate by `to`; with `seal` the digest is made to fit. */
static char *edit(const outcome *o, const char *from, const char *to, bool seal)
{
    const char *text = o->report.certificate.text, *at = strstr(text, from);
    char hex[33];
    assay_error err;
    assert_non_null(at);
    size_t length = strlen(text) - strlen(from) + strlen(to) + 1;
    char *edited = malloc(length);
    snprintf(edited, length, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    if (!seal)
        return edited;
    json_t *root = json_loads(edited, 0, NULL);
    assert_non_null(root);
    assert_ok(assay_certificate_digest(root, hex, &err), &err);
    json_object_set_new(root, "digest", json_string(hex));
    free(edited);
    edited = json_dumps(root, 0);
    json_decref(root);
    return edited;
}

static void edited_certificates_are_refused(void **state)
{
    const struct {
        const char *from, *to;
        bool seal;
        const char *complaint;
    } edits[] = {
        {"256/256", "257/257", false, "edited"},
        {"codes[20,30]", "codes[20,31]", true, "outputs differ by"},
        {"codes[20,30]", "codes[20,31]", false, "outputs differ by"},
        {"codes[0,40]", "codes[0,25]", true, "outputs differ by"},
        {"q(0.1,0)", "q(0.1,1)", true, "step 0"},
        {"\"codes\"", "\"move\"", true, "step 0"},
        {"\"codes\"", "\"magic\"", true, "cannot be proved"},
        {"\"exact\"", "\"certain\"", true, "verdict"},
        {"\"exact\"", "\"bounded\"", false, "edited"},
        {"half-away", "half-even", true, "edited"},
        {"\"model\": \"", "\"model\": \"0", false, "edited"},
        {"\"steps\"", "\"stops\"", true, "not a certificate"},
    };
    outcome o = optimize("tflite", chain);
    (void)state;
    assert_certified(&o);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *text = edit(&o, edits[i].from, edits[i].to, edits[i].seal);
        assay_proof_report r;
        assay_error err;
        assay_status s = assay_check_proof(text, strlen(text), "cert", &r, &err);
        if (s == ASSAY_OK || !strstr(err.text, edits[i].complaint))
            fail_msg("edit %zu (%s): %s", i, edits[i].to, s ? err.text : "not noticed");
        free(text);
    }
    finish(&o);
}

/* Bytes changed at random: never a crash, and never a certificate that is accepted, but where the
 * change is only of white space. */
static void spoiled_certificates_are_refused(void **state)
{
    test_rng r = test_seed("spoiled_certificates_are_refused", 7);
    outcome o = optimize("tflite", "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" CONV_PARTS
                                   "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                                   "r: i8[1,2,2,2] q(0.5,0) = relu(c)\n"
                                   "s: i8[1,2,2,2] q(1,3) = rescale(r)\n"
                                   "m: i8[1,2,1,1] q(1,3) = max_pool(s) {kernel=[2,2]} output m }");
    const assay_buf *text = &o.report.certificate;
    (void)state;
    assert_int_equal(o.report.applied, 2);
    assert_certified(&o);
    for (int i = 0; i < 600; i++) {
        char *bytes = malloc(text->length);
        memcpy(bytes, text->text, text->length);
        size_t at = (size_t)test_between(&r, 0, (int64_t)text->length - 1);
        char to = (char)test_between(&r, 33, 126);
        bool space = strchr(" \n", bytes[at]) != NULL || bytes[at] == to;
        bytes[at] = to;
        assay_proof_report report;
        assay_error err;
        if (!space && assay_check_proof(bytes, text->length, "cert", &report, &err) == ASSAY_OK)
            fail_msg("byte %zu as '%c' is not noticed", at, to);
        free(bytes);
    }
    finish(&o);
}

/* ---- random networks ---- */

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
        outcome o = optimize(schemes[i % 4], w.text.text);
        assert_same_bits(&o, &r, 6);
        assert_certified(&o);
        applied += o.report.applied;
        refused += o.report.refused;
        finish(&o);
        assay_buf_free(&w.text);
    }
    print_message("# %d rewrites applied, %d refused\n", applied, refused);
    assert_true(applied > 20 && refused > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_saturates_at_the_intersection),
        cmocka_unit_test(merging_is_refused_where_the_first_rounding_shows),
        cmocka_unit_test(identities_go),
        cmocka_unit_test(quantize_after_dequantize),
        cmocka_unit_test(a_pair_in_a_users_network_still_rounds),
        cmocka_unit_test(rescale_into_dequantize),
        cmocka_unit_test(rescales_sink_below_what_moves),
        cmocka_unit_test(padding_that_would_be_rescaled_is_refused),
        cmocka_unit_test(rescales_sink_below_max_pool_only),
        cmocka_unit_test(rescales_sink_below_a_choice_of_two),
        cmocka_unit_test(binary_ops_take_over_rescales),
        cmocka_unit_test(convolutions_take_over_what_follows),
        cmocka_unit_test(convolutions_read_past_a_shift_of_the_zero_point_only),
        cmocka_unit_test(bounded_mode_applies_within_the_bound),
        cmocka_unit_test(passes_are_chosen_by_name),
        cmocka_unit_test(mutants_are_caught),
        cmocka_unit_test(edited_certificates_are_refused),
        cmocka_unit_test(spoiled_certificates_are_refused),
        cmocka_unit_test(random_networks_keep_their_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
