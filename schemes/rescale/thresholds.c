/* Threshold forms; see thresholds.h. */
#include "schemes/rescale/thresholds.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

#include "schemes/apply/apply.h"
#include "schemes/rescale/trace.h"

#define MAX_RUNS ((size_t)1 << 22)

typedef struct point {
    int64_t x, code;
    int64_t zone[ASSAY_TRACE_ZONES];
} point;

typedef struct builder {
    const assay_rescale *r;
    size_t channel, room;
    assay_threshold_form *out;
    assay_status status;
} builder;

static point at(const builder *b, int64_t x)
{
    assay_trace t;
    assay_trace_run(b->r, x, b->channel, &t);
    point p = {x, t.accepted ? apply_rescale_one(b->r, x, b->channel) : ASSAY_REFUSED, {0}};
    if (t.accepted)
        memcpy(p.zone, t.zone, sizeof p.zone);
    return p;
}

static void emit(builder *b, int64_t x, int64_t code)
{
    assay_threshold_form *s = b->out;
    if (s->n > 0 && s->code[s->n - 1] == code)
        return;
    if (s->n == b->room) {
        size_t room = b->room * 2 + 512;
        int64_t *from = realloc(s->from, room * sizeof *from);
        s->from = from ? from : s->from;
        int64_t *codes = from ? realloc(s->code, room * sizeof *codes) : NULL;
        s->code = codes ? codes : s->code;
        if (!codes || s->n >= MAX_RUNS) {
            b->status = !codes ? ASSAY_ERR_MEMORY : ASSAY_ERR_LIMIT;
            return;
        }
        b->room = room;
    }
    s->from[s->n] = x;
    s->code[s->n++] = code;
}

/* The first x in from + 1 .. to with another code than at `from`; the code at `to` is one. Steps
 * are nearly of one width, so it is looked for from `guess` on, outwards, and then by bisection. */
static int64_t next_step(const builder *b, int64_t from, int64_t code, int64_t to, int64_t guess)
{
    int64_t below = from, above = to, stride = 1;
    guess = guess > from && guess < to ? guess : from + (to - from) / 2;
    while (above - below > 1) {
        if (guess <= below || guess >= above)
            guess = below + (above - below) / 2;
        if (apply_rescale_one(b->r, guess, b->channel) == code) {
            below = guess;
            guess = stride > 0 ? guess + stride : below + (above - below) / 2;
            stride = above == to ? stride * 2 : 0;
        } else {
            above = guess;
            guess = stride > 0 ? guess - stride : below + (above - below) / 2;
            stride = below == from ? stride * 2 : 0;
        }
    }
    return above;
}

/* All runs of from .. to, between which the code is known to be monotone and nothing is refused. */
static void walk_monotone(builder *b, int64_t from, int64_t code, int64_t to, int64_t last)
{
    int64_t width = 0;
    emit(b, from, code);
    while (!b->status && code != last) {
        int64_t next = next_step(b, from, code, to, from + width);
        width = next - from;
        from = next;
        code = next == to ? last : apply_rescale_one(b->r, next, b->channel);
        emit(b, from, code);
    }
}

/* All runs of p.x .. q.x, both on one side of the input zero point. */
static void bisect(builder *b, const point *p, const point *q)
{
    if (b->status)
        return;
    emit(b, p->x, p->code);
    bool monotone = memcmp(p->zone, q->zone, sizeof p->zone) == 0;
    if (p->x == q->x || (monotone && p->code == q->code))
        return;
    if (monotone && p->code != ASSAY_REFUSED && q->code != ASSAY_REFUSED) {
        walk_monotone(b, p->x, p->code, q->x, q->code);
        return;
    }
    int64_t middle = p->x + (q->x - p->x) / 2;
    point m = middle == p->x ? *p : at(b, middle),
          next = middle + 1 == q->x ? *q : at(b, middle + 1);
    bisect(b, p, &m);
    bisect(b, &next, q);
}

/* What has been built, or nothing. */
static assay_status finish(builder *b, assay_error *err)
{
    const assay_status status = b->status;
    const long long lo = (long long)b->out->lo, hi = (long long)b->out->hi;
    if (!status)
        return ASSAY_OK;
    assay_threshold_form_free(b->out);
    return status == ASSAY_ERR_MEMORY
               ? assay_out_of_memory_for(err, "a threshold form")
               : assay_fail(err, status,
                            "the codes of accumulators %lld..%lld change more than %zu times; give "
                            "a narrower range",
                            lo, hi, MAX_RUNS);
}

assay_status assay_threshold_form_make(const assay_rescale *r, size_t channel, int64_t lo,
                                       int64_t hi, assay_threshold_form *out, assay_error *err)
{
    memset(out, 0, sizeof *out);
    out->lo = lo;
    out->hi = hi;
    builder b = {r, channel, 0, out, ASSAY_OK};
    point first = at(&b, lo), last = at(&b, hi);
    const int64_t centre = assay_trace_zero(r);
    if (lo < centre && centre < hi) { /* refusals lie on both sides of it */
        point zero = at(&b, centre);
        bisect(&b, &first, &zero);
        bisect(&b, &zero, &last);
    } else {
        bisect(&b, &first, &last);
    }
    return finish(&b, err);
}

