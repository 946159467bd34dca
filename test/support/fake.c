/* A scheme that is no target's; see fake.h. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "test/support/fake.h"

int64_t fake_trap = INT64_MAX;
const char *fake_refuse = NULL;

struct assay_unit {
    assay_elem out;
};

int32_t fake_saturate(assay_elem e, int64_t x)
{
    if (e.kind != ASSAY_KIND_INT)
        return (int32_t)x;
    int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    return (int32_t)(x < lo ? lo : x > hi ? hi : x);
}

int64_t fake_floor_div(int64_t n, int64_t d)
{
    return n / d - (n % d != 0 && (n < 0) != (d < 0));
}

static assay_status prepare(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err)
{
    if (fake_refuse && strcmp(spec->op, fake_refuse) == 0)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "scheme '%s' has no %s", s->name, spec->op);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return assay_fail(err, ASSAY_ERR_MEMORY, "no memory");
    (*out)->out = spec->out->elem;
    return ASSAY_OK;
}

static void release(assay_unit *u)
{
    free(u);
}

static int64_t apply_overflow(const assay_unit *u, int64_t sum, bool *trapped)
{
    (void)u;
    *trapped = sum > fake_trap || sum < -fake_trap;
    return sum;
}

static int64_t accumulate(const assay_unit *u, const int32_t *x, const int32_t *w, size_t n,
                          int64_t bias, int32_t zx, int32_t zw, bool *trapped)
{
    (void)zx;
    (void)zw;
    for (size_t i = 0; i < n; i++)
        bias += (int64_t)x[i] * w[i];
    return apply_overflow(u, bias, trapped);
}

static void requantize(const assay_unit *u, const int64_t *acc, size_t n, size_t channel,
                       int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = fake_saturate(u->out, fake_floor_div(acc[i], 16) + (int64_t)(channel + i));
}

static void binary(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = u->out.kind == ASSAY_KIND_BOOL
                     ? a[i] < b[i]
                     : fake_saturate(u->out, 3 * (int64_t)a[i] - 2 * (int64_t)b[i]);
}

static void unary(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = fake_saturate(u->out, 5 - (int64_t)x[i]);
}

static void pool(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                 int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = count[i] ? fake_saturate(u->out, fake_floor_div(8 * sum[i], count[i])) : 0;
}

static void row(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = fake_saturate(u->out, x[n - 1 - i] + (int64_t)i);
}

static void interpolate(const assay_unit *u, const int32_t *c, const int32_t *fy, const int32_t *fx,
                        size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++, c += 4) {
        int64_t y1 = fy[i], y0 = 1024 - y1, x1 = fx[i], x0 = 1024 - x1;
        int64_t sum = c[0] * y0 * x0 + c[1] * y0 * x1 + c[2] * y1 * x0 + c[3] * y1 * x1;
        out[i] = fake_saturate(u->out, fake_floor_div(sum, 1 << 20));
    }
}

static void quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                     int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = fake_saturate(u->out, (int64_t)(bits[i] >> 20) + (int64_t)(channel + i));
}

static void dequantize(const assay_unit *u, const int32_t *q, size_t n, size_t channel,
                       uint32_t *bits)
{
    (void)u;
    for (size_t i = 0; i < n; i++)
        bits[i] = ((uint32_t)q[i] << 20) + (uint32_t)(channel + i);
}

static const assay_scheme_vtable vtable = {
    .abi = ASSAY_SCHEME_ABI,
    .size = sizeof vtable,
    .name = "fake",
    .description = "formulas for tests",
    .prepare = prepare,
    .release = release,
    .accumulate = accumulate,
    .apply_overflow = apply_overflow,
    .requantize = requantize,
    .binary = binary,
    .unary = unary,
    .pool = pool,
    .row = row,
    .interpolate = interpolate,
    .quantize = quantize,
    .dequantize = dequantize,
};

const assay_scheme fake_scheme = {.vt = &vtable, .name = "fake", .text = ""};

assay_type fake_type(assay_elem e, int rank, const int64_t *dim, int axis, struct test_rng *r,
                     bool zero)
{
    static float scale[FAKE_PARAMS][64];
    static int32_t zero_point[FAKE_PARAMS][64];
    static int next;
    assay_type t = {.elem = e, .rank = rank};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    t.q.granularity = axis < 0 ? ASSAY_Q_TENSOR : ASSAY_Q_AXIS;
    t.q.axis = axis < 0 ? 0 : axis;
    t.q.count = axis < 0 ? 1 : (size_t)dim[axis];
    assert_true(t.q.count <= 64);
    t.q.scale = scale[next];
    t.q.zero_point = zero_point[next];
    for (size_t i = 0; i < t.q.count; i++) {
        scale[next][i] = 0.5f;
        zero_point[next][i] =
            zero ? (int32_t)test_between(r, e.is_signed ? -7 : 0, e.bits > 3 ? 7 : 1) : 0;
    }
    next = (next + 1) % FAKE_PARAMS;
    return t;
}

void fake_begin(fake_net *net)
{
    assay_error err;
    *net = (fake_net){0};
    assert_ok(assay_graph_new("one", &net->graph, &err), &err);
}

int fake_input(fake_net *net, const assay_type *t)
{
    assay_error err;
    char name[16];
    snprintf(name, sizeof name, "in%d", net->n_in);
    assert_ok(assay_graph_add_value(net->graph, name, t, &net->in[net->n_in], &err), &err);
    return net->n_in++;
}

static void fill(void *data, const assay_type *t, test_rng *r)
{
    assay_view v = {data, t};
    for (int64_t i = 0; i < assay_shape_count(t); i++) {
        int32_t x;
        if (t->elem.kind == ASSAY_KIND_F32) {
            float f = (float)(test_unit(r) * 20 - 10);
            memcpy((char *)data + 4 * i, &f, 4);
            continue;
        }
        if (t->elem.bits > 16)
            x = (int32_t)test_between(r, -100000, 100000);
        else
            x = (int32_t)test_between(r, assay_elem_min(t->elem), assay_elem_max(t->elem));
        ref_store_row(&v, i, 1, 1, &x);
    }
}

static assay_status keep_accumulators(void *user, assay_run *run, int node, const int64_t *acc,
                                      assay_error *err)
{
    fake_net *net = user;
    size_t n = (size_t)assay_shape_count(fake_out_type(net, 0));
    (void)run;
    (void)node;
    if (!acc)
        return ASSAY_OK;
    net->accumulators = calloc(n + 1, sizeof *acc);
    if (!net->accumulators)
        return assay_fail(err, ASSAY_ERR_MEMORY, "no memory");
    memcpy(net->accumulators, acc, n * sizeof *acc);
    return ASSAY_OK;
}

/* From a complete graph: outputs, program, random inputs, run. */
static void finish(fake_net *net, struct test_rng *r)
{
    assay_error err;
    assay_graph *g = net->graph;
    assert_ok(assay_graph_set_outputs(g, net->out, net->n_out, &err), &err);
    assert_ok(assay_program_make_as_is(g, &fake_scheme, true, &net->program, &err), &err);
    assert_ok(assay_run_new(net->program, &net->run, &err), &err);
    for (int i = 0; i < net->n_in; i++)
        fill(assay_run_data(net->run, net->in[i]), fake_in_type(net, i), r);
    assert_ok(run_execute(net->run, keep_accumulators, true, net, &err), &err);
}

