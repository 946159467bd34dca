/* Steps that explain shows of an element, followed to the element: over random networks, elements
 * and schemes, and one convolution whose every number is written here. */
#include "test/support/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/explain/explain.h"
#include "schemes/mac/scheme.h"
#include "schemes/scheme.h"
#include "test/support/fake.h"
#include "test/support/random_layers.h"
#include "test/support/random_scheme.h"

enum { NETWORKS = 400, ELEMENTS = 3, DRAWN = 1500 };

typedef struct tally {
    int elements, codes, honest, sums, moved;
    int with_code[ASSAY_OP_COUNT];
    int entries; /* of tables, whose making is told */
    int units;   /* elements that units computed */
    bool all;    /* each of these has its steps */
    bool none;   /* none has: it is said so */
    bool told;   /* kernels without units tell their steps, the last of which is the element */
} tally;

static const char *last_of(const explain_trace *t, const char *name)
{
    for (int i = t->n - 1; i >= 0; i--)
        if (strcmp(t->step[i].name, name) == 0)
            return t->step[i].text;
    return NULL;
}

static int64_t element_of(const assay_type *t, const void *data, int64_t i)
{
    uint32_t bits;
    if (t->elem.kind != ASSAY_KIND_F32)
        return assay_elem_get(t->elem, data, (size_t)i);
    memcpy(&bits, (const char *)data + i * 4, sizeof bits);
    return bits;
}

/* The accumulator of the last product or group, where they are shown step by step. */
static void check_sum(const explain_trace *t, tally *w)
{
    const char *now = NULL;
    for (int i = 0; i < t->n; i++)
        if (strncmp(t->step[i].name, "product", 7) == 0 && strstr(t->step[i].text, "accumulator "))
            now = strstr(t->step[i].text, "accumulator ") + strlen("accumulator ");
    if (!now || strstr(last_of(t, "bias"), "added last"))
        return;
    assert_string_equal(now, last_of(t, "accumulator"));
    w->sums++;
}

/* No byte but those that can be printed, and each value's binary once. */
static void check_words(const explain_trace *t)
{
    for (int i = 0; i < t->n; i++) {
        const explain_step *s = &t->step[i];
        assert_null(strstr(s->name, "binary, binary"));
        for (const char *c = s->name; *c; c++)
            assert_in_range(*c, ' ', '~');
        for (const char *c = s->text; *c; c++)
            assert_in_range(*c, ' ', '~');
    }
}

/* The number at which a step's words end: behind its last "->", "=" or ":", or its first. */
static int64_t number_of(const char *text)
{
    static const char *const marks[] = {"-> ", "= ", ": "};
    const char *at = text;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        for (const char *m = strstr(text, marks[i]); m; m = strstr(m + 1, marks[i]))
            at = m + strlen(marks[i]) > at ? m + strlen(marks[i]) : at;
    return strtoll(at, NULL, 10);
}

/* Where a function told its steps: the last of them, within the bounds that follow, is the code. */
static void check_end(const explain_trace *t, int64_t code)
{
    int i = t->n - 1;
    while (i > 0 && strcmp(t->step[i].name, "code") != 0)
        i--;
    int64_t lo = INT64_MIN, hi = INT64_MAX;
    while (--i > 0 &&
           (strstr(t->step[i].name, ", binary") || strcmp(t->step[i].name, "bounds") == 0))
        if (strcmp(t->step[i].name, "bounds") == 0)
            assert_int_equal(sscanf(t->step[i].text, "%" SCNd64 "..%" SCNd64, &lo, &hi), 2);
    if (lo == INT64_MIN && hi == INT64_MAX)
        return;
    const int64_t v = number_of(t->step[i].text);
    if ((v < lo ? lo : v > hi ? hi : v) != code)
        fail_msg("%s: %s, within %lld and %lld, is not %lld", t->step[i].name, t->step[i].text,
                 (long long)lo, (long long)hi, (long long)code);
}

