/* Rows against records: what contradicts them, and whether one is better than the best; see
 * task.h. */
#include <time.h>

#include "graph/memory.h"
#include "interp/infer/dot/task.h"

enum { CHUNK = INFER_DOT_CHUNK, PIECE = 4, FIRST = 32 };
#define NEXT_TO_NOTHING 1e-9 /* of sums of weights */

double infer_dot_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool infer_dot_is_late(const infer_dot_task *t)
{
    return t->status || infer_dot_seconds() > t->end;
}

/* The answers of m to n rows from `first` on. */
static void answer(infer_dot_task *t, const assay_mac *m, const infer_dot_rows *rows, size_t first,
                   size_t n, uint64_t out[CHUNK])
{
    uint64_t d[CHUNK];
    const assay_mac_rows view = infer_dot_rows_view(rows, first);
    t->status = t->status ? t->status : mac_dots(m, n, &view, d, t->err);
    for (size_t i = 0; i < n; i++)
        out[i] = t->status ? 0 : mac_load(m->out, d, i);
}

size_t infer_dot_answers(infer_dot_task *t, const assay_mac *m, const infer_dot_rows *rows,
                         size_t first, uint64_t out[CHUNK])
{
    const size_t n = rows->n - first < CHUNK ? rows->n - first : CHUNK;
    answer(t, m, rows, first, n, out);
    return n;
}

/* The sum of the weights of a piece's rows, from `first` on, that contradict m (or, `agreeing`,
 * that do not). */
static double some(infer_dot_task *t, const assay_mac *m, const infer_dot_rows *rows, size_t first,
                   bool agreeing)
{
    uint64_t out[CHUNK];
    const size_t n = rows->n - first < PIECE ? rows->n - first : PIECE;
    double sum = 0;
    answer(t, m, rows, first, n, out);
    for (size_t i = 0; i < n && !t->status; i++)
        if ((out[i] == rows->answer[first + i]) == agreeing)
            sum += t->weight[rows->probe[first + i]];
    return sum;
}

double infer_dot_against(infer_dot_task *t, const assay_mac *m, const infer_dot_rows *rows,
                         double bound, size_t *hot)
{
    double sum = 0;
    const size_t pieces = (rows->n + PIECE - 1) / PIECE;
    for (size_t i = 0; i < pieces && sum < bound; i++) {
        const size_t at = (*hot + i) % pieces;
        sum += some(t, m, rows, at * PIECE, false);
        if (sum >= bound)
            *hot = at;
    }
    return sum;
}

static void weigh(infer_dot_task *t)
{
    for (int i = 0; i < INFER_DOT_N_PROBES; i++)
        t->weight[i] = 0;
    for (size_t i = 0; i < t->log.n; i++)
        t->weight[t->log.probe[i]] += 1;
    for (int i = 0; i < INFER_DOT_N_PROBES; i++)
        t->weight[i] = t->weight[i] > 0 ? 1 / t->weight[i] : 0;
}

double infer_dot_cost(infer_dot_task *t, const assay_mac *m, double bound)
{
    weigh(t);
    t->tried++;
    return infer_dot_against(t, m, &t->log, bound, &t->hot[0]);
}

void infer_dot_take(infer_dot_task *t, const assay_mac *m)
{
    uint64_t out[CHUNK];
    weigh(t);
    t->best = *m;
    t->cost = 0;
    t->wrong.n = t->right.n = 0;
    for (size_t first = 0; first < t->log.n && !t->status; first += CHUNK) {
        const size_t n = infer_dot_answers(t, m, &t->log, first, out);
        for (size_t i = first; i < first + n; i++) {
            const bool agrees = out[i - first] == t->log.answer[i];
            infer_dot_rows_copy(agrees ? &t->right : &t->wrong, &t->log, i);
            t->cost += agrees ? 0 : t->weight[t->log.probe[i]];
        }
    }
    if (t->wrong.short_of_memory || t->right.short_of_memory)
        t->status = assay_out_of_memory_for(t->err, "rows");
}

bool infer_dot_offer(infer_dot_task *t, const assay_mac *m)
{
    double gain = 0;
    if (t->status || !infer_dot_takes(t, m))
        return false;
    t->tried++;
    for (size_t i = 0; i < t->wrong.n && (gain > 0 || i < FIRST); i += PIECE)
        gain += some(t, m, &t->wrong, i, true);
    if (t->status || gain <= 0 ||
        infer_dot_against(t, m, &t->right, gain - NEXT_TO_NOTHING, &t->hot[1]) >=
            gain - NEXT_TO_NOTHING)
        return false;
    infer_dot_take(t, m);
    return true;
}

double infer_dot_worst(const infer_dot_starts *s)
{
    return s->n < s->room ? 1e9 : s->cost[s->n - 1];
}

static bool has(const infer_dot_starts *s, uint64_t print)
{
    for (int i = 0; i < s->n && print != 0; i++)
        if (s->print[i] == print)
            return true;
    return false;
}

void infer_dot_start(infer_dot_starts *s, const assay_mac *m, double cost, uint64_t print)
{
    if (cost >= infer_dot_worst(s) || has(s, print))
        return;
    int i = s->n < s->room ? s->n++ : s->n - 1;
    for (; i > 0 && s->cost[i - 1] > cost; i--) {
        s->cost[i] = s->cost[i - 1];
        s->print[i] = s->print[i - 1];
        s->record[i] = s->record[i - 1];
    }
    s->cost[i] = cost;
    s->print[i] = print;
    s->record[i] = *m;
}
