/* Every field of the parameter record away from its default, alone and beside a second one, in
 * networks whose first node reads it: both engines give the same bits in every value, or the same
 * refusal. Fields come from the record's own list: a new one is tried as soon as it is there, and
 * one that moves nothing in any network is a failure. */
#include "test/support/random_layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "graph/text/text.h"
#include "interp/fast/isa.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/reads.h"
#include "test/support/random_scheme.h"
#include "test/support/record_case.h"

enum {
    MIN_NETWORKS = 16,
    MAX_NETWORKS = 2000,
    MAX_CHANGES = 12,
    NODES = 2,
    TRIES = 400,
    PAIRS = 8
};

/* What is read by others than the arithmetic of a network that is quantized already: the quantizer,
 * who adapts a network, how parameters are written down, and scales below 0, which networks do not
 * have. */
static bool is_elsewhere(const assay_field *f)
{
    static const char *const list[] = {"types.",
                                       "accepts.",
                                       "blocks.size",
                                       "convert.group_narrow_floats",
                                       "convert.merge_pairs",
                                       "pool.count_overhang",
                                       "rescale.negative_scale",
                                       "rescale.shift_sign",
                                       "softmax.layer_norm_gamma_bits"};
    char name[80];
    snprintf(name, sizeof name, "%s.%s", f->section, f->name);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

/* ---- records ---- */

static int64_t near(test_rng *r, const assay_field *f)
{
    static const int32_t usual[] = {-1, 0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 20, 24, 31, 32, 33, 40};
    const int64_t v =
        test_between(r, 0, 2) ? usual[test_between(r, 0, 16)] : test_between(r, f->min, f->max);
    return v < f->min ? f->min : v > f->max ? f->max : v;
}

static assay_field_value draw_value(test_rng *r, const assay_field *f)
{
    assay_field_value v = test_random_choice(r, f, ASSAY_MAX_STEPS - 1);
    if (f->kind == ASSAY_FIELD_INT)
        v.number = (int32_t)near(r, f);
    return v;
}

/* f's value changed to another; false where none was drawn. */
static bool change(test_rng *r, assay_record *to, const assay_field *f)
{
    const assay_field_value old = assay_record_get(to, f);
    for (int i = 0; i < 8; i++) {
        const assay_field_value v = draw_value(r, f);
        if (!assay_field_equal(f, v, old)) {
            assay_record_set(to, f, v);
            return true;
        }
    }
    return false;
}

/* Records to start from: the default, and what presets have for some ops. */
enum { MAX_RECORDS = 1000 };
static assay_record records[MAX_RECORDS];
static int n_records;

static int collect(void **state)
{
    static const char *const ops[] = {"conv", "add", "avg_pool", "softmax", "sigmoid"};
    assay_error err;
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        for (size_t i = 0; i < sizeof ops / sizeof *ops && n_records < MAX_RECORDS; i++)
            assay_effective_record(assay_data(s), ops[i], "", 0, &records[n_records++]);
        assay_scheme_free(s);
    }
    return 0;
}

/* A field of f's section, once in a while of another. */
static const assay_field *draw_field(test_rng *r, const assay_field *f, int seldom)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n), *g;
    do
        g = &fields[test_between(r, 0, (int64_t)n - 1)];
    while (strcmp(g->section, f->section) != 0 && test_between(r, 0, seldom));
    return g;
}

/* One of them, with up to so many fields, mostly of f's section, drawn anew. */
static void draw_base(test_rng *r, const assay_field *f, int changes, assay_record *out)
{
    if (test_between(r, 0, 2))
        *out = records[test_between(r, 0, n_records - 1)];
    else
        assay_record_default(out);
    for (int64_t k = test_between(r, 0, changes); k > 0; k--) {
        change(r, out, draw_field(r, f, 19));
    }
}

