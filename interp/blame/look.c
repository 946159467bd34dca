/* Looks: the part of a large node's output on which hypotheses are tried first. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

enum { QUICK_MACS = 2000000, QUICK_ELEMENTS = 100000, GLANCE_COST = 40000, ELEMENT_COST = 16 };
enum { FEWEST_CHANNELS = 32, FEW_COST = 10000, FEW_CHANNELS = 8 };

void blame_look_close(blame_look *l)
{
    free(l->at);
    *l = (blame_look){0};
}

/* ---- elements of a box ---- */

static int64_t extent(const blame_look *l, int axis)
{
    return l->box.end[axis] - l->box.first[axis];
}

static int64_t size_of(const blame_look *l, const assay_type *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= extent(l, i);
    return n;
}

/* The first element of the box, its coordinates in at. */
static int64_t begin(const blame_look *l, const assay_type *t, int64_t *at)
{
    int64_t e = 0;
    for (int i = 0; i < t->rank; i++) {
        at[i] = l->box.first[i];
        e = e * t->dim[i] + at[i];
    }
    return e;
}

/* The one behind. */
static int64_t next(const blame_look *l, const assay_type *t, int64_t *at, int64_t e)
{
    int64_t stride = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        e += stride;
        if (++at[i] < l->box.end[i])
            break;
        e -= extent(l, i) * stride;
        at[i] = l->box.first[i];
        stride *= t->dim[i];
    }
    return e;
}

static bool list(const blame_search *s, blame_look *l)
{
    int64_t at[ASSAY_MAX_RANK];
    l->n = size_of(l, s->type);
    l->at = malloc((size_t)l->n * sizeof *l->at + 64);
    int64_t e = begin(l, s->type, at);
    for (int64_t j = 0; j < l->n && l->at; j++) {
        l->at[j] = e;
        e = next(l, s->type, at, e);
    }
    return l->at != NULL;
}

/* ---- where most differ ---- */

static bool differs(const blame_search *s, int64_t e)
{
    return s->seen[e] && !blame_same(s, e, s->end_base[e]);
}

static int busiest_sample(const blame_search *s)
{
    int best = 0;
    int64_t max = -1;
    for (int k = 0; k < s->n_samples; k++) {
        int64_t n = 0;
        for (int64_t e = k * s->end_count; e < (k + 1) * s->end_count; e++)
            n += differs(s, e);
        if (n > max) {
            max = n;
            best = k;
        }
    }
    return best;
}

/* Narrows the box to the n places along an axis in which most of its elements differ. */
static bool narrow(const blame_search *s, blame_look *l, int axis, int64_t n)
{
    const int64_t all = extent(l, axis), size = size_of(l, s->type);
    int64_t at[ASSAY_MAX_RANK], best = 0, max = -1, sum = 0;
    if (n >= all)
        return true;
    int64_t *count = calloc((size_t)all + 1, sizeof *count);
    int64_t e = begin(l, s->type, at);
    for (int64_t j = 0; j < size && count; j++) {
        count[at[axis] - l->box.first[axis]] += differs(s, l->k * s->end_count + e);
        e = next(l, s->type, at, e);
    }
    for (int64_t r = 0; r < all && count; r++) {
        sum += count[r] - (r >= n ? count[r - n] : 0);
        if (r >= n - 1 && sum > max) {
            max = sum;
            best = r - n + 1;
        }
    }
    l->part = true;
    l->box.first[axis] += best;
    l->box.end[axis] = l->box.first[axis] + n;
    free(count);
    return count != NULL;
}

/* ---- looks ---- */

