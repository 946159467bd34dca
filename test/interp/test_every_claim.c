/* Every claim of prepare/asks.h that an op reads a field of the record: some network of that op
 * alone computes something else when the field alone is changed. A claim that moves nothing is a
 * field that a scheme file may state and nobody reads. */
#include "test/support/random_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/prepare/asks.h"
#include "schemes/record/reads.h"
#include "test/support/random_scheme.h"
#include "test/support/record_case.h"

enum { MAX_RECORDS = 1000, MAX_FIELDS = 256, MAX_CHANGES = 8, MIN_TRIES = 16, MAX_TRIES = 24000 };
static assay_record records[MAX_RECORDS];
static int n_records;

/* What no preset has. */
static void collect_text(const char *text)
{
    assay_scheme *s;
    assay_error err;
    assert_ok(assay_scheme_parse("drawn", text, strlen(text), &s, &err), &err);
    for (int i = 0; i < 8; i++)
        records[n_records++] = assay_data(s)->base;
    assay_scheme_free(s);
}

static int collect(void **state)
{
    assay_error err;
    (void)state;
    assay_record_default(&records[n_records++]);
    collect_text("scheme: d\naccumulator: {order: lanes, lanes: 3, bits: 9, overflow: "
                 "saturate-each-step}\n");
    collect_text("scheme: d\nblocks: {kind: multiplier, sum_bits: 8, shift: 3}\n");
    collect_text("scheme: d\nunary: {rescale: table, leaky_relu: table}\n");
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        assay_effective_record(assay_data(s), "", "", 0, &records[n_records++]);
        assay_effective_record(assay_data(s), "", "", ASSAY_VARIANT_WIDE, &records[n_records++]);
        assay_scheme_free(s);
    }
    return 0;
}

static int32_t near(test_rng *r, const assay_field *f)
{
    static const int32_t usual[] = {-1, 0, 1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33};
    const int64_t v =
        test_between(r, 0, 2) ? usual[test_between(r, 0, 17)] : test_between(r, f->min, f->max);
    return (int32_t)(v < f->min ? f->min : v > f->max ? f->max : v);
}

static void change(test_rng *r, assay_record *to, const assay_field *f)
{
    assay_field_value v = test_random_choice(r, f, ASSAY_MAX_STEPS - 1);
    if (f->kind == ASSAY_FIELD_INT)
        v.number = near(r, f);
    assay_record_set(to, f, v);
}

static bool is_same(const assay_graph *g, const record_run *a, const record_run *b)
{
    if (a->status != b->status)
        return false;
    if (a->status)
        return strcmp(a->err.text, b->err.text) == 0;
    for (int i = 0; i < g->n_outputs; i++) {
        const size_t bytes = assay_type_bytes(&g->value[g->output[i]].type);
        if (bytes > 0 && memcmp(assay_run_data(a->run, g->output[i]),
                                assay_run_data(b->run, g->output[i]), bytes) != 0)
            return false;
    }
    return true;
}

/* What a drawn network of one op need not show: what is of other runs than of networks that are
 * quantized already; what all ops that read it read in one place (how scales are encoded and
 * multiplied, bounds of activations); the last bit of a float, which seldom decides a code; the
 * store of a clip without an end. */
static bool is_elsewhere(assay_op op, const assay_field *f)
{
    static const char *const last_bits[] = {"table.kind",    "table.precision",  "table.division",
                                            "table.sigmoid", "table.zero_point", "add.scale",
                                            "pool.scale"};
    const bool edge = op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_DEQUANTIZE;
    char name[80];
    snprintf(name, sizeof name, "%s.%s", f->section, f->name);
    for (size_t i = 0; i < sizeof last_bits / sizeof *last_bits; i++)
        if (strcmp(name, last_bits[i]) == 0)
            return true;
    if (strcmp(f->section, "rescale") == 0)
        return strcmp(f->name, "store") != 0 || op == ASSAY_OP_CLIP;
    return strcmp(f->section, "types") == 0 || strcmp(f->section, "accepts") == 0 ||
           (strcmp(f->section, "convert") == 0 && !edge);
}

static bool is_long(const assay_graph *g)
{
    for (int v = 0; v < g->n_values; v++)
        for (int i = 0; i < g->value[v].type.rank; i++)
            if (g->value[v].type.dim[i] > 64)
                return true;
    return false;
}

typedef struct claims {
    bool made[MAX_FIELDS], moved[MAX_FIELDS];
    int open;
} claims;

