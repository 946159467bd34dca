/* Pairs of R between which codes change; see places.h. */
#include "interp/infer/places.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "graph/core/type.h"
#include "interp/infer/questions.h"

int32_t infer_middle_zero(const infer_options *o)
{
    assert(o->type.is_signed || (o->type.bits >= 1 && o->type.bits <= 31));
    return o->type.is_signed ? 0 : (int32_t)1 << (o->type.bits - 1);
}

static void add(infer_task *t, int64_t acc, int32_t zp, int64_t m, int e)
{
    infer_row row = {.acc = acc, .zp = zp};
    infer_set_scales(&t->random, &row, m, e);
    infer_encode_row(t, &row);
    infer_rows_add(&t->next, &row);
}

/* ---- what the device accepts ---- */

enum { EXPONENTS = INFER_MAX_EXPONENT - INFER_MIN_EXPONENT + 1 };

static bool is_taken(const infer_task *t, const infer_row *row)
{
    return row->answer != INFER_REFUSED && t->log.n > 0;
}

/* Takes the run of accepted powers of two around 2^-8; single gaps are allowed. */
static bool take_run(infer_task *t, const bool taken[EXPONENTS])
{
    int at = -1;
    bool gaps = false;
    for (int i = 0; i < EXPONENTS; i++)
        if (taken[i] &&
            (at < 0 || abs(i + INFER_MIN_EXPONENT + 8) < abs(at + INFER_MIN_EXPONENT + 8)))
            at = i;
    if (at < 0)
        return false;
    int lo = at, hi = at;
    for (int i = at - 1; i >= 0 && lo - i <= 2; i--)
        lo = taken[i] ? i : lo;
    for (int i = at + 1; i < EXPONENTS && i - hi <= 2; i++)
        hi = taken[i] ? i : hi;
    for (int i = lo; i <= hi; i++)
        gaps |= !taken[i];
    t->live_lo = lo + INFER_MIN_EXPONENT;
    t->live_hi = hi + INFER_MIN_EXPONENT;
    t->encoder.exponent_by_log = gaps;
    return true;
}

/* Drops the rows with R = 0, which no record refuses. */
static void forget_zero(infer_task *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->log.n; i++)
        if (infer_real(&t->log.row[i]) != 0)
            t->log.row[kept++] = t->log.row[i];
    t->log.n = kept;
}

static assay_status find_others(infer_task *t, assay_error *err)
{
    const size_t from = t->log.n;
    const int middle = (t->live_lo + t->live_hi) / 2;
    for (int e = middle - 2; e <= middle + 2; e++)
        if (e >= t->live_lo && e < t->live_hi)
            add(t, 0, 0, 3, e - 1);
    add(t, 0, 0, -1, middle);
    add(t, 0, 0, -3, middle - 1);
    add(t, 0, 0, 0, 0);
    const assay_status s = infer_ask(t, err);
    bool any = t->live_hi <= t->live_lo, negative = false;
    for (size_t i = from; i < t->log.n && !s; i++) {
        const infer_row *row = &t->log.row[i];
        const double real = infer_real(row);
        t->zero_refused |= real == 0 && row->answer == INFER_REFUSED;
        any |= real > 0 && is_taken(t, row);
        negative |= real < 0 && is_taken(t, row);
    }
    t->powers = !any;
    if (t->powers) /* no other rows can be encoded */
        t->encoder.scale = ASSAY_FORM_POW2;
    t->encoder.negative_scale = negative;
    if (t->zero_refused)
        forget_zero(t);
    return s;
}

assay_status infer_find_taken(infer_task *t, assay_error *err)
{
    bool taken[EXPONENTS] = {false};
    const size_t from = t->log.n;
    for (int e = INFER_MIN_EXPONENT; e <= INFER_MAX_EXPONENT; e++)
        add(t, 0, 0, 1, e);
    const assay_status s = infer_ask(t, err);
    for (size_t i = from; i < t->log.n && !s; i++)
        taken[infer_exponent(infer_real(&t->log.row[i])) - INFER_MIN_EXPONENT] =
            is_taken(t, &t->log.row[i]);
    if (s)
        return s;
    if (!take_run(t, taken))
        return infer_nothing_taken(t, err);
    return find_others(t, err);
}

