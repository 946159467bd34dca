/* The least rows on which records differ; see suite.h. */
#include "interp/vectors/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/vectors/cover.h"
#include "interp/vectors/draw.h"
#include "schemes/rescale/thresholds.h"

enum { DRAWN = 1024, DECIDED = 256, DECIDED_WIDE = 32 }; /* settings */
enum { ALL_DECIDED = 4096, MIN_DECIDED = 16 };           /* of all cases; of one */
enum { PROOFS = 50000000 }; /* answers of rows in boxes, for all proofs */

/* Codes of all sides on all rows. */
static assay_status ask(vectors_suite *s, assay_error *err)
{
    assay_status status = ASSAY_OK;
    free(s->code);
    s->code = calloc(s->n_sides * s->rows.n + 1, sizeof *s->code);
    if (!s->code)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < s->n_sides && !status; i++)
        status = vectors_ask(s->side[i], &s->space, &s->rows, s->code + i * s->rows.n, err);
    return status;
}

static bool differ(const vectors_suite *s, const vectors_case *c, size_t row)
{
    const int64_t a = s->code[c->a * s->rows.n + row], b = s->code[c->b * s->rows.n + row];
    return a != b && (s->refusals || a != ASSAY_REFUSED);
}

/* The same where both give a code: no device can be asked what it would refuse. */
static bool differ_in_codes(const vectors_suite *s, const vectors_case *c, size_t row)
{
    return differ(s, c, row) && s->code[c->a * s->rows.n + row] != ASSAY_REFUSED &&
           s->code[c->b * s->rows.n + row] != ASSAY_REFUSED;
}

assay_status vectors_suite_judge(vectors_suite *s, assay_error *err)
{
    const assay_status status = ask(s, err);
    for (size_t k = 0; k < s->n_cases && !status; k++) {
        vectors_case *c = &s->cases[k];
        c->verdict = VECTORS_OPEN;
        for (c->row = 0; c->row < s->rows.n && !differ(s, c, c->row); c->row++)
            ;
        if (c->row < s->rows.n)
            c->verdict = VECTORS_TOLD;
    }
    return status;
}

/* Where two forms of one range part, the first such accumulator; false: nowhere. */
static bool parts_at(const assay_threshold_form *x, const assay_threshold_form *y, bool refusals,
                     int64_t *acc)
{
    for (size_t i = 0, k = 0; i < x->n && k < y->n;) {
        const int64_t a = x->from[i], b = y->from[k];
        if (x->code[i] != y->code[k] && (refusals || x->code[i] != ASSAY_REFUSED)) {
            *acc = a > b ? a : b;
            return true;
        }
        const int64_t next_a = i + 1 < x->n ? x->from[i + 1] : INT64_MAX;
        const int64_t next_b = k + 1 < y->n ? y->from[k + 1] : INT64_MAX;
        i += next_a <= next_b;
        k += next_b <= next_a;
    }
    return false;
}

/* Accumulators on which both have one code: VECTORS_TOLD with row->acc where they part, else
 * VECTORS_SAME, or VECTORS_OPEN with the reason. */
static enum vectors_verdict part_between(const assay_single *a, const assay_single *b, int64_t lo,
                                         int64_t hi, bool refusals, vectors_row *row,
                                         assay_error *err)
{
    assay_threshold_form x, y;
    if (assay_threshold_form_make(&a->r, 0, lo, hi, &x, err))
        return VECTORS_OPEN;
    if (assay_threshold_form_make(&b->r, 0, lo, hi, &y, err)) {
        assay_threshold_form_free(&x);
        return VECTORS_OPEN;
    }
    const bool told = parts_at(&x, &y, refusals, &row->acc);
    assay_threshold_form_free(&x);
    assay_threshold_form_free(&y);
    return told ? VECTORS_TOLD : VECTORS_SAME;
}

