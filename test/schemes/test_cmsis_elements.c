/* The element-wise cases of CMSIS-NN's own unit tests (shared/vectors/cmsis-nn-unittest): add, mul,
 * pad, softmax, transpose. Their multipliers and shifts are given: softmax takes them as they are;
 * for the others, real scales are found from which our derivation must come to the same numbers. */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/tflite_case.h"

static int64_t param(const tflite_file *f, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(f->about, "params"), key));
}

static int64_t item(const tflite_file *f, const char *group, const char *list, size_t i)
{
    return json_integer_value(
        json_array_get(json_object_get(json_object_get(f->about, group), list), i));
}

/* The real number that a multiplier and a shift (positive: left) stand for. */
static double real_of(const tflite_file *f, const char *multiplier, const char *shift)
{
    return ldexp((double)param(f, multiplier), (int)param(f, shift) - 31);
}

/* Adds an array under dimensions of ours. */
static unsigned add(tflite_node *n, const char *column, float scale, int32_t zero, int rank,
                    const int64_t *dims)
{
    static float scales[2];
    static int32_t zeros[2];
    struct npz_shape s;
    size_t count;
    const int64_t *v = npz_i64(n->from->data, column, &count, &s);
    assay_type t = {.elem = assay_int((unsigned)s.size * 8, true), .rank = rank};
    assert_non_null(v);
    for (int i = 0; i < rank; i++)
        t.dim[i] = dims ? dims[i] : (int64_t)count;
    scales[n->n_in] = scale;
    zeros[n->n_in] = zero;
    t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &scales[n->n_in], &zeros[n->n_in]};
    assert_int_equal(count, assay_shape_count(&t));
    tflite_values(n, &t, v);
    return (unsigned)s.size * 8;
}

static void bound(tflite_node *n)
{
    n->bounded = true;
    n->code_lo = (int32_t)param(n->from, "act_min");
    n->code_hi = (int32_t)param(n->from, "act_max");
}

/* M1 = s1 / T, M2 = s2 / T, Mo = T / (2^shift * s_out), T = 2 max(s1, s2): one of M1, M2 is 1/2. */
static size_t add_case(tflite_file *f)
{
    tflite_node n = tflite_begin(f);
    double m1 = real_of(f, "input1_mult", "input1_shift");
    double m2 = real_of(f, "input2_mult", "input2_shift");
    double out = 2 / ldexp(real_of(f, "output_mult", "output_shift"), (int)param(f, "left_shift"));
    add(&n, "input1", (float)(2 * m1), (int32_t)-param(f, "input1_offset"), 1, NULL);
    add(&n, "input2", (float)(2 * m2), (int32_t)-param(f, "input2_offset"), 1, NULL);
    bound(&n);
    return tflite_compare(&n, ASSAY_OP_ADD, NULL, "expected", (float)out,
                          (int32_t)param(f, "output_offset"), "");
}

static size_t mul_case(tflite_file *f)
{
    tflite_node n = tflite_begin(f);
    add(&n, "input1", 1, (int32_t)-param(f, "input1_offset"), 1, NULL);
    add(&n, "input2", (float)real_of(f, "output_mult", "output_shift"),
        (int32_t)-param(f, "input2_offset"), 1, NULL);
    bound(&n);
    return tflite_compare(&n, ASSAY_OP_MUL, NULL, "expected", 1, (int32_t)param(f, "output_offset"),
                          "");
}

static size_t pad_case(tflite_file *f)
{
    tflite_node n = tflite_begin(f);
    int64_t dims[4];
    assay_attrs a;
    assay_attrs_defaults(ASSAY_ATTRS_pad, &a);
    a.pad.begin.n = a.pad.end.n = 4;
    for (size_t i = 0; i < 4; i++) {
        dims[i] = item(f, "dims", "input_dims", i);
        a.pad.begin.v[i] = item(f, "dims", "pre_pad", i);
        a.pad.end.v[i] = item(f, "dims", "post_pad", i);
    }
    a.pad.has_code = true;
    a.pad.code = param(f, "pad_value");
    add(&n, "input", 1, 0, 4, dims);
    return tflite_compare(&n, ASSAY_OP_PAD, &a, "expected", 1, 0, "");
}

static size_t transpose_case(tflite_file *f)
{
    tflite_node n = tflite_begin(f);
    int rank = (int)param(f, "num_dims");
    int64_t dims[4];
    assay_attrs a = {.perm.perm.n = rank};
    for (int i = 0; i < rank; i++) {
        dims[i] = item(f, "dims", "input_dims", (size_t)i);
        a.perm.perm.v[i] = item(f, "lists", "permutations", (size_t)i);
    }
    add(&n, "input", 1, 0, rank, dims);
    return tflite_compare(&n, ASSAY_OP_TRANSPOSE, &a, "expected", 1, 0, "");
}

/* Multiplier, shift and the least difference that counts go in as they are given. */
static assay_scheme *given_scheme(const tflite_file *f)
{
    char text[300];
    assay_scheme *s;
    assay_error err;
    int n = snprintf(text, sizeof text,
                     "scheme: case\nextends: cmsis-nn\nnodes:\n"
                     "  node: {given: {multiplier: %lld, shift: %lld",
                     (long long)param(f, "mult"), (long long)param(f, "shift"));
    if (json_object_get(json_object_get(f->about, "params"), "diff_min"))
        n += snprintf(text + n, sizeof text - (size_t)n, ", diff_min: %lld",
                      (long long)param(f, "diff_min"));
    n += snprintf(text + n, sizeof text - (size_t)n, "}}\n");
    assert_ok(assay_scheme_parse("case.yaml", text, (size_t)n, &s, &err), &err);
    return s;
}

static size_t softmax_case(tflite_file *f)
{
    tflite_node n = tflite_begin(f);
    int64_t dims[2] = {param(f, "num_rows"), param(f, "row_size")};
    bool wide = strcmp(tflite_word(f->about, "dtype"), "s16") == 0;
    bool to16 = strcmp(tflite_word(f->about, "dtype"), "s8") != 0;
    assay_attrs a = {.softmax = {.axis = 1, .beta = 1}};
    assay_scheme_free(f->scheme);
    f->scheme = given_scheme(f);
    add(&n, "input", 1, 0, 2, dims);
    return tflite_compare(&n, ASSAY_OP_SOFTMAX, &a, "expected",
                          !to16  ? 1.0F / 256
                          : wide ? 1.0F / 32768
                                 : 1.0F / 65536,
                          !to16  ? -128
                          : wide ? 0
                                 : -32768,
                          "");
}

static assay_scheme *cmsis_nn(const tflite_file *f)
{
    assay_scheme *s;
    assay_error err;
    (void)f;
    assert_ok(assay_scheme_open("cmsis-nn", &s, &err), &err);
    return s;
}

#define FOLDER(name, least)                                                                        \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        tflite_folder("cmsis-nn-unittest/" #name, cmsis_nn, name##_case, least);                   \
    }
FOLDER(add, 3)
FOLDER(mul, 3)
FOLDER(pad, 2)
FOLDER(softmax, 5)
FOLDER(transpose, 10)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_add),       cmocka_unit_test(test_mul),
        cmocka_unit_test(test_pad),       cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_transpose),
    };
    return cmocka_run_group_tests_name("cmsis_elements", tests, NULL, NULL);
}
