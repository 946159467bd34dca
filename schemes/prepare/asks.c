/* Fields of a record by the ops that ask for them; see asks.h. */
#include <string.h>

#include "schemes/derive/derive.h"
#include "schemes/prepare/asks.h"

static bool is_edge(assay_op op)
{
    return op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_DEQUANTIZE;
}

/* Ops that are a table of codes under r. */
static bool has_table(const assay_record *r, assay_op op)
{
    const assay_rule_unary *k = &r->unary;
    switch (op) {
    case ASSAY_OP_RESCALE:
    case ASSAY_OP_RELU:
    case ASSAY_OP_CLIP:
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_REDUCE_MAX:
    case ASSAY_OP_REDUCE_MIN:
        return k->rescale == ASSAY_CHANGE_TABLE;
    case ASSAY_OP_LEAKY_RELU:
        return k->leaky_relu == ASSAY_SLOPE_TABLE;
    case ASSAY_OP_ABS:
        return k->abs == ASSAY_ABS_TABLE;
    case ASSAY_OP_RSQRT:
        return k->rsqrt == ASSAY_RSQRT_TABLE;
    case ASSAY_OP_SIGMOID:
    case ASSAY_OP_TANH:
        return k->logistic == ASSAY_LOGISTIC_TABLE;
    case ASSAY_OP_HARD_SWISH: /* of wide codes always */
        return true;
    case ASSAY_OP_GELU:
        return k->gelu == ASSAY_GELU_TABLE;
    default:
        return derive_class_of(op).derive == derive_table;
    }
}

/* Fields of `binary`, `unary` and `softmax` have the ops' own names, but for these. */
static bool reads_named(assay_op op, const char *field)
{
    if (strcmp(field, "compare") == 0)
        return derive_is_compare(op);
    if (strcmp(field, "rescale") == 0)
        return derive_keeps_value(op);
    if (strcmp(field, "logistic") == 0)
        return op == ASSAY_OP_SIGMOID || op == ASSAY_OP_TANH;
    if (strcmp(field, "kind") == 0)
        return op == ASSAY_OP_SOFTMAX;
    if (strcmp(field, "squared_difference_bits") == 0)
        return op == ASSAY_OP_SQUARED_DIFFERENCE;
    if (strncmp(field, "layer_norm", strlen("layer_norm")) == 0) /* gamma's bits: the quantizer */
        return op == ASSAY_OP_LAYER_NORM && strcmp(field, "layer_norm_gamma_bits") != 0;
    return strcmp(field, assay_op_get(op)->name) == 0;
}

/* Sums of many codes are rescaled, after left-shift's shift; only they count a zero point more. */
static bool reads_add(assay_op op, const char *field)
{
    const assay_op_class class = derive_class_of(op);
    const bool extra = strcmp(field, "extra_zero_point") == 0;
    if (class.derive == derive_sum)
        return extra || strcmp(field, "kind") == 0 || strcmp(field, "bits") == 0 ||
               strcmp(field, "scale") == 0;
    return class.derive == derive_add && !extra;
}

/* Functions of which MLAS has a form of its own. */
static bool has_rational(assay_op op)
{
    switch (op) {
#define FUNCTION(ID, integers, y)
#define FUNCTION_F32(ID, integers, y, table, engine)
#define FUNCTION_MLAS(ID, integers, y, table, engine) case ASSAY_OP_##ID:
#include "schemes/derive/function.def"
        return true;
    default:
        return false;
    }
}

/* Whether the tables of op have steps in binary32, by MLAS or the C library. */
static bool has_float_steps(assay_op op)
{
    return has_rational(op) || op == ASSAY_OP_ELU || op == ASSAY_OP_LOG;
}

static bool reads_table(const assay_record *r, assay_op op, const char *field)
{
    const bool precision = strcmp(field, "precision") == 0;
    if (op == ASSAY_OP_SOFTMAX)
        return r->softmax.kind == ASSAY_SOFTMAX_LUT16 && precision;
    return has_table(r, op) && (strcmp(field, "sigmoid") != 0 || has_rational(op)) &&
           (!precision || has_float_steps(op));
}

