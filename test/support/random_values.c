/* Data, types and values for test_random_layers. */
#include "test/support/random_drawing.h"

#include <math.h>
#include <stdio.h>

enum { USUAL = 20000 };

int64_t test_upto(test_drawing *d, int64_t n)
{
    return test_between(d->r, 0, n);
}

/* ---- data ---- */

static int64_t draw_code(test_rng *r, enum test_data how, assay_elem e, int64_t i)
{
    int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    lo = lo < INT32_MIN ? INT32_MIN : lo;
    hi = hi > INT32_MAX ? INT32_MAX : hi;
    switch (how) {
    case TEST_DATA_MIN:
        return lo;
    case TEST_DATA_MAX:
        return hi;
    case TEST_DATA_BOTH:
        return i % 2 ? lo : hi;
    default:
        return test_between(r, lo, hi);
    }
}

static float draw_float(test_rng *r)
{
    static const float odd[] = {0, -0.0F, INFINITY, -INFINITY, NAN, 0x1p-149F, 0x1.fffffep127F};
    if (test_between(r, 0, 5) == 0)
        return odd[test_between(r, 0, 6)];
    return (float)test_between(r, -400, 400) * 0.025F;
}

void test_random_data(test_rng *r, enum test_data how, const assay_type *t, void *data)
{
    how = test_between(r, 0, 7) ? how : (enum test_data)test_between(r, 0, TEST_DATA_WAYS - 1);
    for (int64_t i = 0; i < assay_shape_count(t); i++)
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = draw_float(r);
        else if (t->elem.kind == ASSAY_KIND_BOOL)
            assay_elem_set(t->elem, data, (size_t)i, test_between(r, 0, 1));
        else
            assay_elem_set(t->elem, data, (size_t)i, draw_code(r, how, t->elem, i));
}

/* ---- types ---- */

float test_draw_scale(test_drawing *d)
{
    const double mantissa = test_upto(d, 2) ? 1 + test_unit(d->r) : 1;
    return (float)ldexp(mantissa, (int)test_between(d->r, -8, 0));
}

assay_elem test_draw_elem(test_drawing *d)
{
    switch (test_upto(d, 9)) {
    case 0:
        return assay_int((unsigned)test_between(d->r, 1, d->wide ? 32 : 16), test_upto(d, 1) != 0);
    case 1:
        return assay_int(16, true);
    case 2:
        return assay_int(4, true);
    case 3:
    case 4:
    case 5:
        return assay_int(8, false);
    default:
        return assay_int(8, true);
    }
}

int32_t test_draw_zero(test_drawing *d, assay_elem e)
{
    const int32_t middle = e.is_signed || e.bits == 32 ? 0 : 1 << (e.bits - 1);
    if (test_upto(d, 2) == 0)
        return 0;
    if (test_upto(d, 2) == 0 || e.bits > 8)
        return middle;
    return (int32_t)test_between(d->r, assay_elem_min(e), assay_elem_max(e));
}

void test_draw_type(test_drawing *d, assay_type *t, test_params *p)
{
    t->elem = test_draw_elem(d);
    p->scale[0] = test_draw_scale(d);
    p->zero[0] = test_draw_zero(d, t->elem);
    t->q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, p->scale, p->zero};
}

int64_t test_draw_extent(test_drawing *d)
{
    switch (test_upto(d, 11)) {
    case 0:
        return test_upto(d, 7) ? 1 : 0;
    case 1:
    case 2:
        return 1;
    case 3:
        return test_between(d->r, 10, 70);
    default:
        return test_between(d->r, 2, 9);
    }
}

void test_draw_shape(test_drawing *d, int rank, assay_type *t)
{
    t->rank = rank;
    do
        for (int i = 0; i < rank; i++)
            t->dim[i] = test_draw_extent(d);
    while (assay_shape_count(t) > USUAL);
    if (rank > 2 && rank < 5 && test_upto(d, 29) == 0) /* work enough for several threads */
        for (int i = 0; i < rank; i++)
            t->dim[i] = i ? test_between(d->r, 12, 30) : test_between(d->r, 1, 4);
    if (rank > 0 && test_upto(d, 24) == 0) /* thousands of channels */
        t->dim[test_upto(d, 2) ? rank - 1 : rank > 1] = test_between(d->r, 2040, 2100);
    if (rank > 0 && rank < 3 && test_upto(d, 7) == 0) /* large enough for tables of all pairs */
        t->dim[rank - 1] = 70000;
    if (assay_shape_count(t) > TEST_MAX_ELEMENTS)
        t->dim[0] = 1;
}

