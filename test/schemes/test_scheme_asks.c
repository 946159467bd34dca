/* Fields of a record by the op that asks for them: what the ops' other tests leave out. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/prepare/asks.h"
#include "schemes/scheme.h"

static const assay_field *field(const char *section, const char *name)
{
    size_t n;
    const int i = assay_record_find(section, name);
    if (i < 0)
        fail_msg("no field %s.%s", section, name);
    return &assay_record_fields(&n)[i];
}

static assay_scheme *parse(const char *text)
{
    assay_scheme *s;
    assay_error err = {0};
    assert_ok(assay_scheme_parse("t.yaml", text, strlen(text), &s, &err), &err);
    return s;
}

typedef struct ask {
    const char *op, *section, *name;
    bool reads;
} ask;

static void fields_by_op(void **state)
{
    static const ask asks[] = {
        {"layer_norm", "softmax", "layer_norm", true},
        {"layer_norm", "softmax", "layer_norm_gamma_bits", false},
        {"softmax", "softmax", "layer_norm", false},
        {"softmax", "softmax", "kind", true},
        {"reduce_sum", "add", "scale", false},
        {"add_n", "add", "scale", true},
        {"cumsum", "add", "kind", true},
        {"add_n", "add", "bits", true},
        {"add_n", "add", "round", false},
        {"add_n", "add", "extra_zero_point", true},
        {"add_n", "accumulator", "bits", true},
        {"cumsum", "accumulator", "overflow", true},
        {"add_n", "accumulator", "order", false},
        {"add", "accumulator", "bits", false},
        {"add", "add", "scale", true},
        {"add", "add", "extra_zero_point", false},
        {"less", "rescale", "store", false},
        {"less", "rescale", "zero_point", false},
        {"less", "rescale", "multiplier_bits", true},
        {"add", "rescale", "store", true},
        {"quantize", "rescale", "multiplier_bits", false},
        {"conv", "rescale", "shift_sign", false},
    };
    assay_scheme *s =
        parse("scheme: t\nbinary: {compare: rescale}\nsoftmax: {kind: fixed-point}\n");
    (void)state;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        const ask *a = &asks[i];
        if (assay_reads_op(&assay_data(s)->base, assay_op_find(a->op),
                           field(a->section, a->name)) != a->reads)
            fail_msg("%s reads %s.%s: not %d", a->op, a->section, a->name, a->reads);
    }
    assay_scheme_free(s);
}

/* A file that changes the accumulator loses its parent's claims of what adds codes, too. */
static void claims_of_sums(void **state)
{
    (void)state;
    assay_scheme *all = parse("scheme: t\nextends: tflite\naccumulator: {bits: 24}\n");
    assay_scheme *one =
        parse("scheme: t\nextends: tflite\nops: {add_n: {accumulator: {bits: 8}}}\n");
    assert_false(assay_scheme_is_exact(all, "add_n", 8));
    assert_false(assay_scheme_is_exact(all, "cumsum", 8));
    assert_true(assay_scheme_is_exact(all, "add", 8));
    assert_false(assay_scheme_is_exact(one, "add_n", 8));
    assert_true(assay_scheme_is_exact(one, "cumsum", 8));
    assay_scheme_free(all);
    assay_scheme_free(one);
}

/* Gamma's bits are the quantizer's: of the op, in some scopes. */
static void given_to_an_op(void **state)
{
    static const struct {
        enum assay_scope scope;
        bool reads;
    } scopes[] = {{ASSAY_SCOPE_OP, true},
                  {ASSAY_SCOPE_WIDE_OP, true},
                  {ASSAY_SCOPE_WIDE, true},
                  {ASSAY_SCOPE_NODE, false},
                  {ASSAY_SCOPE_UNSIGNED_OP, false}};
    const assay_field *bits = field("softmax", "layer_norm_gamma_bits"),
                      *overhang = field("pool", "count_overhang");
    assay_scheme *s = parse("scheme: t\n");
    const assay_record *r = &assay_data(s)->base;
    (void)state;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        assert_int_equal(assay_reads_given(r, ASSAY_OP_LAYER_NORM, scopes[i].scope, bits),
                         scopes[i].reads);
        assert_false(assay_reads_given(r, ASSAY_OP_SOFTMAX, scopes[i].scope, bits));
        assert_int_equal(assay_reads_given(r, ASSAY_OP_AVG_POOL, scopes[i].scope, overhang),
                         scopes[i].scope == ASSAY_SCOPE_OP);
    }
    assert_false(assay_reads_given(r, ASSAY_OP_GLOBAL_AVG_POOL, ASSAY_SCOPE_OP, overhang));
    assert_false(assay_reads_given(r, ASSAY_OP_WHERE, ASSAY_SCOPE_OP, bits));
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fields_by_op),
                                       cmocka_unit_test(claims_of_sums),
                                       cmocka_unit_test(given_to_an_op)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
