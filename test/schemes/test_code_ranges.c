/* Codes against the ends of their type: every value of random networks under random records, most
 * of which store low bits or add the zero point inside, by the reference and by the fast engine. */
#include "test/support/random_layers.h"
#include "test/support/random_scheme.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "graph/core/type.h"
#include "graph/text/text.h"
#include "interp/run/program.h"

enum { NETWORKS = 1500, NODES = 3, TEXT = 2000 };

/* A drawn scheme; where it leaves `rescale` alone, often one that keeps the low bits. */
static assay_scheme *draw_scheme(test_rng *r, char text[TEXT])
{
    static const char *const more[] = {
        "", "rescale: {store: wrap}\n",
        ("rescale: {store: wrap, encoding: float32, round: [half-even], scale: f32, pre_shift: "
         "none, "
         "pre_shift_bits: 0, reduced_bits: 0, zero_point: inside}\n"),
        ("rescale: {store: wrap, encoding: float64, round: [floor], scale: double, pre_shift: "
         "none, "
         "pre_shift_bits: 0, reduced_bits: 0, float_overflow: int-min}\n")};
    char with[TEXT + 400];
    assay_error err;
    assay_scheme *s = test_random_scheme(r, text, TEXT), *other;
    snprintf(with, sizeof with, "%s%s", text, more[test_between(r, 0, 3)]);
    if (strstr(text, "\nrescale:") != NULL ||
        assay_scheme_parse("drawn", with, strlen(with), &other, &err) != ASSAY_OK)
        return s;
    assay_scheme_free(s);
    snprintf(text, TEXT, "%s", with);
    return other;
}

static void check_value(const assay_value *v, const void *data, uint64_t seed, const char *scheme,
                        const assay_graph *g)
{
    const assay_elem e = v->type.elem;
    const int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    for (int64_t i = 0; i < assay_shape_count(&v->type); i++) {
        const int64_t code = assay_elem_get(e, data, (size_t)i);
        if (code >= lo && code <= hi)
            continue;
        assay_buf text = {0};
        assay_error err;
        assert_ok(text_graph_print(g, NULL, &text, &err), &err);
        fail_msg("seed %" PRIu64 ": '%s' holds %" PRId64 "\n%s%s", seed, v->name, code, scheme,
                 text.text);
    }
}

/* How many values of codes of fewer bits than a byte were looked at. */
static int check_network(const assay_graph *g, const assay_scheme *s, test_rng *r, uint64_t seed,
                         const char *text)
{
    const assay_program_options o = {.engine = ASSAY_ENGINE_BOTH, .keep_all = true, .threads = 1};
    assay_program *p;
    assay_run *run;
    assay_error err;
    int narrow = 0;
    assert_ok(run_program_make_with(g, s, &o, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    for (int k = 0; k < g->n_inputs; k++)
        if (assay_run_data(run, g->input[k]))
            test_random_data(r, (enum test_data)test_between(r, 0, TEST_DATA_WAYS - 1),
                             &g->value[g->input[k]].type, assay_run_data(run, g->input[k]));
    if (run_execute(run, NULL, false, NULL, &err) == ASSAY_OK) /* it may trap */
        for (int v = 0; v < g->n_values; v++) {
            const assay_type *t = &g->value[v].type;
            if (t->elem.kind != ASSAY_KIND_INT || g->value[v].producer < 0)
                continue;
            check_value(&g->value[v], assay_run_data(run, v), seed, text, g);
            narrow += t->elem.bits % 8 != 0;
        }
    assay_run_free(run);
    assay_program_free(p);
    return narrow;
}

static void random_networks(void **state)
{
    (void)state;
    test_rng seeds = test_seed("code_ranges", 1401);
    int networks = 0, narrow = 0;
    for (int i = 0; i < NETWORKS; i++) {
        char text[TEXT];
        const uint64_t seed = test_random(&seeds);
        test_rng r = {seed};
        assay_scheme *s = draw_scheme(&r, text);
        assay_graph *g = test_random_layers_of(&r, s, ASSAY_OP_COUNT, NODES);
        if (g != NULL)
            narrow += check_network(g, s, &r, seed, text);
        networks += g != NULL;
        assay_graph_free(g);
        assay_scheme_free(s);
    }
    print_message("# %d networks, %d values of codes that do not fill bytes\n", networks, narrow);
    assert_true(networks > NETWORKS / 2 && narrow > NETWORKS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
