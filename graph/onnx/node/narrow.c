/* float16 and bfloat16: float32 in the graph, each result rounded as the operator's own type would
 * be.
 *
 * ONNX gives every operator's result the type of its inputs. A node whose result is narrow is
 * imported under another name (NAME/wide), and a cast makes NAME of it; what only moves or chooses
 * among values that are narrow already needs none. */
#include <string.h>

#include "graph/core/narrow.h"
#include "graph/onnx/node/fold.h"

static int narrow_of_input(const onnx_node *n, size_t i)
{
    const onnx_value *v = onnx_has(n, i) ? onnx_find_value(n->im, n->pb->input[i]) : NULL;
    return v ? v->narrow : ONNX_UNDEFINED;
}

/* The type of a tensor or the number of a type in an attribute. */
static int dtype_attribute(const onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->pb->n_attribute; i++) {
        const pb_attribute *a = n->pb->attribute[i];
        if (strcmp(a->name, name) == 0 && a->type == ONNX_ATTR_TENSOR && a->t)
            return a->t->data_type;
        if (strcmp(a->name, name) == 0 && a->type == ONNX_ATTR_INT && a->i >= 0 && a->i < 64)
            return (int)a->i;
    }
    return ONNX_UNDEFINED;
}

/* Truths, codes and indices, which are never narrow. */
static bool gives_no_floats(assay_op op)
{
    return op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_ARG_MAX || op == ASSAY_OP_ARG_MIN ||
           op == ASSAY_OP_COUNT || op == ASSAY_OP_LOGICAL_NOT ||
           assay_op_get(op)->traits & ASSAY_T_COMPARE;
}

static int dtype_of_result(const onnx_node *n)
{
    const char *type = n->pb->op_type;
    int dtype = ONNX_UNDEFINED;

    if (strcmp(type, "Cast") == 0)
        return dtype_attribute(n, "to");
    if (strcmp(type, "CastLike") == 0 || strcmp(type, "Where") == 0)
        return narrow_of_input(n, 1);
    if (strcmp(type, "Constant") == 0 || strcmp(type, "ConstantOfShape") == 0)
        return dtype_attribute(n, "value");
    if (strcmp(type, "DequantizeLinear") == 0) {
        dtype = dtype_attribute(n, "output_dtype");
        return dtype != ONNX_UNDEFINED ? dtype : narrow_of_input(n, 1);
    }
    return gives_no_floats(n->row->op) ? ONNX_UNDEFINED : narrow_of_input(n, 0);
}

/* Values of a narrow type go in, and what comes out is of that type without rounding. */
static bool keeps_values(const onnx_node *n)
{
    switch (n->row->op) {
    case ASSAY_OP_RELU:
    case ASSAY_OP_CLIP:
    case ASSAY_OP_ABS:
    case ASSAY_OP_NEG:
    case ASSAY_OP_SIGN:
    case ASSAY_OP_COUNT: /* constants */
        return true;
    default:
        return assay_op_get(n->row->op)->traits & (ASSAY_T_MOVE | ASSAY_T_SELECTS);
    }
}

void onnx_begin_narrow(onnx_node *n)
{
    int dtype = dtype_of_result(n);

    n->wide = NULL;
    n->narrow = onnx_is_narrow(dtype) && !keeps_values(n) && *n->pb->output[0] ? dtype : 0;
    for (size_t k = 0; k < n->pb->n_output && onnx_is_narrow(dtype); k++) {
        if (k > 0 && n->row->op != ASSAY_OP_SPLIT)
            break;
        onnx_value *y = onnx_find_value(n->im, n->pb->output[k]);
        if (y)
            y->narrow = dtype;
    }
}

onnx_const *onnx_round_const(onnx_node *n, const onnx_const *x, int dtype)
{
    onnx_const *y = onnx_new_const(n->im, ONNX_FLOAT, x->rank, x->dim);

    for (int64_t i = 0; y && i < y->count; i++) {
        float v = (float)onnx_get_real(x, i);
        v = dtype == ONNX_FLOAT16 ? assay_round_f16(v) : assay_round_bf16(v);
        onnx_set_real(y, i, (double)v);
    }
    return y ? y : onnx_no_memory(n);
}

void onnx_end_narrow(onnx_node *n)
{
    onnx_value *wide = n->wide;
    int dtype = n->narrow;
    const assay_attrs cast = {
        .cast = {.to = dtype == ONNX_FLOAT16 ? ASSAY_CAST_F16 : ASSAY_CAST_BF16}};

    n->narrow = ONNX_UNDEFINED; /* the result itself comes now */
    if (!wide || n->status || !onnx_is_made(wide))
        return;
    if (onnx_type(n, wide).elem.kind != ASSAY_KIND_F32)
        onnx_bind(n, 0, wide);
    else if (wide->constant)
        onnx_constant(n, onnx_round_const(n, wide->constant, dtype), NULL);
    else
        onnx_op1(n, ASSAY_OP_CAST, &cast, wide, NULL);
}