static double real_of(const vectors_space *space, const vectors_row *row)
{
    if (space->scales)
        return row->in * row->weight / row->out;
    return ldexp((double)row->multiplier, row->shift > 2000 ? -2000 : (int)-row->shift);
}

/* The same of the whole space where its rescaled accumulators are so few that a wrapping code
 * changes seldom; else of windows around 0, the ends and the powers of two. */
static enum vectors_verdict part_anywhere(const vectors_suite *s, const assay_single *a,
                                          const assay_single *b, vectors_row *row, assay_error *err)
{
    const int64_t lo = s->space.lo, hi = s->space.hi;
    enum vectors_verdict verdict = VECTORS_SAME;
    if (fabs(real_of(&s->space, row)) * ((double)hi - (double)lo) < (double)VECTORS_WHOLE)
        return part_between(a, b, lo, hi, s->refusals, row, err);
    for (int bit = -1; bit < 62 && verdict == VECTORS_SAME; bit++)
        for (int sign = -1; sign <= 1 && verdict == VECTORS_SAME; sign += 2) {
            const int64_t end = sign < 0 ? lo : hi;
            const int64_t middle = bit < 0 ? end : sign * ((INT64_C(1) << bit) - 1);
            const int64_t from = middle - VECTORS_WINDOW > lo ? middle - VECTORS_WINDOW : lo;
            const int64_t to = middle + VECTORS_WINDOW < hi ? middle + VECTORS_WINDOW : hi;
            if (from <= to)
                verdict = part_between(a, b, from, to, s->refusals, row, err);
        }
    return verdict;
}

/* The same under the row's setting. */
static enum vectors_verdict part(const vectors_suite *s, const vectors_case *c, vectors_row *row,
                                 assay_error *err)
{
    assay_single a, b;
    const bool takes = vectors_single(s->side[c->a], &s->space, row, &a);
    if (takes != vectors_single(s->side[c->b], &s->space, row, &b))
        return takes || s->refusals ? VECTORS_TOLD : VECTORS_SAME;
    return takes ? part_anywhere(s, &a, &b, row, err) : VECTORS_SAME;
}

/* Decides a case that no row has told apart; a row that does is added. False: out of memory. */
static bool decide(vectors_suite *s, vectors_case *c, size_t drawn)
{
    assay_error err;
    c->verdict = VECTORS_SAME;
    for (size_t k = 0; k < s->settings && c->verdict == VECTORS_SAME; k++) {
        vectors_row row = s->rows.row[k * (drawn / s->settings) * VECTORS_PER_SETTING];
        c->verdict = part(s, c, &row, &err);
        if (c->verdict == VECTORS_TOLD && !vectors_rows_add(&s->rows, &row))
            return false;
    }
    if (c->verdict == VECTORS_OPEN)
        snprintf(c->why, sizeof c->why, "%.180s", err.text);
    return true;
}

/* Cases that no row tells: those that are one function, and rows for others that are none. How many
 * are left, which share the settings. False: out of memory. */
static bool prove(vectors_suite *s, size_t *left)
{
    uint64_t answers = PROOFS;
    *left = 0;
    for (size_t k = 0; k < s->n_cases; k++) {
        vectors_case *c = &s->cases[k];
        vectors_row row;
        if (c->verdict != VECTORS_OPEN)
            continue;
        const enum infer_told told =
            s->has_domain && c->a == 0
                ? vectors_tell(s->side[c->a], s->side[c->b], &s->space, &s->domain, &answers, &row)
                : INFER_UNTOLD;
        c->proved = told == INFER_ALIKE;
        c->verdict = c->proved ? VECTORS_SAME : told == INFER_APART ? VECTORS_TOLD : VECTORS_OPEN;
        *left += told == INFER_UNTOLD;
        if (told == INFER_APART && !vectors_rows_add(&s->rows, &row))
            return false;
    }
    return true;
}

