/* The runs of values, from inputs to outputs. */
#include "opt/quantize/runs.h"

#include <math.h>

static void remove_at(quantize_runs *r, int k)
{
    r->n--;
    for (int i = k; i < r->n; i++) {
        r->lo[i] = r->lo[i + 1];
        r->hi[i] = r->hi[i + 1];
    }
}

/* Runs k and k + 1 become one. */
static void join_at(quantize_runs *r, int k)
{
    r->hi[k] = fmax(r->hi[k], r->hi[k + 1]);
    remove_at(r, k + 1);
}

/* Where all places are taken, the two nearest runs become one. */
static void make_place(quantize_runs *r)
{
    int nearest = 0;
    for (int k = 1; k + 1 < r->n; k++)
        if (r->lo[k + 1] - r->hi[k] < r->lo[nearest + 1] - r->hi[nearest])
            nearest = k;
    if (r->n == QUANTIZE_RUNS)
        join_at(r, nearest);
}

static void add_run(quantize_runs *r, double lo, double hi)
{
    for (int k = 0; k < r->n; k++)
        if (lo >= r->lo[k] && hi <= r->hi[k])
            return;
    make_place(r);
    int at = r->n++;
    for (; at > 0 && r->lo[at - 1] > lo; at--) {
        r->lo[at] = r->lo[at - 1];
        r->hi[at] = r->hi[at - 1];
    }
    r->lo[at] = lo;
    r->hi[at] = hi;
    for (int k = 0; k + 1 < r->n;)
        if (r->lo[k + 1] <= r->hi[k])
            join_at(r, k);
        else
            k++;
}

static bool is_number(double x)
{
    return !isnan(x) && x < INFINITY;
}

static void of_constant(const assay_value *v, quantize_runs *r)
{
    for (int64_t i = 0, n = assay_shape_count(&v->type); i < n; i++) {
        const double x = (double)((const float *)v->data)[i];
        if (!is_number(x)) {
            r->n = 0;
            return;
        }
        add_run(r, x, x);
    }
    r->of_types = true;
}

/* Two values, whatever the profile saw. */
static void of_two(double lo, double hi, quantize_runs *r)
{
    add_run(r, lo, lo);
    add_run(r, hi, hi);
    r->of_types = true;
}

/* An input, or a cast of one, that a softmax's input is made of, and that was 0 in every sample, or
 * 1, is a mask of which no sample showed the other value: 1 or 0 where constants make the mask of
 * it, and where an input is added as it is, -infinity. */
static bool of_mask(const assay_plan_value *p, const assay_histogram *h, bool input,
                    quantize_runs *r)
{
    const bool zero = h->min == 0 && h->max == 0, one = h->min == 1 && h->max == 1;
    if (!p->before_softmax || h->finite == 0 || h->inf || h->nan || !(zero || one))
        return false;
    if (p->scaled_first)
        of_two(0, 1, r);
    else if (zero && input && p->added_first)
        of_two(-INFINITY, 0, r);
    return r->n > 0;
}

/* whole: the elements are integers. */
static void of_histogram(const assay_histogram *h, bool whole, quantize_runs *r)
{
    int first, end;
    profile_histogram_extent(h, &first, &end);
    for (int i = first; i < end; i++) {
        double lo, hi;
        if (!*profile_histogram_at(h, i))
            continue;
        profile_histogram_edges(h, i, &lo, &hi);
        lo = fmax(lo, (double)h->min);
        hi = fmin(hi, (double)h->max);
        add_run(r, whole ? ceil(lo) : lo, whole ? floor(hi) : hi);
    }
}

/* No element lies below the first bin of the highest run that counted one. */
static void raise_highest(const assay_histogram *h, quantize_runs *r)
{
    int first, end;
    double lo = r->lo[r->n - 1], unused;
    profile_histogram_extent(h, &first, &end);
    int i = lo > (double)h->min && lo <= (double)h->max ? profile_histogram_bin(h, lo) : first;
    while (i < end - 1 && !*profile_histogram_at(h, i))
        i++;
    profile_histogram_edges(h, i, &lo, &unused);
    r->lo[r->n - 1] = fmin(fmax(r->lo[r->n - 1], lo), r->hi[r->n - 1]);
}

/* Of one element of each; false where that may be no number. */
static bool combine_runs(assay_op op, const double a[2], const double b[2], double out[2])
{
    const double corner[] = {a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]};
    if (op == ASSAY_OP_MUL) {
        out[0] = out[1] = corner[0];
        for (int i = 0; i < 4; i++) {
            if (isnan(corner[i]))
                return false;
            out[0] = fmin(out[0], corner[i]);
            out[1] = fmax(out[1], corner[i]);
        }
    } else {
        const bool sub = op == ASSAY_OP_SUB, add = op == ASSAY_OP_ADD;
        out[0] = add ? a[0] + b[0] : sub ? a[0] - b[1] : fmax(a[0], b[0]);
        out[1] = add ? a[1] + b[1] : sub ? a[1] - b[0] : fmax(a[1], b[1]);
    }
    return is_number(out[0]) && is_number(out[1]);
}

