/* The rules: which pattern and rewrite carries which obligation. What must be shown before one
 * applies is shown elsewhere (prove.c); nothing in rules*.c judges whether a rewrite keeps the
 * bits. */
#include "opt/rewrite/rules.h"
#include "opt/target/target.h"

#define RULE(name, obligation, bounds, late, matches, rewrite)                                     \
    {                                                                                              \
        name, ASSAY_PROVE_##obligation, bounds, late, rewrite_##matches##_matches,                 \
            rewrite_##rewrite##_rewrite, 0                                                         \
    }
/* In force where the target asks for it. */
#define WANTED(name, obligation, preference, rule)                                                 \
    {                                                                                              \
        name, ASSAY_PROVE_##obligation, false, false, rewrite_##rule##_matches,                    \
            rewrite_##rule##_rewrite, preference                                                   \
    }

static const assay_rule rules[] = {
    RULE("common", SAME, false, false, common, common),
    RULE("constant", CONSTANT, false, false, constant, constant),
    RULE("constant-move", MOVED, false, false, constant_move, constant),
    RULE("identity", CODES, false, false, identity, identity),
    RULE("merge-moves", INDICES, false, false, merge_moves, merge_moves),
    RULE("choice-to-clip", CODES, true, false, clip, clip),
    RULE("merge-rescales", CODES, true, false, merge, merge),
    RULE("quantize-dequantized", CODES, true, false, convert, convert),
    RULE("dequantize-quantized", FLOATS, false, false, pair, pair),
    RULE("absorb-up", CODES, true, false, up, up),
    RULE("absorb-up-weighted", ACCUMULATORS, true, false, product_up, up),
    RULE("absorb-up-lrn", GAINS, true, false, gains_up, up),
    RULE("absorb-up-average", SUMS, true, false, average_up, up),
    RULE("absorb-up-quantize", FLOATS, true, false, quantize_up, up),
    RULE("absorb-down", CODES, false, false, down, down),
    RULE("absorb-down-weighted", LINEAR, false, false, product_down, product_down),
    RULE("absorb-down-lrn", GAINS, false, false, gains_down, down),
    RULE("sink-move", MOVE, false, false, sink_move, sink_move),
    RULE("sink-order", ORDER, false, false, sink_order, sink_move),
    RULE("sink-select", CODES, false, false, sink_select, sink_move),
    RULE("sink-average", AVERAGE, false, false, sink_average, sink_move),
    RULE("sink-blend", INTERPOLATION, false, false, sink_interpolation, sink_move),
    RULE("sink-transpose", ELEMENTS, false, false, sink_transpose, sink_transpose),
    RULE("sink-transpose-move", INDICES, false, false, transpose_move, sink_transpose),
    RULE("mean-to-pool", SUMS, false, false, mean, mean),
    RULE("pad-into-conv", PADDING, false, false, pad, pad),
    WANTED("matmul-to-fc", FORM, ASSAY_PREFER_CONV | ASSAY_PREFER_FC, matmul_to_fc),
    WANTED("sums-to-fc", FORM, ASSAY_PREFER_CONV | ASSAY_PREFER_FC, sums_to_fc),
    WANTED("conv-to-fc", FORM, ASSAY_PREFER_FC | ASSAY_PREFER_MATMUL, conv_to_fc),
    WANTED("fc-to-conv", FORM, ASSAY_PREFER_CONV, fc_to_conv),
    WANTED("fc-to-matmul", FORM, ASSAY_PREFER_MATMUL, fc_to_matmul),
    WANTED("to-nhwc", LAYOUT, ASSAY_PREFER_NHWC, to_nhwc),
    WANTED("to-nchw", LAYOUT, ASSAY_PREFER_NCHW, to_nchw),
    RULE("table", TABLE, false, true, table, table),
};

const assay_rule *rewrite_rules(size_t *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
