/* Signal to noise and agreement of two networks against the definition, for any number of threads.
 */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>

#include "interp/measure/fidelity.h"
#include "test/support/net.h"

enum { SAMPLES = 23, N = 6 };

/* x -> y = x + c -> z = tanh(y), with c below `noise`: two of them differ by what is known. */
static assay_graph *network(test_rng *rng, double noise)
{
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, N));
    int c = net_constant(g, rng, "c", -noise, noise, NET_SHAPE(1, N));
    int y = net_node(g, ASSAY_OP_ADD, "y", NULL, x, c, -2);
    net_output(g, net_node(g, ASSAY_OP_TANH, "z", NULL, y, -2));
    return g;
}

static assay_status read_sample(void *user, int64_t i, int k, void *input, assay_error *err)
{
    test_rng rng = {(uint64_t)i + 1};
    (void)user;
    (void)k;
    (void)err;
    for (int e = 0; e < N; e++)
        ((float *)input)[e] = (float)(2 * test_unit(&rng) - 1);
    return ASSAY_OK;
}

static assay_status read_odd(void *user, int64_t i, int k, void *input, assay_error *err)
{
    assay_status status = read_sample(user, i, k, input, err);
    ((float *)input)[i % N] = INFINITY;
    return status;
}

static assay_status read_fails(void *user, int64_t i, int k, void *input, assay_error *err)
{
    if (i == 11)
        return assay_fail(err, ASSAY_ERR_IO, "sample 11 is gone");
    return read_sample(user, i, k, input, err);
}

/* Labels of odd samples: class i mod N. */
static int64_t label_of(void *user, int64_t i)
{
    (void)user;
    return i % 2 ? i % N : -1;
}

typedef struct pair {
    assay_graph *graph[2];
    assay_program *program[2];
} pair;

static pair two(double noise)
{
    test_rng rng = {5};
    pair p;
    assay_error err;
    p.graph[0] = network(&rng, 0);
    p.graph[1] = network(&rng, noise);
    for (int k = 0; k < 2; k++)
        assert_ok(assay_program_make(p.graph[k], NULL, true, &p.program[k], &err), &err);
    return p;
}

static void drop(pair *p)
{
    for (int k = 0; k < 2; k++) {
        assay_program_free(p->program[k]);
        assay_graph_free(p->graph[k]);
    }
}