static bool reads_blocks(assay_op op, const char *field)
{
    return (op == ASSAY_OP_CONV || op == ASSAY_OP_FC || op == ASSAY_OP_MATMUL) &&
           strcmp(field, "size") != 0;
}

static bool reads_convert(const assay_record *r, assay_op op, const char *field)
{
    if (strcmp(field, "floats_in_turn") == 0 || derive_is_compare(op))
        return false;
    if (strcmp(field, "merge_pairs") == 0 || strcmp(field, "group_narrow_floats") == 0)
        return false; /* networks as they are adapted */
    if (strcmp(field, "dequantize") == 0)
        return op == ASSAY_OP_DEQUANTIZE;
    if (strcmp(field, "nan") == 0)
        return op == ASSAY_OP_QUANTIZE || has_table(r, op);
    return op != ASSAY_OP_DEQUANTIZE; /* the bounds of a fused activation too */
}

static bool reads_types(assay_op op, const char *field)
{
    const bool weights = strcmp(field, "weight_bits") == 0 || strcmp(field, "weight_signed") == 0 ||
                         strcmp(field, "bias_bits") == 0;
    if (weights)
        return derive_class_of(op).derive == derive_weighted;
    return strcmp(field, "activation_bits") == 0 || strcmp(field, "activation_signed") == 0;
}

/* Ops that are nothing but a table under r. */
static bool is_only_table(const assay_record *r, assay_op op)
{
    return has_table(r, op) && !derive_keeps_value(op) &&
           (op != ASSAY_OP_HARD_SWISH || r->unary.hard_swish == ASSAY_HARD_SWISH_TABLE);
}

/* How a rounded value becomes a code. */
static bool is_end(const char *field)
{
    static const char *const list[] = {"result_bits", "result_overflow", "sum_bits", "sum_overflow",
                                       "store"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(field, list[i]) == 0)
            return true;
    return false;
}

static bool reads_rescale(const assay_record *r, assay_op op, const char *field)
{
    const bool store = strcmp(field, "store") == 0;
    if (is_edge(op) || (derive_is_compare(op) && r->binary.compare == ASSAY_COMPARE_EXACT))
        return false;
    if (derive_is_compare(op)) /* rescales that end in no code */
        return !store && strcmp(field, "zero_point") != 0;
    if (op == ASSAY_OP_SOFTMAX || op == ASSAY_OP_LOG_SOFTMAX)
        return !store;
    if (op == ASSAY_OP_SVDF_FEATURE && is_end(field)) /* the op's own definition */
        return false;
    return store || (!is_only_table(r, op) && op != ASSAY_OP_HARD_SWISH);
}

/* Pools and sums of codes apply the overflow of the accumulator to what they add, but do not add
 * products. */
static bool reads_accumulator(assay_op op, const char *field)
{
    const assay_op_class class = derive_class_of(op);
    const bool width = strcmp(field, "bits") == 0 || strcmp(field, "overflow") == 0;
    if (strcmp(field, "bias") == 0 && (op == ASSAY_OP_MATMUL || op == ASSAY_OP_SVDF_FEATURE))
        return false; /* they have none */
    if (strcmp(field, "pair_channels") == 0)
        return op == ASSAY_OP_CONV;
    const bool codes = class.derive == derive_pool || class.derive == derive_sum;
    return class.derive == derive_weighted || (codes && width);
}

bool assay_reads_op(const assay_record *r, assay_op op, const assay_field *f)
{
    const char *s = f->section;
    const assay_op_class class = derive_class_of(op);
    if (!class.derive)
        return false;
    if (strcmp(s, "types") == 0)
        return reads_types(op, f->name);
    if (strcmp(s, "accumulator") == 0)
        return reads_accumulator(op, f->name);
    if (strcmp(s, "blocks") == 0)
        return reads_blocks(op, f->name);
    if (strcmp(s, "rescale") == 0)
        return reads_rescale(r, op, f->name) && strcmp(f->name, "shift_sign") != 0;
    if (strcmp(s, "add") == 0)
        return reads_add(op, f->name);
    if (strcmp(s, "pool") == 0)
        return class.derive == derive_pool && op != ASSAY_OP_REDUCE_SUM &&
               strcmp(f->name, "count_overhang") != 0; /* networks as they are adapted */
    if (strcmp(s, "table") == 0)
        return reads_table(r, op, f->name);
    if (strcmp(s, "lrn") == 0)
        return op == ASSAY_OP_LRN;
    if (strcmp(s, "resize") == 0)
        return op == ASSAY_OP_RESIZE;
    return strcmp(s, "convert") == 0 ? reads_convert(r, op, f->name) : reads_named(op, f->name);
}