/* ---- where R makes a difference ---- */

/* Two rows that differ only in R: their places in the log. */
typedef struct bracket {
    size_t lo, hi;
} bracket;

enum { MAX_BRACKETS = 64, MAX_PAIRS = 1024, ROUNDS = 20, PARTS = 4, NEAR = 14 };

/* Adds pairs of rows next to each other, with accumulators that give codes of about 2^d. */
static void ask_pairs(infer_task *t)
{
    const int32_t zp = infer_middle_zero(t->o);
    const int bits = t->o->acc_bits;
    const int lo = t->live_lo > -bits - 2 ? t->live_lo : -bits - 2;
    const int hi = t->live_hi < 16 ? t->live_hi : 16;
    for (int e = lo; e <= hi; e++)
        for (int d = 1; d <= 7; d++) {
            const int j = d - e;
            if (j < 0 || j > bits - 1 || j > 61)
                continue;
            int64_t x = -(INT64_C(1) << j);
            if (d % 2 == 0 && j > 2 && j < bits - 1)
                x -= rows_between(&t->random, 0, (INT64_C(1) << j) - 1);
            if (d % 4 == 0 && j < bits - 1)
                x = -x;
            add(t, x, zp, t->powers ? 1 : 5, t->powers ? e : e - 2);
            add(t, x, zp, t->powers ? 1 : 7, t->powers ? e + 1 : e - 2);
        }
}

static bool is_pair(const infer_row *a, const infer_row *b)
{
    return a->acc == b->acc && a->zp == b->zp && a->bounded == b->bounded &&
           infer_real(a) < infer_real(b) && a->answer != b->answer && a->answer != INFER_REFUSED &&
           b->answer != INFER_REFUSED;
}

/* Counts adjacent rows of the log with different answers. */
static size_t find_pairs(const infer_task *t, size_t from, bracket *pair)
{
    size_t n = 0;
    for (size_t i = from; i + 1 < t->log.n && n < MAX_PAIRS; i++)
        if (is_pair(&t->log.row[i], &t->log.row[i + 1]))
            pair[n++] = (bracket){i, i + 1};
    return n;
}

/* The longest run of exponents that have pairs, with single gaps allowed. */
static void narrow_live(infer_task *t, const bracket *pair, size_t n)
{
    bool live[EXPONENTS] = {false};
    int best_lo = 0, best_hi = -1, lo = 0, last = -4;
    for (size_t i = 0; i < n; i++)
        live[infer_exponent(infer_real(&t->log.row[pair[i].lo])) - INFER_MIN_EXPONENT] = true;
    for (int i = 0; i < EXPONENTS; i++) {
        if (!live[i])
            continue;
        lo = i - last > 3 ? i : lo;
        last = i;
        if (last - lo > best_hi - best_lo) {
            best_lo = lo;
            best_hi = last;
        }
    }
    if (best_hi < best_lo)
        return;
    t->live_lo = best_lo + INFER_MIN_EXPONENT;
    t->live_hi = best_hi + INFER_MIN_EXPONENT + (t->powers ? 1 : 0);
}

static size_t choose(infer_task *t, const bracket *pair, size_t n, bracket *out)
{
    size_t chosen = 0;
    const size_t max = infer_some(t, MAX_BRACKETS), step = n > max ? n / max : 1;
    for (size_t i = 0; i < n && chosen < max; i += step) {
        const int e = infer_exponent(infer_real(&t->log.row[pair[i].lo]));
        if (e >= t->live_lo && e <= t->live_hi)
            out[chosen++] = pair[i];
    }
    return chosen;
}

/* ---- closing in ---- */

