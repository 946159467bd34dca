/* Operations on whole rows (softmax, normalizations), each by the scheme's vector form for bytes,
 * or its plain row; rows are independent, and threads share them. */
#include <stdlib.h>

#include "interp/fast/fast.h"
#include "interp/ref/ref.h"

typedef struct rows {
    assay_fast base;
    assay_axis_walk w;  /* rows are `extent` elements, `inner` apart */
    bool is_norm;       /* a row is followed by gamma and beta */
    assay_row_fn bytes; /* NULL: the plain row */
} rows;

static void free_rows(assay_fast *f)
{
    free(f);
}

typedef struct pieces {
    int32_t *x, *scratch;
    uint8_t *y;
} pieces;

/* A worker's part. */
static size_t carve(const rows *p, char *memory, pieces *s)
{
    size_t used = 0;
    s->x = ref_carve(memory, &used, p->w.extent * (p->is_norm ? 3 : 1), sizeof *s->x);
    s->scratch = ref_carve(memory, &used, p->w.extent, sizeof *s->scratch);
    s->y = ref_carve(memory, &used, p->w.extent, 1);
    return (used + 63) / 64 * 64;
}

typedef struct work {
    const rows *p;
    assay_call *call;
    int workers;
    int64_t rows, part; /* rows of a part */
} work;

/* Gamma or beta: one an element of the row, or one for all. */
static void load_operand(const assay_call *call, int input, int64_t n, int32_t *row)
{
    if (input < call->node->n_in && call->in[input].data)
        ref_load_row(&call->in[input], 0, assay_shape_count(call->in[input].type) > 1, (size_t)n,
                     row);
}

static void run_part(void *user, int64_t part)
{
    const work *k = user;
    const assay_axis_walk *w = &k->p->w;
    const int64_t first = part * k->part, n = w->extent;
    const int64_t last = first + k->part < k->rows ? first + k->part : k->rows;
    pieces s;
    const size_t size = carve(k->p, NULL, &s);
    carve(k->p, (char *)k->call->scratch + fast_worker(k->workers) * size, &s);
    if (k->p->is_norm) {
        load_operand(k->call, 1, n, s.x + n);
        load_operand(k->call, 2, n, s.x + 2 * n);
    }
    for (int64_t r = first; r < last; r++) {
        const int64_t at = r / w->inner * n * w->inner + r % w->inner;
        if (!k->p->bytes) {
            ref_load_row(&k->call->in[0], at, w->inner, (size_t)n, s.x);
            k->call->vt->row(k->call->unit, s.x, (size_t)n, s.scratch);
            ref_store_row(&k->call->out[0], at, w->inner, (size_t)n, s.scratch);
            continue;
        }
        uint8_t *y = (uint8_t *)k->call->out[0].data + at;
        ref_load_row(&k->call->in[0], at, w->inner, (size_t)n, s.x);
        k->p->bytes(k->call->unit, s.x, (size_t)n, s.scratch, w->inner == 1 ? y : s.y);
        for (int64_t i = 0; i < n && w->inner > 1; i++)
            y[i * w->inner] = s.y[i];
    }
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    enum { PART = 4096 }; /* elements */
    const rows *p = (const rows *)f;
    const int64_t count = p->w.outer * p->w.inner;
    const int64_t part = p->w.extent < PART ? PART / p->w.extent : 1;
    work k = {p, call, fast_threads(f->threads, count * p->w.extent * 8), count, part};
    (void)err;
    fast_each(k.workers, (count + part - 1) / part, run_part, &k);
    return ASSAY_OK;
}

assay_status fast_row(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const bool has = ASSAY_SCHEME_HAS(s->vt, simd, bytes) &&
                     fast_is_byte(&assay_node_out(s->graph, s->node, 0)->type);
    const assay_row_fn bytes = has ? s->vt->simd->bytes(s->unit, s->kernels->isa) : NULL;
    pieces unused;
    if (s->node->op == ASSAY_OP_LAYER_NORM && fast_may_refuse(s, (assay_interval){0, 0}))
        return ASSAY_OK; /* the reference asks */
    rows *p = fast_alloc(sizeof *p);
    if (!p)
        return fast_memory(s, err);
    p->w = ref_row_walk(s->node, x);
    p->is_norm = s->node->op == ASSAY_OP_LAYER_NORM;
    p->bytes = bytes;
    p->base = (assay_fast){.run = run,
                           .free = free_rows,
                           .threads = s->threads,
                           .scratch = carve(p, NULL, &unused) * (size_t)s->threads};
    *out = &p->base;
    return ASSAY_OK;
}
