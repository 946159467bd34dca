/* Edits that leave something simple behind. A rescale is a straight line from sums to codes, as far
 * as rounding and bounds let it be: where the sums that a hypothesis makes lie on a line with the
 * device's codes, channel by channel, and the replay's do not, the hypothesis is likely, whatever
 * else is wrong with the bias and the rescale. Where the replay's do, and not through the zero
 * point, those are likely whose line goes there. */
#include "interp/blame/likely.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/budget.h"
#include "interp/blame/families.h"

enum { FEWEST = 4 }; /* elements that a line is drawn through */

typedef struct line {
    double n, x, y, xx, xy;
    bool bent, off; /* further from a line than rounding, from one through the zero point */
} line;

typedef struct likely {
    blame_search *s;
    blame_look look;
    int32_t *codes;
    int64_t *sums, *base_sums;
    line *line;
    int64_t n_lines;
    int32_t min, max; /* codes of the device between which nothing has stopped them */
} likely;

/* Shares of the channels whose codes lie on no line, on none through the zero point. */
typedef struct bends {
    double bent, off;
} bends;

static int64_t line_of(const likely *l, int64_t e)
{
    const blame_axis a = blame_axis_of(l->s->type, l->s->channel_axis);
    return e / a.inner % a.n;
}

static bool counts(const likely *l, int64_t e)
{
    return l->s->seen[e] && l->s->dev[e] > l->min && l->s->dev[e] < l->max;
}

static void draw(likely *l)
{
    const int32_t zero = l->s->type->q.zero_point ? l->s->type->q.zero_point[0] : 0;
    memset(l->line, 0, (size_t)l->n_lines * sizeof *l->line);
    for (int64_t j = 0; j < l->look.n; j++) {
        const int64_t e = l->look.k * l->s->count + l->look.at[j];
        const double x = (double)l->sums[j], y = (double)(l->s->dev[e] - zero);
        line *to = &l->line[line_of(l, l->look.at[j])];
        if (!counts(l, e))
            continue;
        to->n++;
        to->x += x;
        to->y += y;
        to->xx += x * x;
        to->xy += x * y;
    }
}

/* What rounding in a few steps may do. */
static bool is_far(double code, double from)
{
    return fabs(code - from) > 1.5;
}

static void measure(likely *l)
{
    const int32_t zero = l->s->type->q.zero_point ? l->s->type->q.zero_point[0] : 0;
    for (int64_t j = 0; j < l->look.n; j++) {
        const int64_t e = l->look.k * l->s->count + l->look.at[j];
        const double x = (double)l->sums[j], y = (double)(l->s->dev[e] - zero);
        line *of = &l->line[line_of(l, l->look.at[j])];
        const double spread = of->n * of->xx - of->x * of->x;
        if (!counts(l, e))
            continue;
        const double rise = spread > 0 ? (of->n * of->xy - of->x * of->y) / spread : 0;
        of->bent = of->bent || is_far(y, of->y / of->n + rise * (x - of->x / of->n));
        of->off = of->off || is_far(y, of->xx > 0 ? of->xy / of->xx * x : 0);
    }
}

static bends shares(const likely *l)
{
    double n = 0;
    bends b = {0};
    for (int64_t c = 0; c < l->n_lines; c++)
        if (l->line[c].n >= FEWEST) {
            n++;
            b.bent += l->line[c].bent;
            b.off += l->line[c].off;
        }
    b.bent = n > 0 ? b.bent / n : 1;
    b.off = n > 0 ? b.off / n : 1;
    return b;
}

static bends bends_of(likely *l)
{
    draw(l);
    measure(l);
    return shares(l);
}

static int by_share(const void *x, const void *y)
{
    const blame_likely *a = x, *b = y;
    if (a->share != b->share)
        return a->share < b->share ? -1 : 1;
    if (a->finding.story.changed != b->finding.story.changed)
        return a->finding.story.changed - b->finding.story.changed;
    return blame_rank(a->finding.story.class) - blame_rank(b->finding.story.class);
}

void blame_note_likely(blame_likely *list, int *n, const blame_likely *one)
{
    if (*n < BLAME_LIKELY)
        list[(*n)++] = *one;
    else if (by_share(one, &list[*n - 1]) < 0)
        list[*n - 1] = *one;
    qsort(list, (size_t)*n, sizeof *list, by_share);
}

/* Few enough for what one channel's own fault adds, and enough for the replay to be wrong. */
static const double few = .1, many = .25;

static void try_one(likely *l, const blame_family *f, int i, const bends *base, blame_likely *list,
                    int *n)
{
    blame_likely one = {.finding = {.story = {.changed = 1}, .family = f, .i = i}};
    if (!blame_afford(l->s) ||
        !blame_predict_sums(l->s, f, i, &l->look, l->codes, l->sums, &one.finding.story) ||
        memcmp(l->sums, l->base_sums, (size_t)l->look.n * sizeof *l->sums) == 0)
        return;
    const bends b = bends_of(l);
    one.share = base->bent > many ? b.bent : b.off;
    if (one.share <= few && (base->bent > many || b.bent <= few))
        blame_note_likely(list, n, &one);
}

static bool can(const blame_search *s)
{
    const assay_elem e = s->type->elem;
    return s->n_after == 0 && !s->on_sums && s->channel_axis >= 0 && blame_is_weighted(s->n) &&
           e.kind == ASSAY_KIND_INT && e.bits <= 16;
}

static bool open(likely *l)
{
    blame_search *s = l->s;
    if (!blame_look_open(s, &l->look))
        return false;
    const size_t n = (size_t)l->look.n;
    l->n_lines = s->type->dim[s->channel_axis];
    l->codes = malloc(n * sizeof *l->codes + 64);
    l->sums = malloc(n * sizeof *l->sums + 64);
    l->base_sums = malloc(n * sizeof *l->sums + 64);
    l->line = malloc((size_t)l->n_lines * sizeof *l->line + 64);
    l->min = INT32_MAX;
    l->max = INT32_MIN;
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        if (s->seen[e]) {
            l->min = s->dev[e] < l->min ? s->dev[e] : l->min;
            l->max = s->dev[e] > l->max ? s->dev[e] : l->max;
        }
    return l->codes && l->sums && l->base_sums && l->line &&
           blame_predict_sums(s, NULL, 0, &l->look, l->codes, l->base_sums, NULL);
}

int blame_likely_edits(blame_search *s, blame_likely list[BLAME_LIKELY])
{
    likely l = {.s = s};
    int n = 0;
    if (can(s) && open(&l)) {
        memcpy(l.sums, l.base_sums, (size_t)l.look.n * sizeof *l.sums);
        const bends base = bends_of(&l);
        for (int f = 0; f < BLAME_FAMILIES && (base.bent > many || base.off > many); f++) {
            const blame_family *family = &blame_families[f];
            const int choices =
                family->edit && !family->late && !family->behind ? family->count(s) : 0;
            for (int i = 0; i < choices; i++)
                try_one(&l, family, i, &base, list, &n);
        }
    }
    blame_look_close(&l.look);
    free(l.codes);
    free(l.sums);
    free(l.base_sums);
    free(l.line);
    return n;
}
