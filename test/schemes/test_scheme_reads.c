/* Fields that an encoding or a kind does not read, and claims that are inherited or lost. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/read/uses.h"
#include "schemes/record/reads.h"
#include "schemes/scheme.h"

static assay_scheme *parse(const char *text)
{
    assay_error err = {0};
    assay_scheme *s;
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    return s;
}

/* What a file itself states. */
static void stated(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } list[] = {
        {"rescale: {encoding: thresholds, round: [floor], operand_bits: 8}\n",
         "t:2:63: rescale.operand_bits: 8 is not read here; it needs rescale.encoding: multiplier, "
         "shift or glow"},
        {"rescale: {encoding: thresholds, round: [floor], zero_point: before}\n",
         "t:2:61: rescale.zero_point: before is not read here; it needs a rescale.encoding other "
         "than thresholds"},
        {"types: {power_of_two_scales: yes, activation_zero_point: none}\n"
         "rescale: {encoding: shift, scale: power-of-two, reduced_bits: 7}\n",
         "t:3:63: rescale.reduced_bits: 7 is not read here; it needs rescale.encoding: multiplier"},
        {"rescale: {encoding: float64, round: [floor], float_rounding: add-one}\n",
         "t:2:62: rescale.float_rounding: add-one is not read here; it needs rescale.encoding: "
         "float32"},
        {"add: {kind: plain, bits: 3}\n",
         "t:2:26: add.bits: 3 is not read here; it needs add.kind: left-shift, common-exponent, "
         "align-power-of-two or fixed-scale"},
        {"extends: tflite\npool: {kind: reciprocal, round: floor}\n",
         "t:3:33: pool.round: floor is not read here; it needs pool.kind: divide, rescale-divide, "
         "dpu or float-sum"},
        {"ops: {fc: {rescale: {encoding: float32, round: [floor], product_bits: 33}}}\n",
         "t:2:71: rescale.product_bits: 33 is not read here; it needs rescale.encoding: "
         "multiplier, shift or glow"},
        {"nodes: {n: {lrn: {kind: none, cells: 4}}}\n",
         "t:2:38: lrn.cells: 4 is not read here; it needs lrn.kind: table"},
        {"wide: {softmax: {layer_norm_shift: 4}}\n",
         "t:2:36: softmax.layer_norm_shift: 4 is not read here; it needs softmax.layer_norm: "
         "newton-inverse-sqrt or integer-sqrt"},
        /* beside another field alone */
        {"accumulator: {lanes: 4}\n",
         "t:2:22: accumulator.lanes: 4 is not read here; it needs accumulator.order: lanes"},
        {"blocks: {kind: multiplier, sum_overflow: wrap}\n",
         "t:2:42: blocks.sum_overflow: wrap is not read here; it needs blocks.sum_bits other than "
         "0"},
        {"blocks: {kind: multiplier, round: floor}\n",
         "t:2:35: blocks.round: floor is not read here; it needs blocks.shift other than 0"},
        {"rescale: {denormal_round: ceil}\n",
         "t:2:27: rescale.denormal_round: ceil is not read here; it needs "
         "rescale.beyond_shift_max: denormal"},
        {"rescale: {reduced_overflow: renormalise}\n",
         "t:2:29: rescale.reduced_overflow: renormalise is not read here; it needs "
         "rescale.reduced_bits other than 0"},
        {"rescale: {pre_shift_bits: 3}\n",
         "t:2:27: rescale.pre_shift_bits: 3 is not read here; it needs rescale.pre_shift: fixed"},
        {"rescale: {pre_shift_round: ceil}\n",
         "t:2:28: rescale.pre_shift_round: ceil is not read here; it needs rescale.pre_shift: "
         "fixed or rest"},
        {"rescale: {encoding: glow, pre_shift_round: ceil}\n",
         "t:2:44: rescale.pre_shift_round: ceil is not read here; it needs rescale.pre_shift: "
         "fixed or rest"},
        {"rescale: {result_overflow: wrap}\n",
         "t:2:28: rescale.result_overflow: wrap is not read here; it needs rescale.result_bits "
         "other than 0"},
        {"rescale: {sum_bits: 0, sum_overflow: saturate}\n",
         "t:2:38: rescale.sum_overflow: saturate is not read here; it needs rescale.sum_bits other "
         "than 0"},
        {"ops: {conv: {rescale: {result_overflow: wrap}}}\n",
         "t:2:41: rescale.result_overflow: wrap is not read here; it needs rescale.result_bits "
         "other than 0"},
        {"rescale: {result_overflow: wrap}\nops: {conv: {rescale: {result_bits: 9}}}\n", NULL},
        {"rescale: {reduced_bits: 7, reduced_overflow: renormalise, pre_shift: fixed, "
         "pre_shift_bits: 2, pre_shift_round: ceil, result_bits: 9, result_overflow: wrap, "
         "beyond_shift_max: denormal, denormal_round: ceil}\n"
         "accumulator: {order: lanes, lanes: 2}\n"
         "blocks: {kind: multiplier, sum_bits: 9, sum_overflow: wrap, shift: 1, round: floor}\n",
         NULL},
        /* what the op never asks for, whatever the value */
        {"extends: tflite\nops: {conv: {convert: {floats_in_turn: no}}}\n",
         "t:3:40: convert.floats_in_turn: no is not read by conv"},
        {"extends: tflite\nops: {conv: {pool: {round: floor}}}\n",
         "t:3:28: pool.round: floor is not read by conv"},
        {"extends: tflite\nops: {depthwise: {add: {bits: 11}}}\n",
         "t:3:31: add.bits: 11 is not read by depthwise"},
        {"extends: tflite\nwide_ops: {depthwise: {add: {bits: 11}}}\n",
         "t:3:36: add.bits: 11 is not read by depthwise of codes of more than 8 bits"},
        {"extends: tflite\nunsigned_ops: {avg_pool: {pool: {count_overhang: yes}}}\n",
         "t:3:50: pool.count_overhang: yes is not read by avg_pool of unsigned codes"},
        {"extends: tflite\nunsigned_depthwise: {pool: {count_overhang: yes}}\n",
         "t:3:45: pool.count_overhang: yes is not read by depthwise of unsigned codes"},
        {"extends: tflite\nwide: {convert: {floats_in_turn: no}}\n",
         "t:3:34: convert.floats_in_turn: no is not read by nodes of codes of more than 8 bits"},
        {"extends: tflite\nnodes: {n: {convert: {floats_in_turn: no}}}\n",
         "t:3:39: convert.floats_in_turn: no is not read by a node on its own"},
        {"extends: tflite\nops: {erf: {rescale: {round: [floor]}}}\n",
         "t:3:30: rescale.round: [floor] is not read by erf"},
        {"extends: tflite\nops: {equal: {binary: {compare: exact}, rescale: {sum_bits: 9}}}\n",
         "t:3:61: rescale.sum_bits: 9 is not read by equal"},
        {"extends: tflite\nops: {add: {accepts: {weight_bits: 4}}}\n",
         "t:3:36: accepts.weight_bits: 4 is not read by add"},
        {"extends: tflite\nops: {reshape: {rescale: {store: wrap}}}\n",
         "t:3:34: rescale.store: wrap is not read by reshape"},
        {"extends: tflite\nops: {avg_pool: {accumulator: {order: reverse}}}\n",
         "t:3:39: accumulator.order: reverse is not read by avg_pool"},
        {"extends: tflite\nops: {softmax: {softmax: {layer_norm_gamma_bits: 9}}}\n",
         "t:3:50: softmax.layer_norm_gamma_bits: 9 is not read by softmax"},
        {"extends: tflite\nops: {avg_pool: {accumulator: {bits: 20}, pool: {count_overhang: no}}, "
         "erf: {rescale: {store: wrap}}, equal: {rescale: {round: [floor]}}, "
         "conv: {accepts: {weight_bits: 4}, rescale: {shift_sign: right}}, "
         "layer_norm: {softmax: {layer_norm_gamma_bits: 9}}, depthwise: {rescale: {round: "
         "[floor]}}}\n"
         "wide: {accepts: {activation_bits: 12}}\n"
         "nodes: {n: {pool: {round: floor}}}\n",
         NULL},
        /* one record reads it: enough */
        {"rescale: {encoding: float32, round: [floor], product_bits: 33}\n"
         "ops: {fc: {rescale: {encoding: multiplier}}}\n",
         NULL},
        /* a default says nothing new */
        {"rescale: {encoding: float32, round: [floor], product_bits: 0, multiplier_bits: 31}\n",
         NULL},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[600];
        assay_error err = {0};
        assay_scheme *s;
        snprintf(text, sizeof text, "scheme: t\n%s", list[i].text);
        assay_status status = assay_scheme_parse("t", text, strlen(text), &s, &err);
        if (list[i].message == NULL) {
            assert_ok(status, &err);
            assay_scheme_free(s);
        } else if (status != ASSAY_ERR_SCHEME || strcmp(err.text, list[i].message) != 0) {
            fail_msg("%s\nexpected: %s\nfound:    %s", text, list[i].message, err.text);
        }
    }
}

