/* Matrix products of two values that are computed: the right operand is packed in each run. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/image.h"
#include "interp/fast/product.h"
#include "interp/move/broadcast.h"
#include "interp/ref/ref.h"

typedef struct matmul {
    assay_fast base;
    assay_operand_form form;
    int64_t rows, depth, columns; /* of one matrix product */
    int64_t k_step, column_step;  /* elements of the right operand */
    int64_t left_step;            /* bytes from a staged row to the next */
    int32_t right_zero;
    assay_block_fn block;
    assay_product product; /* packed, start: in the scratch */
    int32_t *row;
} matmul;

static void free_matmul(assay_fast *f)
{
    matmul *m = (matmul *)f;
    free(m->row);
    free(m);
}

/* Columns up to whole steps of a tile. */
static int64_t whole_columns(const matmul *m)
{
    return (m->columns + ASSAY_TILE_STEP - 1) / ASSAY_TILE_STEP * ASSAY_TILE_STEP;
}

typedef struct pieces {
    char *left, *packed;
    int32_t *start, *codes;
} pieces;

static size_t carve(const matmul *m, char *memory, pieces *p)
{
    const int64_t packed = whole_columns(m) * m->product.run_units * ASSAY_UNIT;
    size_t used = 0;
    p->packed = ref_carve(memory, &used, packed, 1); /* first: 64-aligned */
    p->start = ref_carve(memory, &used, whole_columns(m), sizeof *p->start);
    p->codes = ref_carve(memory, &used, m->depth, sizeof *p->codes);
    p->left = ref_carve(memory, &used, m->rows * m->left_step, 1);
    return used;
}

/* Packs one right operand from element `first` on. */
static void pack_right(const matmul *m, const assay_view *b, int64_t first, const pieces *p,
                       assay_product *product)
{
    const int64_t elements = ASSAY_UNIT / m->form.element;
    memset(p->packed, 0, (size_t)(whole_columns(m) * product->run_units * ASSAY_UNIT));
    memset(p->start, 0, (size_t)whole_columns(m) * sizeof *p->start);
    product->packed = p->packed;
    product->start = p->start;
    for (int64_t j = 0; j < m->columns; j++) {
        int64_t step;
        uint32_t sum = 0;
        char *head = fast_product_column(product, j, &step);
        ref_load_row(b, first + j * m->column_step, m->k_step, (size_t)m->depth, p->codes);
        for (int64_t k = 0; k < m->depth; k++) {
            const int32_t w = p->codes[k] - m->right_zero;
            char *to = head + k / elements * step + k % elements * m->form.element;
            sum += (uint32_t)w;
            if (m->form.bytes)
                *(int8_t *)to = (int8_t)w;
            else
                memcpy(to, &(int16_t){(int16_t)w}, sizeof(int16_t));
        }
        p->start[j] = (int32_t)(0u - (uint32_t)m->form.zero * sum);
    }
}

static void multiply(const matmul *m, assay_call *call, int64_t at_a, int64_t at_b, int64_t at_y)
{
    const int64_t size = m->rows * m->columns;
    assay_product product = m->product;
    pieces p;
    carve(m, call->scratch, &p);
    pack_right(m, &call->in[1], at_b * m->depth * m->columns, &p, &product);
    for (int64_t r = 0; r < m->rows; r++)
        fast_form_row(&m->form, &call->in[0], (at_a * m->rows + r) * m->depth, m->depth,
                      p.left + r * m->left_step);
    const assay_sink sink = {.call = call,
                             .block = m->block,
                             .codes = (char *)call->out[0].data + at_y * size,
                             .codes_step = m->columns,
                             .first = at_y * size,
                             .row_step = m->columns,
                             .column_step = 1};
    fast_product_run(&product, p.left, m->row, m->rows, &sink, m->base.threads);
}

/* The batch axes of a type, the last two being the matrix. */
static assay_type batch_of(const assay_type *t)
{
    assay_type batch = *t;
    batch.rank = t->rank - 2;
    return batch;
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const matmul *m = (const matmul *)f;
    const assay_type a = batch_of(call->in[0].type), b = batch_of(call->in[1].type),
                     y = batch_of(call->out[0].type);
    const assay_view batches[2] = {{.type = &a}, {.type = &b}};
    assay_broadcast w;
    (void)err;
    for (bool row = move_broadcast_begin(&w, &y, batches, 2); row; row = move_broadcast_next(&w))
        for (int64_t i = 0; i < w.columns; i++)
            multiply(m, call, w.at[0] + i * w.step[0], w.at[1] + i * w.step[1], w.at_out + i);
    return ASSAY_OK;
}

