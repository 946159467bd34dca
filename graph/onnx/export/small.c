/* Small floats in ONNX's words.
 *
 *   float_encode    QuantizeLinear(x, scale), or Cast where the scale is 1
 *   float_decode    DequantizeLinear(x, scale), or Cast
 *   scaled_matmul   MatMul of both operands decoded, the second transposed, and Add of the bias
 *   block_scale     |x|, its greatest of a block, divided; 1 for 0       (float32 scales alone)
 *
 * ONNX's scales are one, one for each index of an axis, or for each block of one axis. */
#include <string.h>

#include "graph/onnx/export/parts.h"

/* How ONNX says which elements share a scale. */
typedef struct sharing {
    int axis;      /* -1: one for all */
    int64_t block; /* 0: one for each index of the axis */
} sharing;

static bool is_whole(const assay_type *x, const assay_list *block, int d)
{
    return block->v[d] >= x->dim[d];
}

/* One axis is cut into blocks, or has a scale an index; false: more than one are. */
static bool sharing_of(const assay_type *x, const assay_list *block, sharing *s)
{
    int cut = 0, last = -1;
    for (int d = 0; d < x->rank; d++) {
        if (x->dim[d] <= 1)
            continue;
        cut += !is_whole(x, block, d);
        if (!is_whole(x, block, d))
            last = d;
    }
    *s = (sharing){.axis = last};
    if (cut == 0 || (cut == 1 && block->v[last] == 1))
        return true;
    int blocked = -1; /* the axis of blocks of more than one element, the others being of one */
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] > 1 && block->v[d] > 1) {
            if (blocked >= 0)
                return false;
            blocked = d;
        }
    if (blocked < 0) /* every element its own */
        blocked = last;
    *s = (sharing){blocked,
                   block->v[blocked] < x->dim[blocked] ? block->v[blocked] : x->dim[blocked]};
    return true;
}

static bool is_one(const assay_value *scale)
{
    const float *v = scale->data;
    bool one = v && scale->type.elem.kind == ASSAY_KIND_F32;
    for (int64_t i = 0; one && i < assay_shape_count(&scale->type); i++)
        one = v[i] == 1;
    return one;
}

/* An operand as node n has it: of elements x under scale and a scale's scale, values or NULL. */
typedef struct scaled {
    const assay_type *x;
    const assay_value *scale, *second;
    const assay_list *block;
} scaled;

/* The name of the scale of `o` in ONNX's shape; the names of nodes are made of y's. */
static const char *scale_name(onnx_writer *w, const scaled *o, const sharing *s, const char *y,
                              const char *role)
{
    const char *name = o->scale->name;
    if (o->second || (o->scale->type.elem.kind != ASSAY_KIND_F32 &&
                      o->scale->type.elem.kind != ASSAY_KIND_F8E8M0)) {
        const char *real = onnx_text(w, "%s:%sscale_real", y, role);
        const char *one = onnx_text(w, "%s:%ssecond", y, role);
        const assay_list none = {.n = 0};
        if (o->second) {
            onnx_write_node(w, "Reshape", one);
            onnx_write_input(w, o->second->name);
            onnx_write_input(w, onnx_write_integers(w, one, "shape", &none));
        }
        onnx_write_node(w, o->second ? "DequantizeLinear" : "Cast", real);
        onnx_write_input(w, name);
        if (o->second)
            onnx_write_input(w, one);
        else
            onnx_write_int(w, "to", ONNX_FLOAT);
        name = real;
    }
    if (s->block > 0)
        return name;
    const assay_list shape = {.n = s->axis >= 0, .v = {s->axis >= 0 ? o->x->dim[s->axis] : 0}};
    const char *shaped = onnx_text(w, "%s:%sscale", y, role);
    onnx_write_node(w, "Reshape", shaped);
    onnx_write_input(w, name);
    onnx_write_input(w, onnx_write_integers(w, shaped, "shape", &shape));
    return shaped;
}

static void say_sharing(onnx_writer *w, const sharing *s)
{
    if (s->axis >= 0)
        onnx_write_int(w, "axis", s->axis);
    if (s->block > 0)
        onnx_write_int(w, "block_size", s->block);
}

static const assay_value *input(const onnx_writer *w, const assay_node *n, int i)
{
    return i < n->n_in ? assay_node_in(w->g, n, i) : NULL;
}

/* A FNUZ format at an opset that has Inf as its greatest number where casts saturate; here it is
 * NaN. */