void fake_run(fake_net *net, assay_op op, const assay_attrs *attr, const assay_type *out,
              struct test_rng *r)
{
    static const char *const name[] = {"out"};
    assay_error err;
    assay_graph *g = net->graph;
    assert_ok(assay_graph_set_inputs(g, net->in, net->n_in, &err), &err);
    net->n_out = 1;
    assert_ok(
        assay_graph_add_inferred(g, op, "node", net->in, net->n_in, name, 1, attr, net->out, &err),
        &err);
    g->value[net->out[0]].type.elem = out->elem;
    assert_ok(assay_graph_set_qparams(g, net->out[0], &out->q, &err), &err);
    finish(net, r);
}

void fake_run_as(fake_net *net, assay_op op, const assay_type *out, struct test_rng *r)
{
    assay_error err;
    assay_graph *g = net->graph;
    assert_ok(assay_graph_set_inputs(g, net->in, net->n_in, &err), &err);
    net->n_out = 1;
    assert_ok(assay_graph_add_value(g, "out", out, &net->out[0], &err), &err);
    assert_ok(
        assay_graph_add_node(g, op, "node", net->in, net->n_in, net->out, 1, NULL, NULL, &err),
        &err);
    finish(net, r);
}

void fake_end(fake_net *net)
{
    free(net->accumulators);
    assay_run_free(net->run);
    assay_program_free(net->program);
    assay_graph_free(net->graph);
}

static int64_t element(const fake_net *net, int value, int64_t i)
{
    const assay_type *t = &net->graph->value[value].type;
    const void *data = assay_run_data(net->run, value);
    if (assay_elem_size(t->elem) == 8)
        return ((const int64_t *)data)[i];
    switch (assay_elem_size(t->elem)) {
    case 1:
        return t->elem.is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
    case 2:
        return t->elem.is_signed ? ((const int16_t *)data)[i] : ((const uint16_t *)data)[i];
    default:
        return t->elem.kind == ASSAY_KIND_F32 ? (int64_t)((const uint32_t *)data)[i]
                                              : ((const int32_t *)data)[i];
    }
}

int64_t fake_in(const fake_net *net, int k, int64_t i)
{
    return element(net, net->in[k], i);
}

int64_t fake_out(const fake_net *net, int k, int64_t i)
{
    return element(net, net->out[k], i);
}

const assay_type *fake_in_type(const fake_net *net, int k)
{
    return &net->graph->value[net->in[k]].type;
}

const assay_type *fake_out_type(const fake_net *net, int k)
{
    return &net->graph->value[net->out[k]].type;
}

int64_t fake_centred(const fake_net *net, int k, int64_t i, int64_t c)
{
    const assay_qparams *q = &fake_in_type(net, k)->q;
    return fake_in(net, k, i) - q->zero_point[q->granularity == ASSAY_Q_AXIS ? c : 0];
}