/* A field of f's section, or any (f: NULL). */
static const assay_field *draw_field(test_rng *r, const assay_field *f)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n), *g;
    do
        g = &fields[test_between(r, 0, (int64_t)n - 1)];
    while (f && strcmp(g->section, f->section) != 0);
    return g;
}

/* Up to so many fields drawn anew, one or two that go together at a time, where that makes sense.
 */
static void vary(test_rng *r, assay_record *record, const assay_field *f, int changes)
{
    for (int64_t k = test_between(r, 0, changes); k > 0; k--) {
        assay_record other = *record;
        for (int64_t two = test_between(r, 0, 1); two >= 0; two--)
            change(r, &other, draw_field(r, f));
        if (record_makes_sense(&other))
            *record = other;
    }
}

/* Whether g computes something else when f changes, after others of its section were varied. */
static bool moves(test_rng *r, const assay_graph *g, const assay_record *start, assay_op op,
                  const assay_field *f, bool *is_claim)
{
    assay_record base = *start, changed;
    vary(r, &base, f, MAX_CHANGES);
    changed = base;
    change(r, &changed, f);
    *is_claim = record_makes_sense(&changed) && !assay_reads_not(&changed, f) &&
                assay_reads_op(&changed, op, f);
    if (!*is_claim)
        return false;
    const uint64_t inputs = test_random(r);
    assay_scheme *under[] = {record_scheme(&base), record_scheme(&changed)};
    record_run old = record_compute(g, under[0], ASSAY_ENGINE_REF, NULL, inputs);
    record_run new = record_compute(g, under[1], ASSAY_ENGINE_REF, NULL, inputs);
    const bool moved = !is_same(g, &old, &new);
    record_end(&old);
    record_end(&new);
    assay_scheme_free(under[0]);
    assay_scheme_free(under[1]);
    return moved;
}

/* A field whose claim is not yet seen to move anything, or any field. */
static const assay_field *wanted(test_rng *r, const claims *c)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    int64_t skip = c->open > 0 ? test_between(r, 0, c->open - 1) : -1;
    for (size_t i = 0; i < n && skip >= 0; i++)
        if (c->made[i] && !c->moved[i] && skip-- == 0)
            return &fields[i];
    return &fields[test_between(r, 0, (int64_t)n - 1)];
}

/* One network of op, under records each with one field changed that is not yet seen to move
 * anything. */
static void try_one(test_rng *r, assay_op op, claims *c)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_record base = records[test_between(r, 0, 3) ? test_between(r, 0, n_records - 1) : 0];
    vary(r, &base, NULL, MAX_CHANGES);
    vary(r, &base, wanted(r, c), MAX_CHANGES);
    assay_scheme *s = record_scheme(&base);
    assay_graph *g = test_random_layers_of(r, s, op, 1);
    assay_scheme_free(s);
    if (g && test_between(r, 0, 1))
        test_redraw_scales(r, g);
    for (size_t i = 0; g && !is_long(g) && i < n; i++) {
        bool is_claim = false;
        if (is_elsewhere(op, &fields[i]) || c->moved[i])
            continue;
        c->moved[i] = moves(r, g, &base, op, &fields[i], &is_claim);
        c->open += is_claim && !c->made[i];
        c->made[i] = c->made[i] || is_claim;
        c->open -= c->moved[i];
    }
    assay_graph_free(g);
}

static void try_op(test_rng *r, assay_op op)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    claims c = {.open = 0};
    int tried = 0;
    while (tried < MIN_TRIES || (tried < MAX_TRIES && c.open > 0)) {
        try_one(r, op, &c);
        tried++;
    }
    if (getenv("ASSAY_TEST_LOG"))
        print_message("%s: %d networks\n", assay_op_get(op)->name, tried);
    for (size_t i = 0; i < n; i++)
        if (c.made[i] && !c.moved[i])
            print_error(
                "%s reads %s.%s, says prepare/asks.c, but it moved nothing in %d networks\n",
                assay_op_get(op)->name, fields[i].section, fields[i].name, tried);
    assert_int_equal(c.open, 0);
}

static void every_claim(void **state)
{
    (void)state;
    test_rng r = test_seed("every claim", 15);
    size_t n;
    (void)assay_record_fields(&n);
    assert_true(n <= MAX_FIELDS);
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        try_op(&r, (assay_op)op);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_claim)};
    return cmocka_run_group_tests_name("every_claim", tests, collect, NULL);
}