/* A record and the same with f, and where that makes no sense alone another of its section,
 * changed; now and then a field of any section is changed in both. Both make sense, and f is read.
 */
static bool draw_pair(test_rng *r, const assay_field *f, int changes, assay_record *base,
                      assay_record *changed)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    for (int i = 0; i < TRIES; i++) {
        draw_base(r, f, changes, base);
        if (test_between(r, 0, 1))
            change(r, base, &fields[test_between(r, 0, (int64_t)n - 1)]);
        *changed = *base;
        if (i > TRIES / 4) /* fields that go together */
            change(r, changed, draw_field(r, f, 1000));
        if (change(r, changed, f) && record_makes_sense(base) && record_makes_sense(changed) &&
            !assay_reads_not(changed, f))
            return true;
    }
    return false;
}

/* ---- networks ---- */

static bool is_reader(const assay_record *record, assay_op op, const assay_field *f)
{
    return assay_reads_op(record, op, f) || assay_reads_float(op, f);
}

static int count_read(const assay_record *record, assay_op op)
{
    size_t n;
    int read = 0;
    const assay_field *fields = assay_record_fields(&n);
    for (size_t i = 0; i < n; i++)
        read += is_reader(record, op, &fields[i]);
    return read;
}

/* An op that reads f under r, often the one that reads least beside it; where none does, a layer.
 */
static assay_op draw_op(test_rng *r, const assay_record *record, const assay_field *f)
{
    assay_op readers[ASSAY_OP_COUNT], all[ASSAY_OP_COUNT], least = ASSAY_OP_COUNT;
    int n = 0, n_all = 0;
    for (int i = 0; i < ASSAY_OP_COUNT; i++) {
        const assay_op op = (assay_op)i;
        if (is_reader(record, op, f)) {
            readers[n++] = op;
            if (least == ASSAY_OP_COUNT || count_read(record, op) < count_read(record, least))
                least = op;
        }
        if (assay_op_get(op)->traits & (ASSAY_T_WEIGHTED | ASSAY_T_LAYOUT))
            all[n_all++] = op;
    }
    if (n == 0)
        return all[test_between(r, 0, n_all - 1)];
    return test_between(r, 0, 2) ? readers[test_between(r, 0, n - 1)] : least;
}

/* The name of the first value in which two runs differ, or NULL. */
static const char *first_difference(const assay_graph *g, const record_run *a, const record_run *b)
{
    for (int v = 0; v < g->n_values; v++) {
        const size_t bytes = assay_type_bytes(&g->value[v].type);
        if ((g->value[v].producer >= 0 || g->value[v].is_variable) && bytes > 0 &&
            memcmp(assay_run_data(a->run, v), assay_run_data(b->run, v), bytes) != 0)
            return g->value[v].name;
    }
    return NULL;
}

static bool is_same(const assay_graph *g, const record_run *a, const record_run *b)
{
    if (a->status != b->status)
        return false;
    return a->status == ASSAY_OK ? first_difference(g, a, b) == NULL
                                 : strcmp(a->err.text, b->err.text) == 0;
}

/* The record, where it is not the default, and the network. */
static void print_case(const assay_record *record, const assay_graph *g)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_record plain;
    assay_buf text = {0};
    assay_error err;
    assay_record_default(&plain);
    for (size_t i = 0; i < n; i++) {
        const assay_field_value v = assay_record_get(record, &fields[i]);
        char value[120];
        assay_field_print(&fields[i], v, value, sizeof value);
        if (!assay_field_equal(&fields[i], v, assay_record_get(&plain, &fields[i])))
            print_message("%s: {%s: %s}\n", fields[i].section, fields[i].name, value);
    }
    if (text_graph_print(g, NULL, &text, &err) == ASSAY_OK)
        print_message("%s", text.text);
    assay_buf_free(&text);
}

