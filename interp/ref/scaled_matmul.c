/* Products of small floats under scales.
 *
 *   y[.., m, n] = dot(a[.., m, :], b[.., n, :], scales of both rows, bias[n])
 *
 * Batch dimensions broadcast. Everything that rounds is the unit's. */
#include "interp/ref/ref.h"

ref_operand ref_operand_of(const assay_view *codes, const assay_view *scales,
                           const assay_list *block, int32_t *row, int32_t *scale)
{
    const int last = codes->type->rank - 1;
    return (ref_operand){.codes = codes,
                         .scales = scales,
                         .block = block,
                         .row = row,
                         .scale = scale,
                         .depth = codes->type->dim[last],
                         .runs = scales->type->dim[last]};
}

size_t ref_scaled_matmul_scratch(const assay_graph *g, const assay_node *n)
{
    size_t used = 0;
    for (int i = 0; i < 4; i++) {
        const assay_type *t = &assay_node_in(g, n, i)->type;
        ref_carve(NULL, &used, t->dim[t->rank - 1], sizeof(int32_t));
    }
    return used;
}

void ref_load_operand(const ref_operand *o, const assay_type *y, int64_t batch, int64_t row)
{
    const assay_type *t = o->codes->type, *s = o->scales->type;
    const int outer = t->rank - 2, ahead = y->rank - t->rank;
    int64_t code = 0, scale = 0, step_code = 1, step_scale = 1;
    for (int d = outer - 1; d >= 0; d--) {
        const int64_t at = t->dim[d] == 1 ? 0 : batch % y->dim[d + ahead];
        batch /= y->dim[d + ahead];
        code += at * step_code;
        scale += at / o->block->v[d] * step_scale;
        step_code *= t->dim[d];
        step_scale *= s->dim[d];
    }
    code = (code * t->dim[outer] + row) * o->depth;
    scale = (scale * s->dim[outer] + row / o->block->v[outer]) * o->runs;
    ref_load_row(o->codes, code, 1, (size_t)o->depth, o->row);
    ref_load_row(o->scales, scale, 1, (size_t)o->runs, o->scale);
}

int32_t ref_operand_element(const assay_call *call, int i, int64_t at, int32_t absent)
{
    int32_t v = absent;
    if (i < call->node->n_in && call->in[i].data)
        ref_load_row(&call->in[i], at, 1, 1, &v);
    return v;
}

assay_status ref_scaled_matmul(assay_call *call, assay_error *err)
{
    const assay_attr_scaled_matmul *m = &call->node->attr.scaled_matmul;
    const assay_type *y = call->out[0].type;
    const int64_t rows = y->dim[y->rank - 2], columns = y->dim[y->rank - 1];
    size_t used = 0;
    int32_t *row[4];
    for (int i = 0; i < 4; i++) {
        const assay_type *t = call->in[i].type;
        row[i] = ref_carve(call->scratch, &used, t->dim[t->rank - 1], sizeof **row);
    }
    const ref_operand a = ref_operand_of(&call->in[0], &call->in[2], &m->a_block, row[0], row[2]);
    const ref_operand b = ref_operand_of(&call->in[1], &call->in[3], &m->b_block, row[1], row[3]);
    assay_dot dot = {.k = (size_t)a.depth,
                     .a = a.row,
                     .b = b.row,
                     .a_scale = a.scale,
                     .b_scale = b.scale,
                     .a_second = ref_operand_element(call, 4, 0, ASSAY_REF_ONE),
                     .b_second = ref_operand_element(call, 5, 0, ASSAY_REF_ONE)};
    const int64_t matrix = rows * columns, count = assay_shape_count(y);

    for (int64_t i = 0; i < count; i++) {
        const int64_t batch = i / matrix, column = i % columns;
        if (column == 0)
            ref_load_operand(&a, y, batch, i % matrix / columns);
        ref_load_operand(&b, y, batch, column);
        dot.bias = ref_operand_element(call, 6, column, 0);
        int32_t result;
        const assay_status s = call->vt->dot(call->unit, &dot, &result, err);
        if (s)
            return s;
        ref_store_row(&call->out[0], i, 1, 1, &result);
    }
    return ASSAY_OK;
}