static void combine(assay_op op, const quantize_runs *a, const quantize_runs *b, quantize_runs *r)
{
    r->of_types = a->of_types && b->of_types;
    for (int k = 0; k < a->n * b->n; k++) {
        const int i = k / b->n, j = k % b->n;
        double out[2];
        if (!combine_runs(op, (double[]){a->lo[i], a->hi[i]}, (double[]){b->lo[j], b->hi[j]},
                          out)) {
            r->n = 0;
            return;
        }
        add_run(r, out[0], out[1]);
    }
}

static void unite(const assay_quantizer *q, const quantize_runs *all, const assay_node *n,
                  quantize_runs *r)
{
    r->of_types = true;
    for (int j = 0; j < n->n_in; j++) {
        if (n->in[j] < 0 || q->g->value[n->in[j]].type.elem.kind != ASSAY_KIND_F32)
            continue;
        const quantize_runs *in = &all[n->in[j]];
        if (in->n == 0) {
            r->n = 0;
            return;
        }
        r->of_types &= in->of_types;
        for (int k = 0; k < in->n; k++)
            add_run(r, in->lo[k], in->hi[k]);
    }
}

bool quantize_runs_combines(const assay_node *n)
{
    return n->op == ASSAY_OP_ADD || n->op == ASSAY_OP_SUB || n->op == ASSAY_OP_MUL ||
           n->op == ASSAY_OP_MAX;
}

bool quantize_runs_chooses(const assay_node *n)
{
    return n->op == ASSAY_OP_SELECT ||
           ((assay_op_get(n->op)->traits & ASSAY_T_MOVE) && n->op != ASSAY_OP_PAD && n->n_out == 1);
}

static void of_node(const assay_quantizer *q, quantize_runs *all, const assay_node *n)
{
    const int v = n->out[0];
    quantize_runs *r = &all[v];
    const assay_profile_entry *e = profile_entry_of(q->profile, q->g, v);
    const assay_kind from =
        n->n_in > 0 && n->in[0] >= 0 ? q->g->value[n->in[0]].type.elem.kind : ASSAY_KIND_NONE;
    for (int j = 0; j < n->n_in; j++)
        if ((quantize_runs_combines(n) || quantize_runs_chooses(n)) && n->in[j] >= 0 &&
            lower_is_f32_constant(q->g, n->in[j]) && all[n->in[j]].n == 0)
            of_constant(&q->g->value[n->in[j]], &all[n->in[j]]);
    if (e && e->seen.nan > 0)
        return;
    if (quantize_runs_combines(n))
        combine(n->op, &all[n->in[0]], &all[n->in[1]], r);
    else if (quantize_runs_chooses(n))
        unite(q, all, n, r);
    else if (n->op == ASSAY_OP_CAST && from == ASSAY_KIND_BOOL)
        of_two(0, 1, r);
    else if (n->op == ASSAY_OP_CAST && e && !of_mask(&q->value[v], &e->seen, false, r))
        of_histogram(&e->seen, from != ASSAY_KIND_F32, r);
    if (!e || e->seen.finite == 0)
        return;
    if (r->n > 0) {
        raise_highest(&e->seen, r);
    } else if (e->seen.inf == 0) {
        add_run(r, (double)e->seen.min, (double)e->seen.max);
        r->of_types = false;
    }
}

quantize_runs *quantize_runs_of_values(const assay_quantizer *q)
{
    quantize_runs *all = assay_arena_array(q->arena, (size_t)q->g->n_values + 1, sizeof *all);
    if (!all)
        return NULL;
    for (int i = 0; i < q->g->n_inputs; i++) {
        const int v = q->g->input[i];
        const assay_profile_entry *e = profile_entry_of(q->profile, q->g, v);
        if (e && q->g->value[v].type.elem.kind == ASSAY_KIND_F32 && !e->seen.nan && !e->seen.inf &&
            !of_mask(&q->value[v], &e->seen, true, &all[v]))
            of_histogram(&e->seen, false, &all[v]);
    }
    for (int i = 0; i < q->g->n_nodes; i++) {
        const assay_node *n = &q->g->node[i];
        if (n->n_out > 0 && q->g->value[n->out[0]].type.elem.kind == ASSAY_KIND_F32)
            of_node(q, all, n);
    }
    return all;
}