bool assay_reads_given(const assay_record *r, assay_op op, enum assay_scope scope,
                       const assay_field *f)
{
    const char *s = f->section;
    if (!derive_class_of(op).derive)
        return false;
    if (strcmp(s, "accepts") == 0)
        return strncmp(f->name, "weight_", 7) != 0 || derive_class_of(op).derive == derive_weighted;
    if (strcmp(s, "rescale") == 0)
        return reads_rescale(r, op, f->name);
    if (strcmp(f->name, "count_overhang") == 0) /* of networks as they are adapted */
        return op == ASSAY_OP_AVG_POOL && scope == ASSAY_SCOPE_OP;
    if (strcmp(f->name, "layer_norm_gamma_bits") == 0) /* of the quantizer */
        return op == ASSAY_OP_LAYER_NORM &&
               (scope == ASSAY_SCOPE_OP || scope == ASSAY_SCOPE_WIDE_OP ||
                scope == ASSAY_SCOPE_WIDE);
    return assay_reads_op(r, op, f);
}

int assay_reads_change(const assay_record *a, const assay_record *b, assay_op op)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    for (size_t i = 0; i < n; i++)
        if (!assay_field_equal(&fields[i], assay_record_get(a, &fields[i]),
                               assay_record_get(b, &fields[i])) &&
            (assay_reads_op(a, op, &fields[i]) || assay_reads_op(b, op, &fields[i])))
            return (int)i;
    return -1;
}

static bool is_precomputed(const assay_scheme_data *d, const char *node)
{
    for (size_t i = 0; i < d->n_precomputed; i++)
        if (strcmp(d->precomputed[i].node, node) == 0)
            return true;
    return false;
}

bool assay_reads_same(const assay_scheme *a, const assay_scheme *b, const assay_unit_spec *spec)
{
    const unsigned variant = derive_variant_of(spec);
    assay_record x, y;
    assay_effective_record(assay_data(a), spec->op, spec->node, variant, &x);
    assay_effective_record(assay_data(b), spec->op, spec->node, variant, &y);
    y.types = x.types;
    return !is_precomputed(assay_data(a), spec->node) &&
           !is_precomputed(assay_data(b), spec->node) &&
           assay_reads_change(&x, &y, assay_op_find(spec->op)) < 0;
}

/* interp/float: the order of products, and casts, which a machine with such an order makes its own
 * way. */
bool assay_reads_float(assay_op op, const assay_field *f)
{
    return strcmp(f->name, "floats_in_turn") == 0 &&
           (op == ASSAY_OP_CAST || derive_class_of(op).derive == derive_weighted);
}

assay_status assay_reads_check_node(const assay_scheme *s, const assay_unit_spec *spec,
                                    assay_error *err)
{
    const assay_scheme_data *d = assay_data(s);
    const assay_op op = assay_op_find(spec->op);
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_record r;
    assay_effective_record(d, spec->op, spec->node, derive_variant_of(spec), &r);
    for (size_t i = 0; i < d->n_overrides; i++) {
        const assay_override *o = &d->override[i];
        const assay_field *f = &fields[o->field];
        if (o->scope == ASSAY_SCOPE_NODE && strcmp(o->name, spec->node) == 0 &&
            !assay_reads_given(&r, op, o->scope, f))
            return assay_fail(err, ASSAY_ERR_SCHEME,
                              "node '%s': scheme %s gives it %s.%s, which %s does not read",
                              spec->node, s->name, f->section, f->name, spec->op);
    }
    return ASSAY_OK;
}
