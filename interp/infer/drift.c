/* Steps that drift; see drift.h. */
#include "interp/infer/drift.h"

#include <assert.h>
#include <math.h>

enum { WHOLE = 89, TWICE = 3, ODD = 4, SIZES = 8, OFFSETS = 8 * SIZES + 1, MAX_K = 24, MIN_K = 19 };
static const int64_t odd[ODD] = {5, 21, 43, 85};

/* The k for which R = 2^-k brings the greatest accumulators to 127; 0: the accumulators have too
 * few bits for the offsets. */
static int place(int acc_bits)
{
    const int k = acc_bits - 8 < MAX_K ? acc_bits - 8 : MAX_K;
    return k < MIN_K ? 0 : k;
}

/* Offsets between two integers, in accumulators: next to both, and spread over what lies between.
 */
static void offsets(int k, int64_t out[OFFSETS])
{
    assert(k >= 0 && k < 62);
    const int64_t unit = INT64_C(1) << k;
    size_t n = 0;
    out[n++] = unit / 2;
    for (int i = 0; i < SIZES; i++)
        for (int64_t near = INT64_C(1) << i, end = near + 1; near <= end; near++) {
            out[n++] = near;
            out[n++] = unit / 2 - near;
            out[n++] = unit / 2 + near;
            out[n++] = unit - near;
        }
}

static infer_row row_at(int64_t acc, int k)
{
    return (infer_row){.acc = acc, .in = (float)ldexp(1, -k), .weight = 1, .out = 1};
}

size_t infer_drift_rows(int acc_bits, infer_row *row)
{
    const int k = place(acc_bits);
    int64_t near[OFFSETS];
    size_t n = 0;
    if (k == 0)
        return 0;
    for (int64_t i = 0; i < WHOLE; i++)
        row[n++] = row_at(i << k, k);
    for (int64_t i = 0; i < TWICE; i++)
        row[n++] = row_at(i << (k - 1), k - 1);
    offsets(k, near);
    for (int i = 0; i < ODD; i++)
        for (int j = 0; j < OFFSETS; j++)
            row[n++] = row_at((odd[i] << k) + near[j], k);
    return n;
}

/* Whether all integers have different codes, and so have those at twice R. */
static bool are_apart(const int64_t *whole)
{
    for (int i = 0; i < WHOLE; i++) {
        if (whole[i] == INFER_REFUSED)
            return false;
        for (int j = 0; j < i; j++)
            if (whole[i] == whole[j])
                return false;
    }
    for (int i = 0; i < TWICE; i++)
        if (whole[WHOLE + i] != whole[i])
            return false;
    return true;
}

/* Whether each offset has the code of one of its two neighbouring integers. */
static bool are_between(const int64_t *answer, const int64_t *whole, int64_t n)
{
    for (int j = 0; j < OFFSETS; j++)
        if (answer[j] != whole[n] && answer[j] != whole[n + 1])
            return false;
    return true;
}

/* Whether the step after integer a lies at the same offset as that after b. */
static bool is_same_step(const int64_t *answer, const int64_t *whole, int a, int b)
{
    for (int j = 0; j < OFFSETS; j++)
        if ((answer[a * OFFSETS + j] == whole[odd[a]]) !=
            (answer[b * OFFSETS + j] == whole[odd[b]]))
            return false;
    return true;
}

int infer_drift_distances(const int64_t *answer, int acc_bits)
{
    const int64_t *between = answer + WHOLE + TWICE;
    int distances = 0;
    if (place(acc_bits) == 0 || !are_apart(answer))
        return 0;
    for (int a = 0; a < ODD; a++) {
        bool is_new = true;
        if (!are_between(between + a * OFFSETS, answer, odd[a]))
            return 0;
        for (int b = 0; b < a; b++)
            is_new &= !is_same_step(between, answer, a, b);
        distances += is_new;
    }
    return distances;
}

/* ---- the answers of a device ---- */

void infer_ask_drift(infer_task *t)
{
    infer_row row[INFER_MAX_DRIFT];
    const size_t n = infer_drift_rows(t->o->acc_bits, row);
    for (size_t i = 0; i < n; i++)
        infer_rows_add(&t->next, &row[i]);
}

static int64_t answer_of(const infer_rows *log, const infer_row *row)
{
    for (size_t i = log->n; i > 0; i--) {
        const infer_row *r = &log->row[i - 1];
        if (r->acc == row->acc && r->zp == 0 && !r->bounded && r->in == row->in &&
            r->weight == row->weight && r->out == row->out)
            return r->answer;
    }
    return INFER_REFUSED;
}

bool infer_log_drifts(const infer_task *t)
{
    infer_row row[INFER_MAX_DRIFT];
    int64_t answer[INFER_MAX_DRIFT];
    const size_t n = infer_drift_rows(t->o->acc_bits, row);
    for (size_t i = 0; i < n; i++)
        answer[i] = answer_of(&t->log, &row[i]);
    return infer_drift_distances(answer, t->o->acc_bits) > 2;
}
