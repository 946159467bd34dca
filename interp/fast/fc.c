/* Fully connected, and matrix products whose second operand is a constant matrix. */
#include <assert.h>
#include <stdlib.h>

#include "interp/fast/image.h"
#include "interp/fast/product.h"
#include "interp/ref/ref.h"

/* Rows this far apart, or a multiple, share a set of a first-level cache of 8 or 12 ways. */
enum { ALIAS = 4096, APART = 64 };

typedef struct fc {
    assay_fast base;
    assay_operand_form form;
    int64_t rows, depth, step; /* step: bytes from a staged row to the next */
    bool in_place;
    assay_block_fn block;
    int32_t *row;
    assay_product product;
} fc;

static void free_fc(assay_fast *f)
{
    fc *c = (fc *)f;
    fast_product_free(&c->product);
    free(c->row);
    free(c);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const fc *c = (const fc *)f;
    const assay_view *x = &call->in[0];
    const int64_t outputs = c->product.outputs;
    char *left = c->in_place ? x->data : call->scratch;
    const assay_sink sink = {.call = call,
                             .block = c->block,
                             .codes = call->out[0].data,
                             .codes_step = outputs,
                             .row_step = outputs,
                             .column_step = 1};
    (void)err;
    for (int64_t r = 0; r < c->rows && !c->in_place; r++)
        fast_form_row(&c->form, x, r * c->depth, c->depth, left + r * c->step);
    fast_product_run(&c->product, left, c->row, c->rows, &sink, c->base.threads);
    return ASSAY_OK;
}

/* The second operand as filters; false when it is not a constant matrix. */
static bool filters_of(const assay_fast_setup *s, assay_filters *f)
{
    const assay_node *n = s->node;
    const assay_value *w = assay_node_in(s->graph, n, 1);
    const assay_value *bias = n->n_in > 2 ? assay_node_in(s->graph, n, 2) : NULL;
    bool columns = n->op == ASSAY_OP_MATMUL && !n->attr.matmul.transpose_b;
    if (w->type.rank != 2 || (n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_a))
        return false;
    const int64_t p = w->type.dim[0], q = w->type.dim[1];
    *f = (assay_filters){.weights = {(void *)(uintptr_t)w->data, &w->type},
                         .bias = bias ? (assay_view){(void *)(uintptr_t)bias->data, &bias->type}
                                      : (assay_view){0},
                         .outputs = columns ? q : p,
                         .group_outputs = columns ? q : p,
                         .cells = 1,
                         .channels = columns ? p : q,
                         .filter_step = columns ? 1 : q,
                         .cell_step = columns ? p : q,
                         .channel_step = columns ? q : 1};
    return true;
}

static assay_status make(const assay_fast_setup *s, const assay_filters *f,
                         const assay_operand_form *form, fc *c, assay_error *err)
{
    const int64_t bytes = f->channels * form->element;
    c->base = (assay_fast){.run = run, .free = free_fc, .threads = s->threads};
    c->form = *form;
    c->depth = f->channels;
    c->rows = assay_shape_count(&assay_node_in(s->graph, s->node, 0)->type) / c->depth;
    c->in_place = form->bytes && form->up == 0 && bytes % ASSAY_UNIT == 0 && bytes % ALIAS != 0;
    c->step = (bytes + ASSAY_UNIT - 1) / ASSAY_UNIT * ASSAY_UNIT;
    c->step += c->step % ALIAS == 0 ? APART : 0;
    c->block = fast_sink_block(s);
    c->row = malloc((size_t)c->rows * sizeof *c->row);
    if (!c->row)
        return fast_memory(s, err);
    assert(c->rows * c->step <= INT32_MAX);
    for (int64_t r = 0; r < c->rows; r++)
        c->row[r] = (int32_t)(r * c->step);
    c->base.scratch = c->in_place ? 0 : (size_t)(c->rows * c->step);
    return fast_product_make(s, f, form, 0, f->outputs, assay_one_run, 1, &c->product, err);
}

assay_status fast_fc(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    assay_filters f;
    assay_operand_form form;
    if (!filters_of(s, &f))
        return ASSAY_OK;
    int32_t *row = malloc((size_t)fast_filter_depth(&f) * sizeof *row);
    fc *c = fast_alloc(sizeof *c);
    bool memory = row && c;
    const int64_t elements = assay_shape_count(&assay_node_in(s->graph, s->node, 0)->type);
    bool taken = memory && elements < INT32_MAX / 8 && fast_filters_exact(s, &f, row, &form);
    free(row);
    if (!taken) {
        free(c);
        return memory ? ASSAY_OK : fast_memory(s, err);
    }
    assay_status status = make(s, &f, &form, c, err);
    if (status)
        free_fc(&c->base);
    else
        *out = &c->base;
    return status;
}
