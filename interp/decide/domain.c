/* Whole domains of codes; see domain.h. */
#include "interp/decide/domain.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interp/kernel/kernel.h"
#include "schemes/scheme.h"

#define MAX_BITS 20              /* of all the codes of an operand */
#define MAX      (1 << MAX_BITS) /* operands of one node */
#define ROW_BITS 16              /* the same of a row, whose results are as many codes */

/* Codes of input k. */
static int64_t codes(const decide_domain *d, int k)
{
    assert(d->in[k].elem.bits <= 32);
    return INT64_C(1) << d->in[k].elem.bits;
}

static int32_t code_at(const decide_domain *d, int k, size_t i)
{
    return (int32_t)(assay_elem_min(d->in[k].elem) + (int64_t)i);
}

static bool has_borders(const assay_attr_pool *a)
{
    bool padded = a->ceil_mode;
    for (int i = 0; i < a->kernel.n; i++)
        padded = padded || a->pad_begin.v[i] > 0 || a->pad_end.v[i] > 0;
    return padded;
}

/* Average pools may see fewer cells at the borders: counts 1..depth; others see them all. */
static int32_t least_count(const decide_domain *d)
{
    bool fewer = d->node->op == ASSAY_OP_AVG_POOL && has_borders(&d->node->attr.pool);
    return fewer ? 1 : (int32_t)d->spec.depth;
}

/* Sums of `count` cells: count * (codes - 1) + 1 of them. */
static bool sums(const decide_domain *d, int64_t *n)
{
    *n = 0;
    if (d->spec.depth < 1 || d->spec.depth > MAX)
        return false;
    for (int32_t c = least_count(d); c <= d->spec.depth && *n <= MAX; c++)
        *n += c * (codes(d, 0) - 1) + 1;
    return *n <= MAX;
}

/* Channels of one place, or the elements of a row. */
static int64_t row_length(const decide_domain *d)
{
    const assay_type *x = &d->in[0];
    if (d->node->op != ASSAY_OP_LRN)
        return d->spec.depth;
    return x->dim[d->node->attr.lrn.layout == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1];
}

static bool undecided(decide_domain *d, const char *format, int64_t a, int64_t b)
{
    snprintf(d->why, sizeof d->why, format, a, b);
    return false;
}

/* Rows of so few codes that all can be tried; the others of a layer normalization are constants. */
static bool rows(decide_domain *d, int64_t *n)
{
    const int64_t bits = d->in[0].elem.bits, length = row_length(d);
    d->what = "rows";
    d->width = (size_t)length;
    if (d->node->op == ASSAY_OP_LAYER_NORM)
        return undecided(d, "a row of %" PRId64 " codes meets as many of gamma and beta", length,
                         0);
    if (length < 1 || length > ROW_BITS || bits * length > ROW_BITS)
        return undecided(d,
                         "rows of %" PRId64 " codes of %" PRId64
                         " bits are too many to try all; compare runs of both",
                         length, bits);
    assert(bits * length <= ROW_BITS);
    *n = INT64_C(1) << (bits * length);
    return true;
}

bool decide_domain_of(const assay_graph *g, int i, decide_domain *d)
{
    const assay_node *n = &g->node[i];
    int64_t count = 0;
    *d = (decide_domain){.node = n, .calls = ref_kernel(n->op).calls, .width = 1};
    if (!assay_node_is_quantized(g, n) || n->n_in < 1 || d->calls == 0)
        return false;
    assay_unit_spec_fill(g, n, d->in, &d->spec);
    if (d->calls == ASSAY_CALLS_QUANTIZE)
        return undecided(d, "every float32 is an operand", 0, 0);
    if (d->calls == ASSAY_CALLS_DEQUANTIZE)
        return undecided(d, "it yields floats", 0, 0);
    if (n->op == ASSAY_OP_RESIZE && n->attr.resize.mode != ASSAY_RESIZE_NEAREST)
        return undecided(d, "four codes and two positions make too many operands", 0, 0);
    if (d->in[0].elem.kind != ASSAY_KIND_INT || d->in[0].elem.bits > 16)
        return undecided(d, "codes of more than 16 bits are too many to try all", 0, 0);
    if (d->calls == ASSAY_CALLS_UNARY) {
        d->what = "codes";
        count = codes(d, 0);
    } else if (d->calls == ASSAY_CALLS_BINARY) {
        d->what = "pairs of codes";
        if (d->in[1].elem.kind != ASSAY_KIND_INT ||
            d->in[0].elem.bits + d->in[1].elem.bits > MAX_BITS)
            return undecided(d, "pairs of %" PRId64 " and %" PRId64 " bits are too many to try all",
                             d->in[0].elem.bits, d->in[1].elem.bits);
        count = codes(d, 0) * codes(d, 1);
    } else if (d->calls == ASSAY_CALLS_POOL) {
        d->what = "sums";
        if (d->spec.depth < 1) /* not of a window */
            return undecided(d, "its sums are too many to try all; compare runs of both", 0, 0);
        if (!sums(d, &count))
            return undecided(d, "sums of %" PRId64 " codes are too many to try all", d->spec.depth,
                             0);
    } else if (!rows(d, &count)) {
        return false;
    }
    d->n = (size_t)count;
    return true;
}