/* What it inherits is dropped: the text, and every record, are as if it had never been said. */
static void inherited(void **state)
{
    (void)state;
    assay_scheme *s = parse("scheme: t\nextends: npu16\n"
                            "rescale: {encoding: thresholds, round: [floor]}\n");
    assay_record r, plain;
    assay_record_default(&plain);
    assay_effective_record(assay_data(s), "conv", "", 0, &r);
    assert_int_equal(r.rescale.multiplier_bits, plain.rescale.multiplier_bits);
    assert_int_equal(r.rescale.left_shift, plain.rescale.left_shift);
    assert_non_null(strstr(s->text, "  multiplier_bits: 31\n"));
    assert_null(strstr(s->text, "  multiplier_bits: 16\n"));
    assay_scheme_free(s);
    s = parse("scheme: t\nextends: tosa-single\nrescale: {result_bits: 0, sum_bits: 0}\n");
    assay_effective_record(assay_data(s), "conv", "", 0, &r);
    assert_int_equal(r.rescale.result_overflow, plain.rescale.result_overflow);
    assert_int_equal(r.rescale.sum_overflow, plain.rescale.sum_overflow);
    assert_null(strstr(s->text, "_overflow: refuse"));
    assay_scheme_free(s);
}

/* Every field is read by the default record or is in the table: by some record then. */
static void table(void **state)
{
    (void)state;
    size_t n, conditional = 0;
    const assay_field *fields = assay_record_fields(&n);
    assay_record r, other;
    assay_record_default(&r);
    assay_record_default(&other);
    r.accumulator.order = ASSAY_ORDER_LANES;
    r.blocks.kind = ASSAY_BLOCK_MULTIPLIER;
    r.blocks.sum_bits = r.blocks.shift = r.rescale.reduced_bits = r.rescale.result_bits = 7;
    r.rescale.beyond_shift_max = ASSAY_SMALL_DENORMAL;
    r.rescale.pre_shift = ASSAY_PRE_FIXED;
    r.softmax.layer_norm = ASSAY_LAYER_NORM_SQRT;
    other.accumulator.saturate_pairs = 1;
    other.rescale.encoding = ASSAY_ENCODE_F32;
    other.pool.kind = ASSAY_POOL_RESCALE;
    for (size_t i = 0; i < n; i++) {
        bool read =
            assay_reads_not(&r, &fields[i]) == NULL || assay_reads_not(&other, &fields[i]) == NULL;
        for (int kind = 0; kind <= ASSAY_ADD_PLAIN && !read; kind++) {
            other.add.kind = kind;
            read = assay_reads_not(&other, &fields[i]) == NULL;
        }
        if (!read)
            fail_msg("%s.%s is never read", fields[i].section, fields[i].name);
        conditional += assay_reads_not(&r, &fields[i]) != NULL;
    }
    assert_true(conditional > 5);
}