static bool parts_inf(const onnx_writer *w, const assay_node *n)
{
    const assay_kind to = (assay_kind)assay_node_out(w->g, n, 0)->type.elem.kind;
    return (to == ASSAY_KIND_F8E4M3FNUZ || to == ASSAY_KIND_F8E5M2FNUZ) &&
           n->attr.float_encode.saturate && w->opset >= 24;
}

/* x + (x - x): NaN where x is Inf, else x, but for the sign of a zero, which these formats do not
 * have. */
static const char *without_inf(onnx_writer *w, const char *x, const char *y)
{
    const char *zero = onnx_text(w, "%s:zero", y), *finite = onnx_text(w, "%s:finite", y);
    onnx_write_node(w, "Sub", zero);
    onnx_write_input(w, x);
    onnx_write_input(w, x);
    onnx_write_node(w, "Add", finite);
    onnx_write_input(w, x);
    onnx_write_input(w, zero);
    return finite;
}

void onnx_export_encode(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y)
{
    static const char *const rounds[] = {"up", "down", "nearest"};
    const assay_attr_float_encode *a = &n->attr.float_encode;
    const assay_type *x = &assay_node_in(w->g, n, 0)->type, *t = &assay_node_out(w->g, n, 0)->type;
    const scaled o = {x, assay_node_in(w->g, n, 1), input(w, n, 2), &a->block};
    const int dtype = onnx_elem_dtype(t->elem);
    const bool power = t->elem.kind == ASSAY_KIND_F8E8M0, cast = is_one(o.scale) && !o.second;
    const bool apart = parts_inf(w, n);
    const bool exact = o.scale->type.elem.kind == ASSAY_KIND_F8E8M0;
    sharing s;

    if (dtype == ONNX_UNDEFINED)
        onnx_write_refuse(w, n, "elements of a type that ONNX does not have");
    else if (!sharing_of(x, &a->block, &s))
        onnx_write_refuse(w, n, "blocks along several axes");
    else if (apart && !cast)
        onnx_write_refuse(w, n,
                          "Inf encoded as NaN under a scale, beside types of opset 24, which "
                          "encodes it as a number");
    else if (!cast && (power || (a->by != ASSAY_SCALE_BY_DIVIDE && !exact)))
        onnx_write_refuse(w, n, "elements that are not divided by their scale");
    if (w->status)
        return;
    const char *scale = cast ? NULL : scale_name(w, &o, &s, y, "");
    const char *from = apart ? without_inf(w, in[0], y) : in[0];
    onnx_write_node(w, cast ? "Cast" : name, y);
    onnx_write_input(w, from);
    if (scale)
        onnx_write_input(w, scale);
    onnx_write_int(w, cast ? "to" : "output_dtype", dtype);
    if (!a->saturate)
        onnx_write_int(w, "saturate", 0);
    if (power)
        onnx_write_string(w, "round_mode", rounds[a->round]);
    if (scale)
        say_sharing(w, &s);
    if (exact)
        onnx_write_int(w, "precision", ONNX_FLOAT);
}

/* The numbers of such elements, named y. */
static void decode(onnx_writer *w, const assay_node *n, const scaled *o, const char *from,
                   const char *y, const char *role)
{
    sharing s;
    const bool cast = is_one(o->scale) && !o->second;
    if (onnx_elem_dtype(o->x->elem) == ONNX_UNDEFINED)
        onnx_write_refuse(w, n, "elements of a type that ONNX does not have");
    else if (!sharing_of(o->x, o->block, &s))
        onnx_write_refuse(w, n, "blocks along several axes");
    if (w->status)
        return;
    const char *scale = cast ? NULL : scale_name(w, o, &s, y, role);
    onnx_write_node(w, cast ? "Cast" : "DequantizeLinear", y);
    onnx_write_input(w, from);
    if (cast) {
        onnx_write_int(w, "to", ONNX_FLOAT);
        return;
    }
    onnx_write_input(w, scale);
    say_sharing(w, &s);
    if (o->scale->type.elem.kind == ASSAY_KIND_F8E8M0)
        onnx_write_int(w, "output_dtype", ONNX_FLOAT);
}

void onnx_export_decode(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y)
{
    const scaled o = {&assay_node_in(w->g, n, 0)->type, assay_node_in(w->g, n, 1), input(w, n, 2),
                      &n->attr.float_decode.block};
    (void)name;
    decode(w, n, &o, in[0], y, "");
}

