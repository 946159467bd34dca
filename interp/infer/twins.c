/* Rows that tell encodings apart; see twins.h. */
#include "interp/infer/twins.h"

#include <assert.h>
#include <math.h>

#include "graph/core/type.h"
#include "interp/infer/engine.h"
#include "interp/infer/multiplier.h"
#include "interp/infer/questions.h"
#include "interp/infer/scales.h"

enum { DRAWN = 600, EACH = 6, ASKED = 160, ROUNDS = 24, QUIET = 2 };

/* ---- R ---- */

/* The width of a rule's multipliers, before or after they are reduced. */
static int bits_of(infer_task *t, const infer_rule *k)
{
    return k->reduced_bits > 0 && rows_next(&t->random) & 1 ? k->reduced_bits : k->multiplier_bits;
}

/* An R at, or just beside, a multiplier of this many bits or a tie between two; often the least or
 * the greatest. */
static double near_multiplier(infer_task *t, int bits)
{
    assert(bits >= 1 && bits <= 32);
    const int64_t lo = INT64_C(1) << bits, hi = 2 * lo - 1;
    const int64_t pick = rows_between(&t->random, 0, 3);
    const int64_t m = pick == 0   ? hi - rows_between(&t->random, 0, 2)
                      : pick == 1 ? lo + rows_between(&t->random, 0, 2)
                                  : rows_between(&t->random, lo, hi) | 1;
    const double off = ldexp(1, -(int)rows_between(&t->random, bits < 18 ? bits : 18, 52));
    return ldexp((double)m, -bits) * (rows_next(&t->random) & 1 ? 1 + off : 1 - off);
}

static void set_scales(infer_task *t, const infer_rule *k, infer_row *row)
{
    const int e = (int)rows_between(&t->random, t->live_lo - 3, t->live_hi);
    const int bits = bits_of(t, k);
    const double real = near_multiplier(t, bits);
    if (rows_next(&t->random) & 1)
        infer_near_scales(&t->random, row, ldexp(real, e));
    else
        infer_set_scales(&t->random, row, (int64_t)ldexp(real, bits), e - bits);
}

/* ---- accumulators ---- */

/* An accumulator whose value is next to a tie between two codes, or to a limit of the codes. */
static int64_t draw_acc(infer_task *t, double real, int32_t zp)
{
    const int64_t max = infer_acc_max(t);
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const int64_t pick = rows_between(&t->random, 0, 7);
    double n = (double)(rows_between(&t->random, lo, hi) - zp) + 0.5;
    if (pick == 0)
        return rows_next(&t->random) & 1 ? max : -max - 1;
    if (pick < 4)
        n = (double)rows_between(&t->random, -2, 1) + 0.5;
    n = floor(n / real) + (double)rows_between(&t->random, 0, 1);
    return n >= (double)max ? max : n <= -(double)max ? -max - 1 : (int64_t)n;
}

static bool differ(infer_model m[2], const infer_row *row)
{
    return infer_answer(&m[0], row) != infer_answer(&m[1], row);
}

/* ---- rows ---- */

static void draw(infer_task *t, const infer_rule *a, const infer_rule *b)
{
    static _Thread_local infer_model m[2]; /* too large for the stack */
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const size_t from = t->next.n;
    infer_model_start(&m[0], a, t->o);
    infer_model_start(&m[1], b, t->o);
    for (int i = 0; i < DRAWN && t->next.n < from + EACH; i++) {
        infer_row row = {.zp = (int32_t)rows_between(&t->random, lo, hi)};
        set_scales(t, i & 1 ? a : b, &row);
        for (int k = 0; k < EACH; k++) {
            row.acc = draw_acc(t, infer_real(&row), row.zp);
            if (!differ(m, &row))
                continue;
            infer_encode_row(t, &row);
            infer_rows_add(&t->next, &row);
            break;
        }
    }
    t->work += DRAWN * EACH;
}

/* Compares each rule with the first and with its neighbour. */
static void draw_all(infer_task *t, const infer_rules *rules)
{
    for (size_t i = 1; i < rules->n && t->next.n < ASKED; i++) {
        draw(t, &rules->rule[0], &rules->rule[i]);
        if (i > 1)
            draw(t, &rules->rule[i - 1], &rules->rule[i]);
    }
}

static void drop(infer_task *t, infer_rules *rules, size_t from)
{
    size_t kept = 0;
    infer_model m;
    infer_model_start(&m, &rules->rule[0], t->o);
    for (size_t i = 0; i < rules->n; i++) {
        bool good = true;
        infer_model_set(&m, &rules->rule[i]);
        for (size_t k = from; k < t->log.n && good; k++)
            good = infer_answer(&m, &t->log.row[k]) == t->log.row[k].answer;
        if (good)
            rules->rule[kept++] = rules->rule[i];
    }
    rules->n = kept;
}

assay_status infer_part_twins(infer_task *t, infer_rules *rules, assay_error *err)
{
    int quiet = 0;
    for (int round = 0; round < ROUNDS && quiet < QUIET && rules->n > 1; round++) {
        const size_t from = t->log.n;
        draw_all(t, rules);
        quiet = t->next.n == 0 ? quiet + 1 : 0;
        if (t->next.n == 0)
            continue;
        const assay_status s = infer_ask(t, err);
        if (s)
            return s;
        drop(t, rules, from);
        if (t->exhausted)
            return ASSAY_OK;
    }
    return ASSAY_OK;
}

/* ---- ties of the product ---- */

/* Adds rows with x * m = (2n + 1) * 2^(s - 1) + d, where m has all its bits. */
static bool find_tie(infer_task *t, int bits, infer_row *row)
{
    const int64_t x = rows_between(&t->random, 1, 255) | 1;
    const int64_t n = rows_between(&t->random, 0, 3) ? rows_between(&t->random, 0, 3)
                                                     : rows_between(&t->random, 0, 120);
    const int64_t d = rows_between(&t->random, -2, 2);
    const int shift =
        bits + infer_bits_of(x) - infer_bits_of(n) + (int)rows_between(&t->random, -1, 1);
    if (shift < 1 || shift > 54)
        return false;
    const int64_t product = (2 * n + 1) * (INT64_C(1) << (shift - 1)) + d;
    row->multiplier = product / x;
    row->shift = shift;
    row->acc = rows_next(&t->random) & 1 ? x : -x;
    return product % x == 0 && infer_bits_of(row->multiplier) == bits;
}

void infer_ask_ties(infer_task *t, const infer_rule *encoding)
{
    enum { TRIES = 200000, MAX = 1200 };
    const int bits =
        encoding->reduced_bits > 0 ? encoding->reduced_bits : encoding->multiplier_bits;
    assert(encoding->multiplier_bits >= bits && encoding->multiplier_bits <= 32);
    t->encoder = *encoding;
    for (int i = 0; i < TRIES && t->next.n < infer_some(t, MAX); i++) {
        infer_row row = {.zp = infer_small_zero(t->o, false)};
        if (!find_tie(t, bits, &row))
            continue;
        if (encoding->reduced_bits > 0)
            row.multiplier <<= encoding->multiplier_bits - bits;
        row.shift += encoding->reduced_bits > 0 ? encoding->multiplier_bits - bits : 0;
        infer_form_row(t, &row, true);
        infer_rows_add(&t->next, &row);
    }
}
