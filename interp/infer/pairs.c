/* Pairs of rows with different answers: no rule maps both to the same operand, multiplier and
 * shift. They rule out stages before the product whatever follows it. See engine.h. */
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/infer/engine.h"

/* Sorted, so that rows that agree in all other parameters are adjacent. */
static int compare(const infer_row *a, const infer_row *b, bool by_acc)
{
    const int64_t x[4] = {a->zp, a->shift, by_acc ? a->multiplier : a->acc,
                          by_acc ? a->acc : a->multiplier};
    const int64_t y[4] = {b->zp, b->shift, by_acc ? b->multiplier : b->acc,
                          by_acc ? b->acc : b->multiplier};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int compare_acc(const void *a, const void *b)
{
    return compare(*(const infer_row *const *)a, *(const infer_row *const *)b, true);
}

static int compare_multiplier(const void *a, const void *b)
{
    return compare(*(const infer_row *const *)a, *(const infer_row *const *)b, false);
}

static bool is_pair(const infer_row *a, const infer_row *b, bool by_acc)
{
    return a->zp == b->zp && a->shift == b->shift && a->answer != b->answer &&
           (by_acc ? a->multiplier == b->multiplier : a->acc == b->acc);
}

static void add_pairs(infer_engine *e, const infer_row **row, size_t n, bool by_acc)
{
    if (n > 0)
        qsort(row, n, sizeof *row, by_acc ? compare_acc : compare_multiplier);
    for (size_t i = 1; i < n; i++)
        if (is_pair(row[i - 1], row[i], by_acc))
            e->pair[e->n_pairs++] = (infer_pair){row[i - 1], row[i]};
}

assay_status infer_make_pairs(infer_engine *e, assay_error *err)
{
    const infer_row **row = malloc((e->n + 1) * sizeof *row);
    size_t n = 0;
    free(e->pair);
    e->n_pairs = 0;
    e->pair = malloc((2 * e->n + 1) * sizeof *e->pair);
    if (!row || !e->pair) {
        free(row);
        return assay_out_of_memory_for(err, "candidates");
    }
    for (size_t i = 0; i < e->n; i++) /* a refusal comes before any shift of the operand */
        if (e->row[e->order[i]].answer != INFER_REFUSED)
            row[n++] = &e->row[e->order[i]];
    add_pairs(e, row, n, true);
    add_pairs(e, row, n, false);
    free(row);
    return ASSAY_OK;
}

static assay_int128 operand(const infer_rule *k, const infer_row *row, const infer_placed *at)
{
    const bool before = k->zero_point == ASSAY_STAGE_BEFORE;
    const assay_int128 x = (assay_int128)row->acc - (before ? row->zp : 0);
    return at->has_pre ? apply_pre_shift(k, x, at->pre) : x;
}

/* The greatest width at which both operands saturate to one value; 0: there is none. */
static int alike_up_to(assay_int128 a, assay_int128 b)
{
    if ((a < 0) != (b < 0))
        return 0;
    if (a < 0) {
        a = ~a;
        b = ~b;
    }
    const assay_int128 min = a < b ? a : b;
    int bits = 0;
    while (bits < 64 && ((assay_int128)1 << bits) <= min + 1)
        bits++;
    return bits;
}

enum { PAIRS_A_ROW = 8 }; /* this many cost as much as one comparison of a candidate with a row */

int infer_least_operand(infer_engine *e, const infer_rule *k)
{
    int max = 0;
    for (size_t i = 0; i < e->n_pairs; i++) {
        const infer_pair p = e->pair[i];
        const infer_placed a = infer_placed_by(k, p.a), b = infer_placed_by(k, p.b);
        e->t->work += i % PAIRS_A_ROW == 0;
        if (a.multiplier != b.multiplier || a.shift != b.shift)
            continue;
        const assay_int128 x = operand(k, p.a, &a), y = operand(k, p.b, &b);
        if (x == y) {
            e->pair[i] = e->pair[i / 2];
            e->pair[i / 2] = e->pair[0];
            e->pair[0] = p;
            return 0;
        }
        const int bits = alike_up_to(x, y);
        max = bits > max ? bits : max;
    }
    return max + 1;
}
