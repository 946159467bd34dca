/* Whole domains; see domain.h. */
#include "interp/cli/domain.h"

#include <inttypes.h>
#include <stdio.h>

#include "interp/kernel.h"
#include "schemes/scheme.h"

#define MOST (1 << 20) /* operands of one node */

/* Codes of input k. */
static int64_t codes(const cli_domain *d, int k)
{
    return INT64_C(1) << d->in[k].elem.bits;
}

static int32_t code_at(const cli_domain *d, int k, size_t i)
{
    return (int32_t)(assay_elem_min(d->in[k].elem) + (int64_t)i);
}

/* Average pools may see fewer cells at the borders: counts 1..depth; others see them all. */
static int32_t least_count(const cli_domain *d)
{
    return d->node->op == ASSAY_OP_AVG_POOL ? 1 : (int32_t)d->spec.depth;
}

/* Sums of `count` cells: count * (codes - 1) + 1 of them. */
static bool sums(const cli_domain *d, int64_t *n)
{
    *n = 0;
    if (d->spec.depth < 1 || d->spec.depth > MOST)
        return false;
    for (int32_t c = least_count(d); c <= d->spec.depth && *n <= MOST; c++)
        *n += c * (codes(d, 0) - 1) + 1;
    return *n <= MOST;
}

bool cli_domain_of(const assay_graph *g, int i, cli_domain *d)
{
    const assay_node *n = &g->node[i];
    int64_t count = 0;
    *d = (cli_domain){.node = n, .calls = assay_ref_kernel(n->op).calls};
    if (!assay_node_is_quantized(g, n) || n->n_in < 1)
        return false;
    assay_unit_spec_fill(g, n, d->in, &d->spec);
    if (d->in[0].elem.kind != ASSAY_KIND_INT || d->in[0].elem.bits > 16)
        return false;
    if (d->calls == ASSAY_CALLS_UNARY && n->op != ASSAY_OP_RESIZE) {
        d->what = "codes";
        count = codes(d, 0);
    } else if (d->calls == ASSAY_CALLS_BINARY && d->in[1].elem.kind == ASSAY_KIND_INT &&
               d->in[0].elem.bits + d->in[1].elem.bits <= 20) {
        d->what = "pairs of codes";
        count = codes(d, 0) * codes(d, 1);
    } else if (d->calls == ASSAY_CALLS_POOL && sums(d, &count)) {
        d->what = "sums";
    }
    d->n = (size_t)count;
    return count > 0;
}

static void run_pairs(const cli_domain *d, const assay_scheme *s, const assay_unit *u, int32_t *out)
{
    const size_t columns = (size_t)codes(d, 1);
    for (size_t i = 0; i < d->n; i++) {
        int32_t a = code_at(d, 0, i / columns), b = code_at(d, 1, i % columns);
        s->vt->binary(u, &a, &b, 1, &out[i]);
    }
}

/* Operand i of a pool. */
static int64_t sum_at(const cli_domain *d, size_t i, int32_t *count)
{
    int64_t left = (int64_t)i;
    *count = least_count(d);
    while (left > *count * (codes(d, 0) - 1)) {
        left -= *count * (codes(d, 0) - 1) + 1;
        ++*count;
    }
    return *count * assay_elem_min(d->in[0].elem) + left;
}

static void run_sums(const cli_domain *d, const assay_scheme *s, const assay_unit *u, int32_t *out)
{
    int32_t count = least_count(d);
    size_t i = 0;
    for (; count <= d->spec.depth; count++)
        for (int64_t k = 0; k <= count * (codes(d, 0) - 1); k++, i++) {
            bool trapped = false;
            int64_t sum = count * assay_elem_min(d->in[0].elem) + k;
            sum = s->vt->settle(u, sum, &trapped);
            s->vt->pool(u, &sum, &count, 1, &out[i]);
        }
}

assay_status cli_domain_run(const cli_domain *d, const assay_scheme *s, int32_t *out,
                            assay_error *err)
{
    assay_unit *u;
    int32_t unused;
    assay_status status = s->vt->prepare(s, &d->spec, &u, err);
    if (status != ASSAY_OK)
        return status;
    if (d->calls == ASSAY_CALLS_POOL && s->vt->window != NULL &&
        s->vt->window(u, NULL, 0, 0, &unused)) {
        status = assay_fail(
            err, ASSAY_ERR_UNSUPPORTED,
            "scheme %s adds in the window's order, so the sum alone does not decide", s->name);
    } else if (d->calls == ASSAY_CALLS_BINARY) {
        run_pairs(d, s, u, out);
    } else if (d->calls == ASSAY_CALLS_POOL) {
        run_sums(d, s, u, out);
    } else {
        for (size_t i = 0; i < d->n; i++) {
            int32_t x = code_at(d, 0, i);
            s->vt->unary(u, &x, 1, &out[i]);
        }
    }
    s->vt->release(u);
    return status;
}

const char *cli_domain_point(const cli_domain *d, size_t i, char *text, size_t size)
{
    if (d->calls == ASSAY_CALLS_BINARY) {
        size_t columns = (size_t)codes(d, 1);
        snprintf(text, size, "codes %d and %d", code_at(d, 0, i / columns),
                 code_at(d, 1, i % columns));
    } else if (d->calls == ASSAY_CALLS_POOL) {
        int32_t count;
        int64_t sum = sum_at(d, i, &count);
        snprintf(text, size, "sum %" PRId64 " of %d cell%s", sum, count, count > 1 ? "s" : "");
    } else {
        snprintf(text, size, "code %d", code_at(d, 0, i));
    }
    return text;
}