void onnx_export_product(onnx_writer *w, const assay_node *n, const char *name,
                         const char *const *in, const char *y)
{
    static const char *const role[2] = {"a_", "b_"};
    const assay_list *blocks[2] = {&n->attr.scaled_matmul.a_block, &n->attr.scaled_matmul.b_block};
    const assay_value *bias = input(w, n, 6);
    const char *real[2];

    for (int i = 0; i < 2; i++) {
        const assay_value *x = assay_node_in(w->g, n, i);
        const scaled o = {&x->type, input(w, n, 2 + i), input(w, n, 4 + i), blocks[i]};
        real[i] =
            x->type.elem.kind == ASSAY_KIND_F32 ? in[i] : onnx_text(w, "%s:%sreal", y, role[i]);
        if (x->type.elem.kind != ASSAY_KIND_F32)
            decode(w, n, &o, in[i], real[i], role[i]);
    }
    const int rank = assay_node_in(w->g, n, 1)->type.rank;
    assay_list perm = {.n = rank};
    for (int d = 0; d < rank; d++)
        perm.v[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    const char *columns = onnx_text(w, "%s:columns", y);
    onnx_write_node(w, "Transpose", columns);
    onnx_write_input(w, real[1]);
    onnx_write_list(w, "perm", &perm, NULL);
    const char *to = bias ? onnx_text(w, "%s:products", y) : y;
    onnx_write_node(w, name, to);
    onnx_write_input(w, real[0]);
    onnx_write_input(w, columns);
    if (!bias)
        return;
    onnx_write_node(w, "Add", y);
    onnx_write_input(w, to);
    onnx_write_input(w, in[6]);
}

/* The greatest numbers of the formats, as in the table of their conversions. */
static float greatest_of(int elements)
{
    static const float greatest[] = {[ASSAY_FLOAT_F16] = 65504,        [ASSAY_FLOAT_F8E4M3FN] = 448,
                                     [ASSAY_FLOAT_F8E4M3FNUZ] = 240,   [ASSAY_FLOAT_F8E5M2] = 57344,
                                     [ASSAY_FLOAT_F8E5M2FNUZ] = 57344, [ASSAY_FLOAT_F6E3M2] = 28,
                                     [ASSAY_FLOAT_F6E2M3] = 7.5F,      [ASSAY_FLOAT_F4E2M1] = 6,
                                     [ASSAY_FLOAT_F8E8M0] = 0,         [ASSAY_FLOAT_INT8MX] = 0};
    return greatest[elements];
}

/* A node of one more operand, a number. */
static const char *with_number(onnx_writer *w, const char *op, const char *x, float v,
                               const char *y)
{
    onnx_write_node(w, op, y);
    onnx_write_input(w, x);
    onnx_write_input(w, onnx_write_number(w, y, "number", v));
    return y;
}

void onnx_export_scale(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y)
{
    const assay_attr_block_scale *a = &n->attr.block_scale;
    const assay_type *x = &assay_node_in(w->g, n, 0)->type;
    assay_list axes = {.n = 0};
    bool whole = true;
    const float greatest = greatest_of(a->elements);

    for (int d = 0; d < x->rank; d++) {
        whole = whole && (is_whole(x, &a->block, d) || a->block.v[d] == 1);
        if (is_whole(x, &a->block, d))
            axes.v[axes.n++] = d;
    }
    if (a->to != ASSAY_FLOAT_F32 || !whole || greatest == 0)
        onnx_write_refuse(
            w, n, "scales computed at run time that are not float32, or are for parts of an axis");
    if (w->status)
        return;
    const char *magnitude = onnx_text(w, "%s:magnitude", y), *max = onnx_text(w, "%s:most", y);
    onnx_write_node(w, "Abs", magnitude);
    onnx_write_input(w, in[0]);
    onnx_write_node(w, name, max);
    onnx_write_input(w, magnitude);
    onnx_write_input(w, onnx_write_integers(w, max, "axes", &axes));
    const char *t = with_number(w, "Div", max, greatest * a->reach, onnx_text(w, "%s:quotient", y));
    const char *zero = with_number(w, "Equal", t, 0, onnx_text(w, "%s:nothing", y));
    onnx_write_node(w, "Where", y);
    onnx_write_input(w, zero);
    onnx_write_input(w, onnx_write_number(w, y, "one", 1));
    onnx_write_input(w, t);
}