static void check_claims(const char *text, const char *kept, const char *lost)
{
    assay_scheme *s = parse(text);
    const char *const lists[2] = {kept, lost};
    for (int i = 0; i < 2; i++) {
        char words[200];
        snprintf(words, sizeof words, "%s", lists[i]);
        for (char *rest = NULL, *op = strtok_r(words, " ", &rest); op != NULL;
             op = strtok_r(NULL, " ", &rest))
            if (assay_scheme_is_exact(s, op, 8) != (i == 0))
                fail_msg("%s\n%s is %s", text, op, i == 0 ? "lost" : "kept");
    }
    assay_scheme_free(s);
}

static void claims(void **state)
{
    (void)state;
    check_claims("scheme: t\nextends: tflite\n", "conv fc add softmax quantize avg_pool", "lrn");
    check_claims("scheme: t\nextends: tflite\naccumulator: {bits: 24}\n",
                 "add mul softmax quantize", "conv fc matmul conv_transpose avg_pool");
    check_claims("scheme: t\nextends: tflite\nrescale: {round: [half-up]}\n", "quantize dequantize",
                 "conv fc add mul avg_pool softmax sigmoid");
    check_claims("scheme: t\nextends: tflite\nadd: {bits: 19}\n", "conv mul avg_pool",
                 "add sub add_n cumsum");
    check_claims("scheme: t\nextends: tflite\npool: {round: floor}\n", "conv reduce_sum max_pool",
                 "avg_pool");
    check_claims("scheme: t\nextends: tflite\ntable: {round: floor}\n", "conv relu sigmoid softmax",
                 "elu gelu hard_swish");
    check_claims("scheme: t\nextends: tflite\nunary: {logistic: table}\n", "conv elu",
                 "sigmoid tanh");
    check_claims("scheme: t\nextends: tflite\nbinary: {compare: exact, div: float}\n",
                 "conv squared_difference", "div");
    check_claims("scheme: t\nextends: tflite\nresize: {round: floor}\n", "conv", "resize");
    check_claims("scheme: t\nextends: tflite\nconvert: {dequantize: float32}\n", "conv quantize",
                 "dequantize");
    check_claims("scheme: t\nextends: tflite\nconvert: {round: floor}\n", "dequantize",
                 "conv quantize");
    check_claims("scheme: t\nextends: tflite\nconvert: {nan: least, floats_in_turn: no}\n", "conv",
                 "quantize elu");
    check_claims("scheme: t\nextends: tflite\ntypes: {bias_bits: 16}\n", "add quantize", "conv fc");
    check_claims("scheme: t\nextends: tflite\ntypes: {activation_bits: 6}\n", "",
                 "conv add quantize");
    check_claims("scheme: t\nextends: tflite\nops: {fc: {rescale: {round: [floor]}}}\n", "conv add",
                 "fc");
    check_claims("scheme: t\nextends: tflite\nwide: {add: {bits: 14}}\n", "conv", "add");
    check_claims("scheme: t\nextends: tflite\nnodes: {n: {pool: {round: floor}}}\n", "conv",
                 "avg_pool");
    check_claims("scheme: t\nextends: tflite\nnodes: {n: {given: {multiplier: [1], shift: [1]}}}\n",
                 "conv avg_pool", "");
    check_claims("scheme: t\nextends: tflite\nrescale: {shift_sign: right}\nblocks: {kind: none}\n",
                 "conv avg_pool", "");
    check_claims("scheme: t\nextends: tflite\ncontract: {exact_ops: [fc]}\n"
                 "rescale: {round: [half-up]}\n",
                 "fc", "conv");
    assay_scheme *s = parse("scheme: t\nextends: tflite\naccumulator: {bits: 24}\n");
    assert_null(assay_scheme_contract(s, ASSAY_CONTRACT_EXACT)); /* the parent's sentences */
    assert_non_null(assay_scheme_contract(s, ASSAY_CONTRACT_APPROXIMATE));
    assay_scheme_free(s);
    s = parse("scheme: t\nextends: tflite\naccumulator: {bits: 24}\ncontract: {exact: add}\n");
    assert_string_equal(assay_scheme_contract(s, ASSAY_CONTRACT_EXACT), "add");
    assay_scheme_free(s);
}