/* Row number i: its codes are the digits of i. */
static void row_at(const decide_domain *d, size_t i, int32_t *row)
{
    assert(d->in[0].elem.bits <= ROW_BITS);
    for (size_t k = 0; k < d->width; k++, i >>= d->in[0].elem.bits)
        row[k] = code_at(d, 0, i & ((size_t)codes(d, 0) - 1));
}

static void run_rows(const decide_domain *d, const assay_scheme *s, const assay_unit *u,
                     int32_t *out)
{
    int32_t row[ROW_BITS];
    for (size_t i = 0; i < d->n; i++, out += d->width) {
        memset(out, 0, d->width * sizeof *out); /* a product is one code */
        row_at(d, i, row);
        s->vt->row(u, row, d->width, out);
    }
}

static void run_pairs(const decide_domain *d, const assay_scheme *s, const assay_unit *u,
                      int32_t *out)
{
    const size_t columns = (size_t)codes(d, 1);
    for (size_t i = 0; i < d->n; i++) {
        int32_t a = code_at(d, 0, i / columns), b = code_at(d, 1, i % columns);
        s->vt->binary(u, &a, &b, 1, &out[i]);
    }
}

/* Operand i of a pool. */
static int64_t sum_at(const decide_domain *d, size_t i, int32_t *count)
{
    int64_t left = (int64_t)i;
    *count = least_count(d);
    while (left > *count * (codes(d, 0) - 1)) {
        left -= *count * (codes(d, 0) - 1) + 1;
        ++*count;
    }
    return *count * assay_elem_min(d->in[0].elem) + left;
}

static void run_sums(const decide_domain *d, const assay_scheme *s, const assay_unit *u,
                     int32_t *out)
{
    int32_t count = least_count(d);
    size_t i = 0;
    for (; count <= d->spec.depth; count++)
        for (int64_t k = 0; k <= count * (codes(d, 0) - 1); k++, i++) {
            bool trapped = false;
            int64_t sum = count * assay_elem_min(d->in[0].elem) + k;
            sum = s->vt->apply_overflow(u, sum, &trapped);
            s->vt->pool(u, &sum, &count, 1, &out[i]);
        }
}

assay_status decide_domain_run(const decide_domain *d, const assay_scheme *s, int32_t *out,
                               assay_error *err)
{
    assay_unit *u;
    int32_t unused;
    assay_status status = s->vt->prepare(s, &d->spec, &u, err);
    if (status)
        return status;
    if (d->calls == ASSAY_CALLS_POOL && s->vt->window && s->vt->window(u, NULL, 0, 0, &unused)) {
        status = assay_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "scheme %s adds in the window's order, so the sum alone does not decide", s->name);
    } else if (d->calls == ASSAY_CALLS_BINARY) {
        run_pairs(d, s, u, out);
    } else if (d->calls == ASSAY_CALLS_POOL) {
        run_sums(d, s, u, out);
    } else if (d->calls == ASSAY_CALLS_ROW) {
        run_rows(d, s, u, out);
    } else {
        for (size_t i = 0; i < d->n; i++) {
            int32_t x = code_at(d, 0, i);
            s->vt->unary(u, &x, 1, &out[i]);
        }
    }
    s->vt->release(u);
    return status;
}

const char *decide_domain_point(const decide_domain *d, size_t i, char *text, size_t size)
{
    if (d->calls == ASSAY_CALLS_BINARY) {
        size_t columns = (size_t)codes(d, 1);
        snprintf(text, size, "codes %d and %d", code_at(d, 0, i / columns),
                 code_at(d, 1, i % columns));
    } else if (d->calls == ASSAY_CALLS_POOL) {
        int32_t count;
        int64_t sum = sum_at(d, i, &count);
        snprintf(text, size, "sum %" PRId64 " of %d cell%s", sum, count, count > 1 ? "s" : "");
    } else if (d->calls == ASSAY_CALLS_ROW) {
        int32_t row[ROW_BITS];
        row_at(d, i, row);
        size_t used = (size_t)snprintf(text, size, "row");
        for (size_t k = 0; k < d->width && used < size; k++)
            used += (size_t)snprintf(text + used, size - used, " %d", row[k]);
    } else {
        snprintf(text, size, "code %d", code_at(d, 0, i));
    }
    return text;
}