static int best_of(const double *x)
{
    int best = 0;
    for (int i = 1; i < N; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

static void test_definition(void **state)
{
    (void)state;
    pair p = two(0.2);
    const float *c = p.graph[1]->value[assay_graph_find_value(p.graph[1], "c")].data;
    const int y[2] = {assay_graph_find_value(p.graph[0], "y"),
                      assay_graph_find_value(p.graph[1], "y")};
    const assay_value_pair pairs[] = {{y[0], y[1]}, {y[0], -1}};
    const assay_samples samples = {.count = SAMPLES, .read = read_sample, .label = label_of};
    double signal = 0, noise = 0, out_signal = 0, out_noise = 0, sqnr[2], first[2];
    int64_t right = 0, right_reference = 0, agree = 0, labelled = 0;
    for (int64_t i = 0; i < SAMPLES; i++) {
        float x[N];
        double a[N], b[N];
        assay_error err;
        assert_ok(read_sample(NULL, i, 0, x, &err), &err);
        for (int e = 0; e < N; e++) {
            const double d = (double)x[e] - (double)(x[e] + c[e]);
            a[e] = (double)tanhf(x[e]);
            b[e] = (double)tanhf(x[e] + c[e]);
            signal += (double)x[e] * (double)x[e];
            noise += d * d;
            out_signal += a[e] * a[e];
            out_noise += (a[e] - b[e]) * (a[e] - b[e]);
        }
        agree += best_of(a) == best_of(b);
        labelled += i % 2;
        right_reference += i % 2 && best_of(a) == i % N;
        right += i % 2 && best_of(b) == i % N;
    }
    for (int threads = 1; threads <= 3; threads++) {
        assay_fidelity f;
        assay_error err;
        assert_ok(measure_fidelity_measure(p.program[0], p.program[1], &samples, threads, pairs, 2,
                                           NULL, sqnr, &f, &err),
                  &err);
        assert_true(fabs(sqnr[0] - 10 * log10(signal / noise)) < 1e-9);
        assert_true(isnan(sqnr[1]));
        assert_true(fabs(f.output_sqnr - 10 * log10(out_signal / out_noise)) < 1e-3);
        assert_true(f.samples == SAMPLES && f.agree == agree && f.other.samples == labelled);
        assert_true(f.other.top[0] == right && f.reference.top[0] == right_reference);
        assert_true(measure_fidelity_drop(&f) ==
                    100.0 * (double)(right_reference - right) / (double)labelled);
        if (threads == 1) {
            first[0] = sqnr[0];
            first[1] = f.output_sqnr;
        }
        assert_true(sqnr[0] == first[0] && f.output_sqnr == first[1]);
    }
    drop(&p);
}

static void test_no_noise_no_labels(void **state)
{
    (void)state;
    pair p = two(0), q = two(0.5);
    const assay_samples samples = {.count = SAMPLES, .read = read_sample};
    assay_fidelity f;
    assay_error err;
    assert_ok(measure_fidelity_measure(p.program[0], p.program[1], &samples, 2, NULL, 0, NULL, NULL,
                                       &f, &err),
              &err);
    assert_true(isinf(f.output_sqnr) && f.output_sqnr > 0 && measure_fidelity_drop(&f) == 0);
    assert_ok(measure_fidelity_measure(q.program[0], q.program[1], &samples, 2, NULL, 0, NULL, NULL,
                                       &f, &err),
              &err);
    assert_int_equal(f.other.samples, 0);
    assert_true(measure_fidelity_drop(&f) ==
                100.0 * (double)(f.samples - f.agree) / (double)SAMPLES);
    drop(&p);
    drop(&q);
}

/* Elements that the reference makes infinite have no noise; the rest is judged. */
static void test_odd_elements(void **state)
{
    (void)state;
    pair p = two(0.2);
    const int y[2] = {assay_graph_find_value(p.graph[0], "y"),
                      assay_graph_find_value(p.graph[1], "y")};
    const assay_value_pair pairs[] = {{y[0], y[1]}};
    const assay_samples samples = {.count = SAMPLES, .read = read_odd};
    assay_fidelity f;
    assay_error err;
    double sqnr;
    assert_ok(measure_fidelity_measure(p.program[0], p.program[1], &samples, 2, pairs, 1, NULL,
                                       &sqnr, &f, &err),
              &err);
    assert_true(isfinite(sqnr) && sqnr > 0);
    drop(&p);
}

static assay_status read_counted(void *user, int64_t i, int k, void *input, assay_error *err)
{
    ++*(int *)user;
    return read_sample(NULL, i, k, input, err);
}

/* Recorded outputs stand for the reference, to the last bit, where nothing else of it is asked. */
static void test_recorded(void **state)
{
    (void)state;
    pair p = two(0.2);
    const int y[2] = {assay_graph_find_value(p.graph[0], "y"),
                      assay_graph_find_value(p.graph[1], "y")};
    const assay_value_pair pairs[] = {{y[0], y[1]}};
    int reads = 0;
    const assay_samples samples = {
        .count = SAMPLES, .read = read_counted, .label = label_of, .user = &reads};
    assay_recorded recorded = {NULL};
    assay_fidelity f[3];
    assay_error err;
    double sqnr;
    for (int i = 0; i < 3; i++) /* runs both, runs one, runs both for the pair */
        assert_ok(measure_fidelity_measure(p.program[0], p.program[1], &samples, 1, pairs, i == 2,
                                           &recorded, &sqnr, &f[i], &err),
                  &err);
    assert_int_equal(reads, 5 * SAMPLES);
    for (int i = 1; i < 3; i++) {
        assert_true(f[i].output_sqnr == f[0].output_sqnr && f[i].agree == f[0].agree);
        assert_true(f[i].other.top[0] == f[0].other.top[0] &&
                    f[i].reference.top[0] == f[0].reference.top[0]);
        assert_true(f[i].other.samples == f[0].other.samples && f[i].samples == SAMPLES);
    }
    free(recorded.output);
    drop(&p);
}

static void test_errors(void **state)
{
    (void)state;
    pair p = two(0.2);
    const assay_samples samples = {.count = SAMPLES, .read = read_fails};
    assay_fidelity f;
    assay_error err;
    assert_refused(measure_fidelity_measure(p.program[0], p.program[1], &samples, 2, NULL, 0, NULL,
                                            NULL, &f, &err),
                   &err, "sample 11 is gone");
    drop(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),   cmocka_unit_test(test_no_noise_no_labels),
        cmocka_unit_test(test_odd_elements), cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("fidelity", tests, NULL, NULL);
}