static void add_near(infer_task *t, const infer_row *like, double real)
{
    infer_row row = {.acc = like->acc, .zp = like->zp};
    infer_near_scales(&t->random, &row, real);
    infer_encode_row(t, &row);
    infer_rows_add(&t->next, &row);
}

static void ask_between(infer_task *t, const bracket *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const infer_row *lo = &t->log.row[b[i].lo], *hi = &t->log.row[b[i].hi];
        const double from = infer_real(lo), to = infer_real(hi);
        if ((to - from) < from * 0x1p-37)
            continue;
        for (int k = 1; k < PARTS; k++)
            add_near(t, lo, from + (to - from) * k / PARTS);
    }
}

static int compare_real(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The two nearest rows inside the bracket with different codes, of those asked since `from`. */
static void narrow(const infer_task *t, size_t from, bracket *b)
{
    double at[PARTS + 1];
    size_t row[PARTS + 1];
    const infer_row *lo = &t->log.row[b->lo], *hi = &t->log.row[b->hi];
    const double min = infer_real(lo), max = infer_real(hi);
    size_t n = 0, inside[PARTS];
    for (size_t i = from; i < t->log.n && n < PARTS - 1; i++) {
        const infer_row *r = &t->log.row[i];
        const double real = infer_real(r);
        if (r->acc == lo->acc && r->zp == lo->zp && real > min && real < max &&
            r->answer != INFER_REFUSED)
            inside[n++] = i;
    }
    for (size_t i = 0; i < n; i++)
        at[i] = infer_real(&t->log.row[inside[i]]);
    qsort(at, n, sizeof *at, compare_real);
    row[0] = b->lo;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            if (infer_real(&t->log.row[inside[k]]) == at[i])
                row[i + 1] = inside[k];
    row[n + 1] = b->hi;
    for (size_t i = 0; i <= n; i++)
        if (t->log.row[row[i]].answer != t->log.row[row[i + 1]].answer) {
            *b = (bracket){row[i], row[i + 1]};
            return;
        }
}

/* The number with the fewest bits within lo..hi: *m * 2^*e. */
static void simplest(double lo, double hi, int64_t *m, int *e)
{
    for (*e = infer_exponent(hi); *e > infer_exponent(hi) - 44; --*e) {
        *m = (int64_t)floor(ldexp(hi, -*e));
        if (ldexp((double)*m, *e) >= lo)
            return;
    }
}

static void ask_near(infer_task *t, const bracket *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const infer_row *lo = &t->log.row[b[i].lo];
        const double from = infer_real(lo), to = infer_real(&t->log.row[b[i].hi]);
        int64_t m = 0;
        int e = 0;
        simplest(from, to, &m, &e);
        add(t, lo->acc, lo->zp, m, e);
        for (int k = 0; k < NEAR; k++) {
            const double off = ldexp((double)rows_between(&t->random, 512, 1023), -32 - k);
            add_near(t, lo, from * (rows_next(&t->random) & 1 ? 1 + off : 1 - off));
        }
    }
}

assay_status infer_find_places(infer_task *t, assay_error *err)
{
    bracket pair[MAX_PAIRS], chosen[MAX_BRACKETS];
    const size_t from = t->log.n;
    ask_pairs(t);
    assay_status s = infer_ask(t, err);
    if (s)
        return s;
    const size_t n_pairs = find_pairs(t, from, pair);
    narrow_live(t, pair, n_pairs);
    if (t->powers)
        return ASSAY_OK;
    const size_t n = choose(t, pair, n_pairs, chosen);
    for (int round = 0; round < ROUNDS && !s; round++) {
        const size_t behind = t->log.n;
        ask_between(t, chosen, n);
        if (t->next.n == 0)
            break;
        s = infer_ask(t, err);
        for (size_t i = 0; i < n && !s; i++)
            narrow(t, behind, &chosen[i]);
    }
    if (s)
        return s;
    ask_near(t, chosen, n);
    return infer_ask(t, err);
}