/* Where it is told how a table's entry is made: the last of those steps is the entry. */
static void check_entry(const explain_trace *t, tally *w)
{
    int64_t lo = INT64_MIN, hi = INT64_MAX;
    int at = 0, i;
    while (at < t->n && strcmp(t->step[at].name, "table entry") != 0)
        at++;
    if (at == t->n || !last_of(t, "minus zero point"))
        return;
    for (i = at - 1; strstr(t->step[i].name, ", binary") || !strcmp(t->step[i].name, "bounds"); i--)
        if (strcmp(t->step[i].name, "bounds") == 0)
            assert_int_equal(sscanf(t->step[i].text, "%" SCNd64 "..%" SCNd64, &lo, &hi), 2);
    const int64_t v = number_of(t->step[i].text);
    if ((v < lo ? lo : v > hi ? hi : v) != number_of(t->step[at].text)) {
        for (int k = 0; k < t->n; k++)
            print_message("%s: %s\n", t->step[k].name, t->step[k].text);
        fail_msg("the entry is not what was told of it");
    }
    w->entries++;
}

static void check_element(const assay_program *p, assay_run *run, int node, int64_t i, tally *w)
{
    const assay_graph *g = p->graph;
    const assay_node *n = &g->node[node];
    const assay_type *type = &g->value[n->out[0]].type;
    const void **in = calloc((size_t)n->n_in + 1, sizeof *in);
    explain_trace t;
    assay_error err = {0};
    for (int k = 0; k < n->n_in; k++)
        in[k] = n->in[k] == ASSAY_NO_VALUE ? NULL
                : g->value[n->in[k]].data  ? g->value[n->in[k]].data
                                           : assay_run_data(run, n->in[k]);
    assert_ok(explain_element(p, node, in, i, &t, &err), &err);
    const int64_t expected = element_of(type, assay_run_data(run, n->out[0]), i);
    const char *code = last_of(&t, "code");
    if (t.value != expected)
        fail_msg("%s element %lld: %lld, not %lld", assay_op_get(n->op)->name, (long long)i,
                 (long long)t.value, (long long)expected);
    assert_string_equal(t.step[t.n - 1].name, "element");
    check_words(&t);
    if (!t.is_float)
        assert_int_equal(strtoll(t.step[t.n - 1].text, NULL, 10), expected);
    if (code && !t.honest && !t.is_float) {
        check_end(&t, expected);
        if (strtoll(code, NULL, 10) != expected)
            fail_msg("%s: the steps end at %s, not at %lld", assay_op_get(n->op)->name, code,
                     (long long)expected);
        w->with_code[n->op]++;
        w->codes++;
    }
    if (w->all && p->unit[node] && t.honest)
        fail_msg("%s under %s: %s", assay_op_get(n->op)->name, p->scheme->name, t.honest);
    if (w->none && p->unit[node] && run_scheme_of(p, node)->vt == p->scheme->vt &&
        (!t.honest || !strstr(t.honest, "plugin")))
        fail_msg("%s of a plugin: %s", assay_op_get(n->op)->name, t.honest ? t.honest : "no note");
    w->units += p->unit[node] != NULL;
    if (!w->none && p->unit[node] && run_vtable_of(p, node)->dot && t.is_float &&
        n->op != ASSAY_OP_DEQUANTIZE)
        assert_string_equal(t.step[t.n - 2].text, t.step[t.n - 1].text);
    check_sum(&t, w);
    if (p->unit[node] && !t.honest)
        check_entry(&t, w);
    w->elements++;
    w->honest += t.honest != NULL;
    w->moved += last_of(&t, "copied from") != NULL;
    explain_trace_free(&t);
    free(in);
}

static bool can_be_explained(const assay_program *p, int node)
{
    const assay_node *n = &p->graph->node[node];
    return !(assay_op_get(n->op)->traits & (ASSAY_T_STATE | ASSAY_T_FLOW)) &&
           assay_shape_count(&p->graph->value[n->out[0]].type) > 0;
}