static int64_t reach_of(assay_interval x)
{
    return -x.lo > x.hi ? -x.lo : x.hi;
}

/* Of sums of so many products. */
static assay_interval sums_of(assay_interval x, assay_interval w, int64_t depth)
{
    const int64_t corner[4] = {x.lo * w.lo, x.lo * w.hi, x.hi * w.lo, x.hi * w.hi};
    assay_interval sums = {0, 0};
    for (int i = 0; i < 4; i++) {
        sums.lo = corner[i] * depth < sums.lo ? corner[i] * depth : sums.lo;
        sums.hi = corner[i] * depth > sums.hi ? corner[i] * depth : sums.hi;
    }
    return sums;
}

/* As fast_filters_exact, whatever the two operands hold. */
static bool is_exact(const assay_fast_setup *s, const assay_type *a, const assay_type *b,
                     int64_t depth, assay_operand_form *form)
{
    const assay_interval x = fast_codes_of(a), w = fast_codes_of(b);
    const int64_t reach = reach_of(x) * reach_of(w);
    const int32_t zx = ref_zero_point(a, 0), up = a->elem.is_signed ? 128 : 0;
    const int64_t raw_x = assay_elem_max(a->elem) + up;
    const int64_t raw_w = b->elem.is_signed ? -assay_elem_min(b->elem) : assay_elem_max(b->elem);
    if (!ASSAY_SCHEME_HAS(s->vt, facts, exact) || reach > INT32_MAX / depth ||
        !s->vt->facts->exact(s->unit, reach * depth, 2 * raw_x * raw_w) ||
        fast_may_refuse(s, sums_of(x, w, depth)))
        return false;
    if (fast_is_byte(a) && s->kernels->bytes && w.lo >= INT8_MIN && w.hi <= INT8_MAX) {
        *form = (assay_operand_form){true,         up, zx + up, zx, 1, s->kernels->rows_of_bytes,
                                     reach * depth};
        return true;
    }
    *form = (assay_operand_form){.centre = zx, .element = 2};
    return reach_of(x) <= INT16_MAX && reach_of(w) <= INT16_MAX;
}

static bool is_plain(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 16 && t->rank >= 2 &&
           (t->q.granularity == ASSAY_Q_TENSOR || t->q.granularity == ASSAY_Q_NONE);
}

assay_status fast_matmul(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *a = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *b = &assay_node_in(s->graph, s->node, 1)->type;
    const bool depth_last = s->node->attr.matmul.transpose_b;
    assay_operand_form form;
    pieces unused;
    if (s->node->attr.matmul.transpose_a || !is_plain(a) || !is_plain(b))
        return ASSAY_OK;
    const int64_t depth = a->dim[a->rank - 1], rows = a->dim[a->rank - 2];
    if (assay_shape_count(b) == 0 || rows * depth > INT32_MAX / 8 ||
        assay_shape_count(b) > INT32_MAX / 8 || !is_exact(s, a, b, depth, &form))
        return ASSAY_OK;
    matmul *m = fast_alloc(sizeof *m);
    int32_t *row = malloc((size_t)rows * sizeof *row);
    if (!m || !row) {
        free(m);
        free(row);
        return fast_memory(s, err);
    }
    const int64_t q = b->dim[b->rank - 1], bytes = depth * form.element;
    *m = (matmul){.base = {.run = run, .free = free_matmul, .threads = s->threads},
                  .form = form,
                  .rows = rows,
                  .depth = depth,
                  .columns = depth_last ? b->dim[b->rank - 2] : q,
                  .k_step = depth_last ? 1 : q,
                  .column_step = depth_last ? q : 1,
                  .left_step = (bytes + ASSAY_UNIT - 1) / ASSAY_UNIT * ASSAY_UNIT,
                  .right_zero = ref_zero_point(b, 0),
                  .block = fast_sink_block(s),
                  .row = row};
    m->product = (assay_product){.kernels = s->kernels,
                                 .tile = form.bytes ? s->kernels->bytes : s->kernels->words,
                                 .outputs = m->columns,
                                 .n_runs = 1,
                                 .run_units = m->left_step / ASSAY_UNIT,
                                 .run = assay_one_run};
    for (int64_t r = 0; r < rows; r++)
        row[r] = (int32_t)(r * m->left_step);
    m->base.scratch = carve(m, NULL, &unused);
    *out = &m->base;
    return ASSAY_OK;
}
