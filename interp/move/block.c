/* depth_to_space: blocks of b*b channels become b x b cells; space_to_depth: the inverse.
 *
 * With cell (v, h) inside a block and c an index of the smaller channel count C, the larger
 * channel index is (v*b + h)*C + c in order dcr (depth, column, row) and (c*b + v)*b + h in crd. */
#include "interp/move/move.h"

/* The axes of both shapes taken apart: n, y (small rows), v, x (small columns), h, c. */
enum { N, Y, V, X, H, C, AXES };

typedef struct parts {
    int64_t dim[AXES];
    int64_t deep[AXES]; /* steps in the tensor of b*b*C channels */
    int64_t wide[AXES]; /* steps in the tensor of C channels */
} parts;

static void take_apart(parts *p, const assay_attr_block *a, const assay_type *deep)
{
    bool nchw = a->layout == ASSAY_LAYOUT_NCHW;
    int64_t b = a->block, n = deep->dim[0];
    int64_t rows = deep->dim[nchw ? 2 : 1], columns = deep->dim[nchw ? 3 : 2];
    int64_t c = deep->dim[nchw ? 1 : 3] / (b * b);
    int64_t area = rows * columns;
    int64_t channel = nchw ? area : 1; /* between channels of the deep tensor */
    bool dcr = a->order == ASSAY_D2S_DCR;

    *p = (parts){.dim = {n, rows, b, columns, b, c}};
    p->deep[N] = area * b * b * c;
    p->deep[Y] = nchw ? columns : columns * b * b * c;
    p->deep[X] = nchw ? 1 : b * b * c;
    p->deep[V] = channel * b * (dcr ? c : 1);
    p->deep[H] = channel * (dcr ? c : 1);
    p->deep[C] = channel * (dcr ? 1 : b * b);

    p->wide[N] = p->deep[N];
    p->wide[C] = nchw ? area * b * b : 1;
    p->wide[H] = nchw ? 1 : c;
    p->wide[X] = p->wide[H] * b;
    p->wide[V] = p->wide[X] * columns;
    p->wide[Y] = p->wide[V] * b;
}

/* Copies with the parts in the order of the output's axes, so that the output is written in C
 * order. */
static void copy_parts(assay_call *call, const parts *p, const int order[AXES],
                       const int64_t step[AXES])
{
    assay_strided w = {.rank = AXES};
    for (int i = 0; i < AXES; i++) {
        w.dim[i] = p->dim[order[i]];
        w.step[i] = step[order[i]];
    }
    move_copy_strided(call->out[0].data, call->in[0].data, assay_elem_size(call->in[0].type->elem),
                      &w);
}

assay_status move_depth_to_space(assay_call *call, assay_error *err)
{
    static const int nchw[AXES] = {N, C, Y, V, X, H}, nhwc[AXES] = {N, Y, V, X, H, C};
    const assay_attr_block *a = &call->node->attr.block;
    parts p;

    (void)err;
    take_apart(&p, a, call->in[0].type);
    copy_parts(call, &p, a->layout == ASSAY_LAYOUT_NCHW ? nchw : nhwc, p.deep);
    return ASSAY_OK;
}

assay_status move_space_to_depth(assay_call *call, assay_error *err)
{
    static const int order[2][2][AXES] = {
        {{N, V, H, C, Y, X}, {N, C, V, H, Y, X}}, /* nchw: dcr, crd */
        {{N, Y, X, V, H, C}, {N, Y, X, C, V, H}}, /* nhwc */
    };
    const assay_attr_block *a = &call->node->attr.block;
    parts p;

    (void)err;
    take_apart(&p, a, call->out[0].type);
    copy_parts(call, &p, order[a->layout == ASSAY_LAYOUT_NHWC][a->order == ASSAY_D2S_CRD], p.wide);
    return ASSAY_OK;
}