bool blame_look_open(const blame_search *s, blame_look *out)
{
    const int64_t macs = assay_node_macs(s->d->graph, s->n);
    assay_window w;
    blame_case c;
    *out = (blame_look){.k = busiest_sample(s)};
    for (int i = 0; i < s->type->rank; i++)
        out->box.end[i] = s->type->dim[i];
    if (s->n_after == 0 && blame_case_can(s->n) &&
        (macs >= QUICK_MACS || s->count >= QUICK_ELEMENTS)) {
        blame_case_fill(&c, s->d->graph, s->n, NULL, (const void *[BLAME_IN]){NULL}, NULL);
        const int64_t by_macs = macs / QUICK_MACS, by_count = s->count / QUICK_ELEMENTS;
        if (blame_case_window(&c, &w)) {
            const int axis = w.nhwc ? 1 : 2;
            const int64_t all = s->type->dim[axis];
            const int64_t rows = all / ((by_macs > by_count ? by_macs : by_count) + 1) + 1;
            if (!narrow(s, out, axis, rows < 3 ? 3 : rows))
                return false;
        }
    }
    return list(s, out);
}

bool blame_band_open(const blame_search *s, int axis, int64_t n, blame_look *out)
{
    *out = (blame_look){.k = busiest_sample(s)};
    for (int i = 0; i < s->type->rank; i++)
        out->box.end[i] = s->type->dim[i];
    return narrow(s, out, axis, n) && list(s, out);
}

/* Ops whose edits leave what each element is computed from where it was. */
static bool can_glance(const blame_search *s)
{
    return blame_case_can(s->n) && s->n->op != ASSAY_OP_CONV_TRANSPOSE &&
           (blame_is_weighted(s->n) || s->n->op == ASSAY_OP_MATMUL ||
            assay_op_get(s->n->op)->traits & (ASSAY_T_UNARY | ASSAY_T_BINARY));
}

/* What an element costs. */
static int64_t each_of(const blame_search *s)
{
    return assay_node_macs(s->d->graph, s->n) / (s->count ? s->count : 1) + ELEMENT_COST;
}

/* Of a look the places along each axis where most differ, so that all cost no more, of channels
 * no fewer than `channels`. */
static bool cut_look(const blame_search *s, const blame_look *look, int64_t cost, int64_t channels,
                     blame_look *out)
{
    blame_case c;
    blame_case_fill(&c, s->d->graph, s->n, s->d->scheme, (const void *[BLAME_IN]){NULL}, NULL);
    const unsigned axes = blame_case_axes(&c);
    const int last = s->channel_axis;
    *out = (blame_look){.k = look->k, .box = look->box, .part = look->part};
    for (int i = 0; i <= s->type->rank; i++) {
        const int axis = i == s->type->rank ? last : i; /* channels last */
        if ((i == last && i < s->type->rank) || axis < 0 || !(axes >> axis & 1))
            continue;
        const int64_t others = size_of(out, s->type) / extent(out, axis) * each_of(s);
        int64_t n = cost / others + 1;
        n = axis == last && n < channels ? channels : n;
        if (!narrow(s, out, axis, n))
            return false;
    }
    return true;
}

bool blame_glance_open(const blame_search *s, const blame_look *look, blame_look *out)
{
    *out = (blame_look){0};
    if (!can_glance(s) || look->n * each_of(s) < 4 * (int64_t)GLANCE_COST)
        return true;
    return cut_look(s, look, GLANCE_COST, FEWEST_CHANNELS, out) &&
           (size_of(out, s->type) >= look->n || list(s, out));
}

bool blame_few_open(const blame_search *s, const blame_look *look, blame_look *out)
{
    *out = (blame_look){.k = look->k, .box = look->box, .part = look->part};
    return (!can_glance(s) || cut_look(s, look, FEW_COST, FEW_CHANNELS, out)) && list(s, out);
}

bool blame_look_fits(const blame_search *s, const blame_look *l, const blame_case *c)
{
    const unsigned axes = blame_case_axes(c);
    bool good = c->op == s->n->op && assay_shape_equal(&c->out, s->type);
    for (int i = 0; i < s->type->rank && good; i++)
        good = axes >> i & 1 || extent(l, i) == s->type->dim[i];
    return good;
}