static void check_network(const assay_graph *g, const assay_scheme *s, test_rng *r, tally *w)
{
    assay_program *p;
    assay_run *run;
    assay_error err = {0};
    if (assay_program_make_as_is(g, s, true, &p, &err) != ASSAY_OK)
        return;
    assert_ok(assay_run_new(p, &run, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        test_random_data(r, (enum test_data)test_between(r, 0, TEST_DATA_WAYS - 1),
                         &g->value[g->input[i]].type, assay_run_data(run, g->input[i]));
    const bool good = assay_execute(run, &err) == ASSAY_OK;
    for (int node = 0; node < g->n_nodes && good; node++)
        for (int k = 0; k < ELEMENTS && can_be_explained(p, node); k++) {
            const int64_t n = assay_shape_count(&g->value[g->node[node].out[0]].type);
            check_element(p, run, node, test_between(r, 0, n - 1), w);
        }
    assay_run_free(run);
    assay_program_free(p);
}

static void random_elements(void **state)
{
    (void)state;
    test_rng r = test_seed("explain", 1616);
    tally w = {0};
    for (int i = 0; i < NETWORKS; i++) {
        char text[4096];
        assay_scheme *s = test_random_scheme(&r, text, sizeof text);
        assay_graph *g = test_random_layers(&r, s, 3);
        if (g)
            check_network(g, s, &r, &w);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
    print_message("# %d elements: %d with steps to the code, %d not; %d sums, %d moved; of conv "
                  "%d, fc %d, matmul %d, add %d, mul %d, pools %d, softmax %d and %d\n",
                  w.elements, w.codes, w.honest, w.sums, w.moved, w.with_code[ASSAY_OP_CONV],
                  w.with_code[ASSAY_OP_FC], w.with_code[ASSAY_OP_MATMUL], w.with_code[ASSAY_OP_ADD],
                  w.with_code[ASSAY_OP_MUL],
                  w.with_code[ASSAY_OP_AVG_POOL] + w.with_code[ASSAY_OP_GLOBAL_AVG_POOL],
                  w.with_code[ASSAY_OP_SOFTMAX], w.with_code[ASSAY_OP_LOG_SOFTMAX]);
    assert_true(w.with_code[ASSAY_OP_CONV] > 0 && w.with_code[ASSAY_OP_FC] > 0 &&
                w.with_code[ASSAY_OP_MATMUL] > 0 && w.with_code[ASSAY_OP_ADD] > 0 &&
                w.with_code[ASSAY_OP_MUL] > 0 && w.with_code[ASSAY_OP_SOFTMAX] > 0 && w.sums > 0 &&
                w.moved > 0);
}

/* Ops over whole rows, under schemes that have each of their kinds: every element has its steps. */
static void rows(void **state)
{
    static const assay_op ops[] = {ASSAY_OP_LAYER_NORM, ASSAY_OP_L2_NORM, ASSAY_OP_SOFTMAX};
    static const char *const schemes[] = {"tflite", "tflite-int16x8", "npu16"};
    enum { OPS = sizeof ops / sizeof *ops, SCHEMES = sizeof schemes / sizeof *schemes };
    (void)state;
    test_rng r = test_seed("explain rows", 77);
    tally w = {0};
    for (int i = 0; i < OPS * SCHEMES * 12; i++) {
        assay_error err = {0};
        assay_scheme *s = NULL;
        assert_ok(assay_scheme_open(schemes[i % SCHEMES], &s, &err), &err);
        assay_graph *g = test_random_layers_of(&r, s, ops[i / SCHEMES % OPS], 1);
        if (g)
            check_network(g, s, &r, &w);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
    print_message("# layer norm %d, L2 norm %d, softmax %d with steps to the code; %d not\n",
                  w.with_code[ASSAY_OP_LAYER_NORM], w.with_code[ASSAY_OP_L2_NORM],
                  w.with_code[ASSAY_OP_SOFTMAX], w.honest);
    assert_true(w.with_code[ASSAY_OP_LAYER_NORM] > 20 && w.with_code[ASSAY_OP_L2_NORM] > 10 &&
                w.with_code[ASSAY_OP_SOFTMAX] > 20);
}

/* Whatever schemes of these names compute is shown step by step. */
static void check_units(const char *const *names, const char *seed, uint64_t number)
{
    test_rng r = test_seed(seed, number);
    int n = 0;
    tally w = {.all = true};
    while (names[n])
        n++;
    for (int i = 0; i < DRAWN; i++) {
        assay_error err = {0};
        assay_scheme *s = NULL;
        assert_ok(assay_scheme_open(names[test_between(&r, 0, n - 1)], &s, &err), &err);
        assay_graph *g = test_random_layers_of(&r, s, (assay_op)(i % ASSAY_OP_COUNT), 1);
        if (g)
            check_network(g, s, &r, &w);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
    print_message("# %d elements of units, %d of tables\n", w.units, w.entries);
    assert_true(w.units > 500);
    assert_true(w.entries > 20 || names != assay_scheme_presets());
}

static void every_unit(void **state)
{
    (void)state;
    check_units(assay_scheme_presets(), "explain every unit", 4016);
}

static void every_matrix_scheme(void **state)
{
    (void)state;
    check_units(assay_mac_schemes(), "explain every matrix scheme", 4017);
}

static assay_graph *dot_of(const char *operand, int depth)
{
    char text[500];
    assay_graph *g;
    assay_error err = {0};
    snprintf(text, sizeof text,
             "graph g {\ninput a: %s[2,%d]\ninput b: %s[3,%d]\ninput s: f32[2,1]\n"
             "input t: f32[3,1]\ny: f32[2,3] = scaled_matmul(a, b, s, t) {a_block=[1,%d], "
             "b_block=[1,%d]}\noutput y\n}\n",
             operand, depth, operand, depth, depth, depth);
    assert_ok(text_graph_parse(text, strlen(text), "dot", NULL, &g, &err), &err);
    return g;
}

/* A matrix unit's dot, with its terms and, of many products, without: the steps end at the element,
 * which check_element asks. */
static void matrix_dot(void **state)
{
    static const int depths[] = {4, 32, 160};
    (void)state;
    test_rng r = test_seed("explain a matrix unit's dot", 4020);
    assay_scheme *s;
    assay_error err = {0};
    tally w = {.all = true};
    assert_ok(assay_scheme_open("hopper-fp8", &s, &err), &err);
    for (size_t i = 0; i < 3 * sizeof depths / sizeof *depths; i++) {
        assay_graph *g = dot_of("f8e4m3fn", depths[i / 3]);
        check_network(g, s, &r, &w);
        assay_graph_free(g);
    }
    assert_int_equal(w.units, 3 * 3 * ELEMENTS);
    assay_scheme_free(s);
}

/* ---- plugins, which keep their steps to themselves ---- */

static assay_status own_dot(const assay_unit *u, const assay_dot *d, int32_t *out, assay_error *err)
{
    (void)u;
    (void)err;
    uint32_t sum = (uint32_t)d->bias;
    for (size_t i = 0; i < d->k; i++)
        sum += (uint32_t)d->a[i] * 3 + (uint32_t)d->b[i];
    memcpy(out, &sum, sizeof sum);
    return ASSAY_OK;
}

/* The fake's formulas, and such a dot. */
static assay_scheme own_scheme(assay_scheme_vtable *vt)
{
    assay_scheme s = fake_scheme;
    *vt = *fake_scheme.vt;
    vt->dot = own_dot;
    s.vt = vt;
    return s;
}

/* Whatever a plugin computes has its value and inputs, and the words that it keeps the rest. */
static void every_plugin_op(void **state)
{
    (void)state;
    test_rng r = test_seed("explain plugins", 4018);
    assay_scheme_vtable vt;
    const assay_scheme s = own_scheme(&vt);
    tally w = {.none = true};
    for (int i = 0; i < DRAWN; i++) {
        assay_graph *g = test_random_layers_of(&r, &s, (assay_op)(i % ASSAY_OP_COUNT), 1);
        if (g)
            check_network(g, &s, &r, &w);
        assay_graph_free(g);
    }
    print_message("# %d elements of a plugin's units\n", w.units);
    assert_true(w.units > 500);
}

static void plugin_dot(void **state)
{
    (void)state;
    test_rng r = test_seed("explain a plugin's dot", 4019);
    assay_scheme_vtable vt;
    const assay_scheme s = own_scheme(&vt);
    tally w = {.none = true};
    assay_graph *g = dot_of("bf16", 4);
    for (int i = 0; i < 8; i++)
        check_network(g, &s, &r, &w);
    assay_graph_free(g);
    assert_int_equal(w.units, 8 * ELEMENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_elements), cmocka_unit_test(rows),
        cmocka_unit_test(every_unit),      cmocka_unit_test(every_matrix_scheme),
        cmocka_unit_test(matrix_dot),      cmocka_unit_test(every_plugin_op),
        cmocka_unit_test(plugin_dot),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