/* ---- codes that only a function tells ---- */

#define PROBES 1024

typedef struct asking {
    builder b;
    int64_t (*code)(const void *of, int64_t x);
    const void *of;
    point low, high; /* where the code falls; high.x == low.x: nowhere yet */
} asking;

/* Steps behind p up to q, whose code is no less. */
static void ask_between(asking *a, const point *p, const point *q)
{
    if (a->b.status)
        return;
    if (q->code < p->code) {
        a->low = *p;
        a->high = *q;
        a->b.status = ASSAY_ERR_SCHEME;
        return;
    }
    if (q->x - p->x <= 1 || p->code == q->code) {
        emit(&a->b, q->x, q->code);
        return;
    }
    point m = {.x = p->x + (q->x - p->x) / 2};
    m.code = a->code(a->of, m.x);
    ask_between(a, p, &m);
    ask_between(a, &m, q);
}

assay_status assay_threshold_form_ask(int64_t (*code)(const void *of, int64_t x), const void *of,
                                      bool monotone, int64_t lo, int64_t hi,
                                      assay_threshold_form *out, assay_error *err)
{
    memset(out, 0, sizeof *out);
    out->lo = lo;
    out->hi = hi;
    asking a = {.b = {.out = out, .status = ASSAY_OK}, .code = code, .of = of};
    const int64_t stride = monotone && hi - lo > PROBES ? (hi - lo) / PROBES : 1;
    point last = {.x = lo, .code = code(of, lo)};
    emit(&a.b, lo, last.code);
    while (last.x < hi && !a.b.status) {
        point next = {.x = hi - last.x < stride ? hi : last.x + stride};
        next.code = code(of, next.x);
        if (monotone)
            ask_between(&a, &last, &next);
        else
            emit(&a.b, next.x, next.code);
        last = next;
    }
    if (a.b.status != ASSAY_ERR_SCHEME)
        return finish(&a.b, err);
    assay_threshold_form_free(out);
    return assay_fail(err, ASSAY_ERR_SCHEME,
                      "the rescale is declared monotone, but accumulator %lld became %lld and "
                      "%lld became %lld",
                      (long long)a.low.x, (long long)a.low.code, (long long)a.high.x,
                      (long long)a.high.code);
}

void assay_threshold_form_free(assay_threshold_form *s)
{
    free(s->from);
    free(s->code);
    memset(s, 0, sizeof *s);
}

int64_t assay_threshold_form_at(const assay_threshold_form *s, int64_t x)
{
    size_t below = 0, above = s->n;
    while (above - below > 1) {
        size_t middle = (below + above) / 2;
        if (s->from[middle] <= x)
            below = middle;
        else
            above = middle;
    }
    return s->code[below];
}

static uint64_t distance_to_zero(const assay_disagreement *d)
{
    return d->from > 0 ? (uint64_t)d->from : d->to < 0 ? (uint64_t)-d->to : 0;
}

/* Keeps the runs nearest to 0, in order of distance. */
static void keep(assay_disagreements *out, const assay_disagreement *d)
{
    size_t i = out->n_first;
    while (i > 0 && distance_to_zero(&out->first[i - 1]) > distance_to_zero(d))
        i--;
    if (i == ASSAY_FIRST_DISAGREEMENTS)
        return;
    if (out->n_first < ASSAY_FIRST_DISAGREEMENTS)
        out->n_first++;
    memmove(&out->first[i + 1], &out->first[i], (out->n_first - 1 - i) * sizeof *d);
    out->first[i] = *d;
}

void assay_threshold_form_compare(const assay_threshold_form *a, const assay_threshold_form *b,
                                  assay_disagreements *out)
{
    memset(out, 0, sizeof *out);
    size_t i = 0, j = 0;
    for (int64_t from = a->lo; i < a->n;) { /* both end at hi */
        int64_t end_a = i + 1 < a->n ? a->from[i + 1] - 1 : a->hi;
        int64_t end_b = j + 1 < b->n ? b->from[j + 1] - 1 : b->hi;
        assay_disagreement d = {from, end_a < end_b ? end_a : end_b, a->code[i], b->code[j]};
        const bool decided = d.a != ASSAY_REFUSED || d.b != ASSAY_REFUSED;
        out->considered += decided ? (uint64_t)(d.to - d.from) + 1 : 0;
        if (d.a != d.b) {
            bool refused = d.a == ASSAY_REFUSED || d.b == ASSAY_REFUSED;
            int64_t difference = refused ? 0 : d.a > d.b ? d.a - d.b : d.b - d.a;
            out->greatest = difference > out->greatest ? difference : out->greatest;
            out->count += (uint64_t)(d.to - d.from) + 1;
            out->runs++;
            keep(out, &d);
        }
        from = d.to + 1;
        i += end_a == d.to;
        j += end_b == d.to;
    }
}
