/* A record with what the short forms of arithmetic were not told of goes the plain way: its rows
 * are the long ones with the same codes, and neither vectors nor sums in another order are offered.
 */
#include "test/support/support.h"

#include <string.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/known.h"
#include "schemes/derive/derive.h"
#include "schemes/record/data.h"
#include "test/support/scheme_unit.h"

/* Fields for which the plain way is enough; the last is none. */
#define PLAIN(section, field) offsetof(assay_record, section.field),
static const size_t plain_way[] = {
#include "schemes/apply/known.def"
    SIZE_MAX};

static bool goes_the_plain_way(const assay_field *f)
{
    size_t i = 0;
    while (plain_way[i] != SIZE_MAX && plain_way[i] != f->offset)
        i++;
    return plain_way[i] == f->offset;
}

/* Every field of the arithmetic has a line; without it, each is looked at. */
static void each_field(void **state)
{
    (void)state;
    size_t n, n_known;
    const assay_field *fields = assay_record_fields(&n);
    const apply_place *known = apply_known(&n_known);
    assay_record plain, r;
    assay_record_default(&plain);
    assert_false(derive_is_untold(&plain));
    for (size_t i = 0; i < n; i++) {
        apply_place others[200];
        size_t n_others = 0;
        assert_in_range(n_known, 1, 200);
        for (size_t k = 0; k < n_known; k++)
            if (known[k].offset != fields[i].offset)
                others[n_others++] = known[k];
        r = plain;
        assay_field_value v = assay_record_get(&r, &fields[i]);
        v.number++; /* of steps: how many there are */
        assay_record_set(&r, &fields[i], v);
        const bool is_type =
            strcmp(fields[i].section, "types") == 0 || strcmp(fields[i].section, "accepts") == 0;
        if (derive_is_untold(&r) && !goes_the_plain_way(&fields[i]))
            fail_msg("schemes/apply/known.def does not name %s.%s: it is right, and slow",
                     fields[i].section, fields[i].name);
        assert_int_equal(apply_is_plain_beside(&r, &plain, others, n_others), is_type);
    }
}

/* A unit of a record, and the same with the flag that a new field sets. */
typedef struct pair {
    assay_scheme *s;
    assay_unit *known, *untold;
} pair;

static pair prepare(const char *record, const char *op, int n_in, unsigned bits_in, float s_out)
{
    static const float one = 1, half = 0.5F;
    static const int32_t zero = 0;
    const float *out_scale = s_out == 1 ? &one : &half;
    const assay_type in[3] = {code_type(bits_in, true, &one, &zero),
                              code_type(8, true, &one, &zero), code_type(32, true, &one, &zero)};
    const assay_type real = {.elem = {ASSAY_KIND_F32, 32, true}, .rank = 1, .dim = {1}};
    assay_type out = code_type(8, true, out_scale, &zero);
    assay_unit_spec spec = unit_spec(op, in, n_in, &out);
    pair p = {.s = unit_scheme(record)};
    if (strcmp(op, "quantize") == 0)
        spec.in = &real;
    if (strcmp(op, "resize") == 0) {
        spec.flag = ASSAY_RESIZE_LINEAR;
        spec.depth = 0; /* axes that no kernel interpolates */
    }
    p.known = unit_prepare(p.s, &spec);
    p.untold = unit_prepare(p.s, &spec);
    assert_false(p.known->untold);
    p.untold->untold = true;
    for (int i = 0; i < 3; i++) {
        p.untold->scale[i].untold = true;
        if (p.untold->scale[i].multiplier != NULL)
            apply_rescale_choose(&p.untold->scale[i]);
    }
    p.untold->simd = simd_choose(&p.untold->scale[ASSAY_OUT]);
    return p;
}

static void let_go(pair *p)
{
    p->s->vt->release(p->known);
    p->s->vt->release(p->untold);
    assay_scheme_free(p->s);
}

static void rows(void **state)
{
    (void)state;
    static const char *const records[] = {"", "rescale: {round: [half-up], left_shift: product}\n",
                                          "rescale: {encoding: float32, round: [half-even]}\n",
                                          "rescale: {encoding: float64, round: [half-away]}\n"};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        pair p = prepare(records[i], "conv", 3, 8, 0.5F);
        const assay_rescale *a = &p.known->scale[ASSAY_OUT], *b = &p.untold->scale[ASSAY_OUT];
        if (i < 2)
            assert_ptr_not_equal(a->row, b->row);
        assert_int_not_equal(p.known->simd.way, i < 3 ? ASSAY_SIMD_NONE : -1);
        assert_int_equal(p.untold->simd.way, ASSAY_SIMD_NONE);
        for (int64_t acc = -300; acc <= 300; acc++)
            assert_int_equal(apply_rescale_one(a, acc, 0), apply_rescale_one(b, acc, 0));
        assert_true(p.s->vt->facts->exact(p.known, 1000, 0));
        assert_false(p.s->vt->facts->exact(p.untold, 1000, 0));
        assert_false(p.s->vt->facts->may_refuse(p.known, (assay_interval){-1000, 1000}));
        assert_true(p.s->vt->facts->may_refuse(p.untold, (assay_interval){-1000, 1000}));
        let_go(&p);
    }
}

/* Vector forms that a unit has, and has not once it is untold. */
static void vectors(void **state)
{
    (void)state;
    const enum assay_isa isa = ASSAY_ISA_PORTABLE;
    pair p = prepare("", "mul", 2, 8, 1);
    assert_non_null(p.s->vt->simd->codes(p.known, isa, 255));
    assert_null(p.s->vt->simd->codes(p.untold, isa, 255));
    let_go(&p);
    p = prepare("add: {kind: float-scaled, round: half-even}\n", "add", 2, 8, 1);
    assert_int_equal(simd_add_choose(p.known), ASSAY_SIMD_ADD_FLOAT);
    assert_int_equal(simd_add_choose(p.untold), ASSAY_SIMD_ADD_NONE);
    let_go(&p);
    p = prepare("", "quantize", 1, 8, 1);
    assert_non_null(p.s->vt->simd->encode(p.known, isa));
    assert_null(p.s->vt->simd->encode(p.untold, isa));
    let_go(&p);
    p = prepare("", "resize", 1, 8, 1);
    assert_non_null(p.s->vt->simd->interpolate(p.known, isa));
    assert_null(p.s->vt->simd->interpolate(p.untold, isa));
    let_go(&p);
    p = prepare("softmax: {kind: float-table}\n", "softmax", 1, 8, 0.5F);
    assert_null(p.s->vt->simd->bytes(p.untold, isa));
    let_go(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_field), cmocka_unit_test(rows),
                                       cmocka_unit_test(vectors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