/* What rows cannot tell is decided; keeps what is said of it. */
static assay_status decide_rest(vectors_suite *s, size_t drawn, assay_error *err)
{
    const size_t n = s->rows.n;
    assay_status status = vectors_suite_judge(s, err);
    size_t left = 0;
    if (!status && !prove(s, &left))
        status = assay_out_of_memory(err);
    const size_t each = ALL_DECIDED / (left + 1);
    if (each < s->settings)
        s->settings = each > MIN_DECIDED ? each : MIN_DECIDED;
    for (size_t k = 0; k < s->n_cases && !status; k++)
        if (s->cases[k].verdict == VECTORS_OPEN && !decide(s, &s->cases[k], drawn))
            status = assay_out_of_memory(err);
    return status || s->rows.n == n ? status : ask(s, err);
}

/* Rows that tell a case; refusals count where codes do not differ on any row. */
static void mark(const vectors_suite *s, const vectors_case *c, unsigned char *told)
{
    bool any = false;
    for (size_t r = 0; r < s->rows.n; r++)
        any |= (told[r] = differ_in_codes(s, c, r));
    for (size_t r = 0; r < s->rows.n && !any; r++)
        told[r] = differ(s, c, r);
}

/* Only the rows that are needed. */
static assay_status choose(vectors_suite *s, assay_error *err)
{
    const size_t n = s->rows.n;
    unsigned char *told = calloc(s->n_cases * n + 1, 1);
    bool *chosen = calloc(n + 1, sizeof *chosen);
    size_t kept = VECTORS_NONE;
    for (size_t k = 0; k < s->n_cases && told && chosen; k++)
        mark(s, &s->cases[k], told + k * n);
    if (told && chosen)
        kept = vectors_cover_choose(&(vectors_cover){s->n_cases, n, told}, chosen);
    if (kept != VECTORS_NONE) {
        s->rows.n = 0;
        for (size_t r = 0; r < n; r++)
            if (chosen[r])
                s->rows.row[s->rows.n++] = s->rows.row[r];
    }
    free(told);
    free(chosen);
    return kept == VECTORS_NONE ? assay_out_of_memory(err) : ASSAY_OK;
}

/* The first chosen row that tells each case. */
static assay_status find_rows(vectors_suite *s, assay_error *err)
{
    unsigned char *told = calloc(s->rows.n + 1, 1);
    if (!told)
        return assay_out_of_memory(err);
    for (size_t k = 0; k < s->n_cases; k++) {
        vectors_case *c = &s->cases[k];
        mark(s, c, told);
        for (c->row = 0; c->row < s->rows.n && !told[c->row]; c->row++)
            ;
        if (c->row < s->rows.n)
            c->verdict = VECTORS_TOLD;
    }
    free(told);
    return ASSAY_OK;
}

assay_status vectors_suite_make(vectors_suite *s, assay_error *err)
{
    const size_t max = s->space.type.bits <= 8 ? DECIDED : DECIDED_WIDE;
    size_t drawn = 0;
    for (size_t k = 0; k < s->n_cases;
         k++) /* aimed at every first side: schemes differ in widths */
        if (k == 0 || s->cases[k].a != s->cases[k - 1].a) {
            if (!vectors_draw(s->side[s->cases[k].a], &s->space, DRAWN, s->seed + k, &s->rows))
                return assay_out_of_memory(err);
            drawn += DRAWN;
        }
    s->settings = drawn < max ? drawn : max;
    s->has_domain =
        !s->refusals && s->n_sides > 0 && vectors_domain_of(s->side[0], &s->space, &s->domain);
    if (s->has_domain && !vectors_add_corners(&s->space, &s->domain, &s->rows))
        return assay_out_of_memory(err);
    assay_status status = decide_rest(s, drawn, err);
    if (!status)
        status = choose(s, err);
    if (!status)
        status = ask(s, err);
    return status ? status : find_rows(s, err);
}

void vectors_suite_free(vectors_suite *s)
{
    vectors_rows_free(&s->rows);
    free(s->code);
    s->code = NULL;
}