/* ---- values ---- */

static const char *fresh(test_drawing *d, char *name, size_t size)
{
    snprintf(name, size, "v%d", d->n_names++);
    return name;
}

/* A value, or -1: its type is none that a graph may have. */
int test_add_input(test_drawing *d, const assay_type *t)
{
    char name[16];
    assay_error err;
    int id;
    return assay_graph_add_value(d->g, fresh(d, name, sizeof name), t, &id, &err) ? -1 : id;
}

int test_add_constant(test_drawing *d, const assay_type *t)
{
    char name[16];
    assay_error err;
    int id;
    if (assay_shape_count(t) > TEST_MAX_ELEMENTS ||
        assay_graph_add_constant(d->g, fresh(d, name, sizeof name), t, NULL, &id, &err))
        return -1;
    test_random_data(d->r, d->weights, t, (void *)(uintptr_t)d->g->value[id].data);
    return id;
}

int test_add_variable(test_drawing *d, const assay_type *t)
{
    char name[16];
    assay_error err;
    int id;
    if (assay_graph_add_variable(d->g, fresh(d, name, sizeof name), t, NULL, &id, &err))
        return -1;
    return id;
}

/* A value that is computed, or a constant. */
int test_add_either(test_drawing *d, const assay_type *t)
{
    return test_upto(d, 2) ? test_add_input(d, t) : test_add_constant(d, t);
}

bool test_is_code(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->q.granularity == ASSAY_Q_TENSOR &&
           t->elem.bits <= 16;
}

static bool is_of(enum test_operands kind, const assay_type *t)
{
    switch (kind) {
    case TEST_CODES:
        return test_is_code(t);
    case TEST_FLOATS:
        return t->elem.kind == ASSAY_KIND_F32;
    default:
        return t->elem.kind == ASSAY_KIND_BOOL;
    }
}

int test_draw_operand(test_drawing *d, enum test_operands kind, int lo, int hi)
{
    assay_type t = {.rank = 0};
    test_params p;
    for (int i = 0; i < 4 && d->g->n_values > 0; i++) {
        const int v = (int)test_upto(d, d->g->n_values - 1);
        const assay_type *x = &d->g->value[v].type;
        if (is_of(kind, x) && x->rank >= lo && x->rank <= hi && d->g->value[v].producer >= 0)
            return v;
    }
    test_draw_shape(d, (int)test_between(d->r, lo, hi), &t);
    if (kind == TEST_CODES)
        test_draw_type(d, &t, &p);
    else
        t.elem = kind == TEST_FLOATS ? assay_f32() : assay_bool();
    return test_add_input(d, &t);
}

/* Depths at which products of extreme codes reach 2^31: of u8 and i8 65,793, of i16 and i8 512, of
 * i16 and i16 2. */
int test_draw_deep_operand(test_drawing *d)
{
    static const int64_t depth[] = {65793, 512, 2};
    const float scale = 0.01F;
    const int32_t zero = 0;
    const int way = (int)test_upto(d, 2);
    const assay_type t = {.elem = way == 0 ? assay_int(8, false) : assay_int(16, true),
                          .rank = 2,
                          .dim = {test_upto(d, 3) ? test_between(d->r, 1, 2) : 3,
                                  depth[way] + test_between(d->r, -1, 1)},
                          .q = {ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero}};
    return test_add_input(d, &t);
}

/* A float near `scale`, seldom far from it, whose significand is 1, one step less, that of the grid
 * of test_random_data's floats, or as it was. */
static float other_scale(test_rng *r, float scale, bool is_plain)
{
    static const float plain[] = {0.5F, 0.5F, 0x0.ffffffp0F, 0.8F};
    int exponent;
    const float kept = frexpf(scale, &exponent);
    const float significand = is_plain ? plain[test_between(r, 0, 3)] : kept;
    const int far = test_between(r, 0, 7) ? 0 : (int)test_between(r, -30, 30);
    return ldexpf(significand, exponent + far);
}

void test_redraw_scales(test_rng *r, const assay_graph *g)
{
    const bool is_plain = test_between(r, 0, 1);
    for (int v = 0; v < g->n_values; v++) {
        const assay_qparams *q = &g->value[v].type.q;
        for (size_t i = 0; i < q->count; i++) {
            float *scale = &((float *)(uintptr_t)q->scale)[i];
            *scale = other_scale(r, *scale, is_plain);
        }
    }
}