/* Both engines under the changed record; whether the change moved anything. */
static bool moves(test_rng *r, const assay_graph *g, const assay_scheme *base,
                  const assay_scheme *changed, const assay_field *f)
{
    static const char *const isas[] = {"portable", "avx2", "vnni"};
    const assay_isa_kernels *k;
    assay_error err;
    const char *isa = isas[test_between(r, 0, 2)];
    if (fast_isa_choose(isa, &k, &err) != ASSAY_OK)
        isa = "portable";
    const uint64_t inputs = test_random(r);
    record_run old = record_compute(g, base, ASSAY_ENGINE_REF, NULL, inputs);
    record_run ref = record_compute(g, changed, ASSAY_ENGINE_REF, NULL, inputs);
    record_run fast = record_compute(g, changed, ASSAY_ENGINE_FAST, isa, inputs);
    if (!is_same(g, &ref, &fast)) {
        print_case(&assay_data(changed)->base, g);
        fail_msg("%s.%s: the engines differ (%s): '%s', '%s'", f->section, f->name, isa,
                 ref.status == ASSAY_OK ? "computed" : ref.err.text,
                 fast.status == ASSAY_OK ? "computed" : fast.err.text);
    }
    const bool moved = !is_same(g, &old, &ref);
    record_end(&old);
    record_end(&ref);
    record_end(&fast);
    return moved;
}

/* Long layers are other tests' work: thresholds of 16 bits for 2,000 channels take seconds a pair.
 */
static bool is_long(const assay_graph *g)
{
    for (int v = 0; v < g->n_values; v++)
        for (int i = 0; i < g->value[v].type.rank; i++)
            if (g->value[v].type.dim[i] > 256)
                return true;
    return false;
}

/* One network under some pairs of records; their number. */
static int try_one(test_rng *r, const assay_field *f, int changes, bool *moved)
{
    assay_record base, changed;
    assay_graph *g = NULL;
    int tried = 0;
    for (int i = 0; i < PAIRS && (i == 0 || g); i++) {
        if (!draw_pair(r, f, changes, &base, &changed))
            continue;
        assay_scheme *old = record_scheme(&base), *new = record_scheme(&changed);
        if (!g)
            g = test_random_layers_of(r, test_between(r, 0, 3) ? new : old, draw_op(r, &changed, f),
                                      (int)test_between(r, 1, NODES));
        if (g && is_long(g)) {
            assay_graph_free(g);
            g = NULL;
        }
        if (g && tried == PAIRS / 2)
            test_redraw_scales(r, g);
        if (g && moves(r, g, old, new, f))
            *moved = true;
        tried += g != NULL;
        assay_scheme_free(old);
        assay_scheme_free(new);
    }
    assay_graph_free(g);
    return tried;
}

static void try_field(test_rng *r, const assay_field *f)
{
    bool moved = false;
    int networks = 0, tried = 0;
    while (networks < MAX_NETWORKS && (networks < MIN_NETWORKS || (!moved && !is_elsewhere(f)))) {
        const int changes = 2 + networks / 4;
        tried += try_one(r, f, changes < MAX_CHANGES ? changes : MAX_CHANGES, &moved);
        networks++;
    }
    if (getenv("ASSAY_TEST_LOG"))
        print_message("%s.%s: %d networks, %d pairs, %s\n", f->section, f->name, networks, tried,
                      moved ? "moved" : "not moved");
    if (tried < MIN_NETWORKS)
        fail_msg("%s.%s: only %d pairs of records in %d networks", f->section, f->name, tried,
                 networks);
    if (!moved && !is_elsewhere(f))
        fail_msg("%s.%s: no network reads it (%d pairs of records were tried in %d)", f->section,
                 f->name, tried, networks);
}

static void every_field(void **state)
{
    (void)state;
    test_rng r = test_seed("every field", 14);
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    for (size_t i = 0; i < n; i++)
        try_field(&r, &fields[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_field)};
    return cmocka_run_group_tests_name("every_field", tests, collect, NULL);
}
