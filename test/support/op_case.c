/* Running one op for a test. */
#include "test/support/op_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/run/evaluate.h"

op_tensor op_zeros(assay_elem elem, int rank, const int64_t *dim)
{
    op_tensor t = {.type = {.elem = elem, .rank = rank}};
    for (int d = 0; d < rank; d++)
        t.type.dim[d] = dim[d];
    t.data = calloc((size_t)assay_shape_count(&t.type) + 1, assay_elem_size(elem));
    assert_non_null(t.data);
    return t;
}

op_tensor op_noise(test_rng *rng, assay_elem elem, int rank, const int64_t *dim)
{
    op_tensor t = op_zeros(elem, rank, dim);
    int64_t n = assay_shape_count(&t.type);
    size_t size = assay_elem_size(elem);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = test_random(rng);
        if (elem.kind == ASSAY_KIND_F32)
            ((float *)t.data)[i] = (float)((int64_t)(bits % 4096) - 2048) / 1024.0F;
        else if (elem.kind == ASSAY_KIND_BOOL)
            ((uint8_t *)t.data)[i] = bits & 1;
        else
            memcpy((char *)t.data + (size_t)i * size, &bits, size);
    }
    return t;
}

op_tensor op_floats(int rank, const int64_t *dim, const float *values)
{
    op_tensor t = op_zeros(assay_f32(), rank, dim);
    memcpy(t.data, values, (size_t)assay_shape_count(&t.type) * sizeof(float));
    return t;
}

op_case op_begin(assay_op op, int n_in, int n_out)
{
    op_case c = {.op = op, .n_in = n_in, .n_out = n_out};
    assay_attrs_defaults(assay_op_get(op)->attrs, &c.attr);
    return c;
}

static assay_status build(const op_case *c, assay_graph *g, int *node, assay_error *err)
{
    static const char *const out_name[] = {"y0", "y1", "y2", "y3"};
    int in[5], out[4];
    for (int i = 0; i < c->n_in; i++) {
        const char name[] = {'x', (char)('0' + i), 0};
        in[i] = ASSAY_NO_VALUE;
        if (!c->in[i].data)
            continue;
        assay_status s =
            assay_graph_add_constant(g, name, &c->in[i].type, c->in[i].data, &in[i], err);
        if (s)
            return s;
    }
    assay_status s = assay_graph_add_inferred(g, c->op, "node", in, c->n_in, out_name, c->n_out,
                                              &c->attr, out, err);
    *node = g->n_nodes - 1;
    return s;
}

static assay_status evaluate(op_case *c, assay_graph *g, assay_error *err)
{
    int node;
    assay_status s = build(c, g, &node, err);
    if (s)
        return s;
    if (c->fused) {
        g->node[node].act_lo = c->act_lo;
        g->node[node].act_hi = c->act_hi;
    }
    void *out[4];
    for (int i = 0; i < c->n_out; i++) {
        const assay_type *t = &assay_node_out(g, &g->node[node], i)->type;
        c->out[i] = op_zeros(t->elem, t->rank, t->dim);
        out[i] = c->out[i].data;
    }
    return run_evaluate_node(g, &g->node[node], out, err);
}

assay_status op_try(op_case *c, assay_error *err)
{
    assay_graph *g;
    assay_status s = assay_graph_new("case", &g, err);
    if (s)
        return s;
    s = evaluate(c, g, err);
    assay_graph_free(g);
    return s;
}

void op_run(op_case *c)
{
    assay_error err = {0};
    if (op_try(c, &err))
        fail_msg("%s: %s", assay_op_get(c->op)->name, err.text);
}

void op_end(op_case *c)
{
    for (int i = 0; i < c->n_in; i++)
        free(c->in[i].data);
    for (int i = 0; i < c->n_out; i++)
        free(c->out[i].data);
}

void op_unravel(const assay_type *t, int64_t i, int64_t index[ASSAY_MAX_RANK])
{
    for (int d = t->rank - 1; d >= 0; d--) {
        index[d] = i % t->dim[d];
        i /= t->dim[d];
    }
}

int64_t op_ravel(const assay_type *t, const int64_t *index)
{
    int64_t i = 0;
    for (int d = 0; d < t->rank; d++)
        i = i * t->dim[d] + index[d];
    return i;
}

const float *op_f32(const op_tensor *t)
{
    return t->data;
}

int64_t op_count(const op_tensor *t)
{
    return assay_shape_count(&t->type);
}

float *op_wanted(const op_tensor *t)
{
    float *want = calloc((size_t)op_count(t) + 1, sizeof *want);
    assert_non_null(want);
    return want;
}

void op_assert_close(const op_tensor *got, const float *want, const char *what)
{
    const float *v = got->data;
    int64_t n = assay_shape_count(&got->type);
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(v[i] - want[i]) <= 1e-7F + 1e-4F * fabsf(want[i])) && v[i] != want[i])
            fail_msg("%s: element %" PRId64 " is %.9g, expected %.9g", what, i, (double)v[i],
                     (double)want[i]);
}

assay_elem op_any_elem(test_rng *rng)
{
    const assay_elem elems[] = {assay_int(8, true),  assay_int(8, false), assay_int(4, true),
                                assay_int(16, true), assay_int(32, true), assay_f32(),
                                assay_int(64, true), assay_bool()};
    return elems[test_random(rng) % (sizeof elems / sizeof *elems)];
}

op_tensor op_any_tensor(test_rng *rng, int min_rank, int max_rank, int64_t max_extent)
{
    int64_t dim[ASSAY_MAX_RANK];
    int rank = (int)test_between(rng, min_rank, max_rank);
    for (int d = 0; d < rank; d++)
        dim[d] = test_between(rng, 1, max_extent);
    return op_noise(rng, op_any_elem(rng), rank, dim);
}

/* Element i of `out` must be element j of `in`, byte for byte. */
void op_assert_moved(const op_tensor *out, int64_t i, const op_tensor *in, int64_t j)
{
    size_t size = assay_elem_size(in->type.elem);
    assert_true(j >= 0 && j < assay_shape_count(&in->type));
    assert_memory_equal((char *)out->data + (size_t)i * size, (char *)in->data + (size_t)j * size,
                        size);
}

void op_assert_shape(const op_tensor *t, int rank, const int64_t *dim)
{
    assert_int_equal(t->type.rank, rank);
    for (int d = 0; d < rank; d++)
        assert_int_equal(t->type.dim[d], dim[d]);
}

float op_under_tap(const op_case *c, int64_t plane, const int64_t *p, int64_t t)
{
    const assay_attr_conv *a = &c->attr.conv;
    const assay_type *x = &c->in[0].type;
    int64_t index = plane, scale = 1, inner = 0;
    for (int d = x->rank - 3; d >= 0; d--) {
        const int64_t at =
            p[d] * a->stride.v[d] - a->pad_begin.v[d] + t % a->kernel.v[d] * a->dilation.v[d];
        t /= a->kernel.v[d];
        if (at < 0 || at >= x->dim[2 + d])
            return 0;
        inner += at * scale;
        scale *= x->dim[2 + d];
    }
    return op_f32(&c->in[0])[index * scale + inner];
}