/* What a file says, and whether its claims then hold of two ops. */
typedef struct claim {
    const char *text;
    bool fc, conv;
} claim;

static assay_scheme *parse_claims(const claim *c, bool (*holds)(const assay_scheme *, const char *))
{
    char text[200];
    snprintf(text, sizeof text, "scheme: t\n%s", c->text);
    assay_scheme *s = parse(text);
    assert_int_equal(holds(s, "fc"), c->fc);
    assert_int_equal(holds(s, "conv"), c->conv);
    return s;
}

static bool is_exact_wide(const assay_scheme *s, const char *op)
{
    return assay_scheme_is_exact(s, op, 16);
}

static bool is_exact_by_channel(const assay_scheme *s, const char *op)
{
    return assay_scheme_is_exact_by_channel(s, op, 8);
}

/* Claims for codes of at most 8 bits alone; a file that states its claims anew states their widths.
 */
static void claims_by_width(void **state)
{
    (void)state;
    static const claim cases[] = {
        {"contract: {exact_ops: [fc, conv]}\n", true, true},
        {"contract: {exact_ops: [fc, conv], exact_narrow_ops: [fc]}\n", false, true},
        {"contract: {exact_narrow_ops: [fc], exact_ops: [fc, conv]}\n", false, true},
        {"extends: tflite-2.9-x86\n", false, true},
        {"extends: tflite-2.9-x86\ncontract: {exact_ops: [fc]}\n", true, false},
        {"extends: tflite-2.9-x86\ncontract: {exact_narrow_ops: [conv]}\n", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_scheme *s = parse_claims(&cases[i], is_exact_wide);
        assert_true(assay_scheme_is_exact(s, "fc", 8));
        assay_scheme_free(s);
    }
}

/* Claims for one scale per tensor alone, by the same rules. */
static void claims_by_granularity(void **state)
{
    (void)state;
    static const claim cases[] = {
        {"contract: {exact_ops: [fc, conv]}\n", true, true},
        {"contract: {exact_ops: [conv]}\n", false, true},
        {"contract: {exact_ops: [fc, conv], exact_per_tensor_ops: [fc]}\n", false, true},
        {"contract: {exact_per_tensor_ops: [fc], exact_ops: [fc, conv]}\n", false, true},
        {"extends: tflite-2.9-x86\n", false, true}, /* takes the first scale of fc for all */
        {"extends: tflite-2.9-x86\ncontract: {exact_ops: [fc]}\n", true, false},
        {"extends: tflite-2.9-x86\ncontract: {exact_per_tensor_ops: [conv]}\n", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_scheme *s = parse_claims(&cases[i], is_exact_by_channel);
        assert_true(is_exact_by_channel(s, "reshape"));
        assay_scheme_free(s);
    }
}

/* Claims of nodes of one type alone. */
static void claims_of_one_type(void **state)
{
    (void)state;
    static const claim cases[] = {
        {"contract: {exact_ops: [fc, conv]}\n", true, true},
        {"contract: {exact_ops: [fc, conv], exact_one_type_ops: [fc]}\n", false, true},
        {"contract: {exact_one_type_ops: [fc], exact_ops: [fc, conv]}\n", false, true},
        {"extends: tflite\n", false, false},
        {"extends: tflite\ncontract: {exact_ops: [fc]}\n", true, true},
        {"extends: tflite\ncontract: {exact_one_type_ops: [conv]}\n", true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_scheme *s = parse_claims(&cases[i], assay_scheme_is_exact_mixed);
        assert_true(assay_scheme_is_exact_mixed(s, "nothing"));
        assay_scheme_free(s);
    }
}

static void claim_of_floats(const char *text, const char *op, bool kept)
{
    assay_scheme *s = parse(text);
    if (assay_scheme_is_exact_float(s, op) != kept)
        fail_msg("%s\n%s in floats is %s", text, op, kept ? "lost" : "kept");
    assay_scheme_free(s);
}

static void claims_of_floats(void **state)
{
    (void)state;
    static const char *const others = "scheme: t\nextends: onnxruntime\nrescale: {round: [floor]}\n"
                                      "add: {kind: separate}\n";
    static const char *const in_turn = "scheme: t\nextends: onnxruntime\n"
                                       "convert: {floats_in_turn: yes}\n";
    claim_of_floats(others, "matmul", true);
    claim_of_floats(others, "add", true);
    claim_of_floats(in_turn, "matmul", false);
    claim_of_floats(in_turn, "fc", false);
    claim_of_floats(in_turn, "cast", false);
    claim_of_floats(in_turn, "add", true);
    claim_of_floats("scheme: t\nextends: onnxruntime\nconvert: {floats_in_turn: yes}\n"
                    "contract: {exact_float_ops: [fc]}\n",
                    "fc", true);
    assay_scheme *s = parse(in_turn);
    assert_null(assay_scheme_contract(s, ASSAY_CONTRACT_EXACT));
    assert_true(assay_scheme_is_exact(s, "conv", 8));
    assay_scheme_free(s);
    s = parse("scheme: t\nextends: onnxruntime-sse\n");
    assert_true(assay_scheme_is_exact_float(s, "div"));
    assert_false(assay_scheme_is_exact_float(s, "gelu")); /* AVX-512's polynomial and order */
    assert_false(assay_scheme_is_exact_float(s, "matmul"));
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stated),
                                       cmocka_unit_test(inherited),
                                       cmocka_unit_test(table),
                                       cmocka_unit_test(claims),
                                       cmocka_unit_test(claims_by_width),
                                       cmocka_unit_test(claims_by_granularity),
                                       cmocka_unit_test(claims_of_floats),
                                       cmocka_unit_test(claims_of_one_type)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
