/* Two edits at once, each of which explains next to nothing alone, tried on a few elements: every
 * edit of a family of few choices before every other one; and every edit before a number that is
 * added to all codes, which shows as one distance between what is predicted and the device's. */
#include "interp/blame/likely.h"

#include <stdlib.h>
#include <string.h>

#include "interp/blame/budget.h"
#include "interp/blame/families.h"

/* A family of few choices, and how many elements say something; of those that are compared with a
 * distance the share that must have the same. */
enum { FEW_CHOICES = 80, FEWEST = 2 };
static const double needed_share = .9;
/* What all tries of two edits may cost, in multiplications; and one that is made alone. */
static const int64_t work = 4000000000, fixed_cost = 20000;

typedef struct crossing {
    blame_search *s;
    blame_look look, few;
    int32_t *codes, *whole;
    int64_t left; /* of the work */
} crossing;

static void crossing_close(crossing *x)
{
    blame_look_close(&x->look);
    blame_look_close(&x->few);
    free(x->codes);
    free(x->whole);
}

static bool crossing_open(crossing *x, blame_search *s)
{
    *x = (crossing){.s = s, .left = work};
    if (s->n_after > 0 || s->on_sums || s->type->elem.kind != ASSAY_KIND_INT ||
        !blame_look_open(s, &x->look) || !blame_few_open(s, &x->look, &x->few))
        return false;
    x->codes = malloc((size_t)x->few.n * sizeof *x->codes + 64);
    x->whole = malloc((size_t)(s->n_samples * s->count) * sizeof *x->whole + 64);
    return x->codes && x->whole;
}

static bool is_edit(const blame_family *f)
{
    return f->edit && !f->sought && f->id != BLAME_FAMILY_scheme && f->id != BLAME_FAMILY_dumped;
}

/* Before the rescale, whose own edits leave a straight line (likely.c) or a distance. */
static bool is_early(const blame_family *f)
{
    return is_edit(f) && !f->behind && f->id != BLAME_FAMILY_record;
}

static bool is_bounds(const blame_family *f)
{
    return f->id == BLAME_FAMILY_bounds;
}

static int choices_of(blame_search *s, const blame_family *f)
{
    return is_early(f) || is_bounds(f) ? f->count(s) : 0;
}

/* ---- a number added to all codes ---- */

/* How many of the few elements, of those that no bound has stopped, are one distance from the
 * device's that is not 0, and the share of them. */
static double share_of_distance(const crossing *x)
{
    const blame_search *s = x->s;
    int64_t count[513] = {0}, n = 0, best = 0;
    int32_t least = INT32_MAX, greatest = INT32_MIN;
    for (int64_t j = 0; j < x->few.n; j++) {
        least = x->codes[j] < least ? x->codes[j] : least;
        greatest = x->codes[j] > greatest ? x->codes[j] : greatest;
    }
    for (int64_t j = 0; j < x->few.n; j++) {
        const int64_t e = x->few.k * s->count + x->few.at[j];
        const int64_t distance = (int64_t)s->dev[e] - x->codes[j];
        const bool inside =
            s->dev[e] > assay_elem_min(s->type->elem) && s->dev[e] < assay_elem_max(s->type->elem);
        if (!s->seen[e] || !inside || x->codes[j] == least || x->codes[j] == greatest)
            continue;
        n++;
        if (distance != 0 && distance >= -256 && distance <= 256)
            count[distance + 256]++;
    }
    for (int i = 0; i < 513; i++)
        best = count[i] > best ? count[i] : best;
    return n >= FEWEST ? (double)best / (double)n : 0;
}

int blame_distant_edits(blame_search *s, blame_likely list[BLAME_LIKELY])
{
    crossing x;
    int n = 0;
    const bool good = crossing_open(&x, s);
    for (int f = 0; f < BLAME_FAMILIES && good; f++) {
        const blame_family *family = &blame_families[f];
        const int choices = is_edit(family) ? family->count(s) : 0;
        for (int i = 0; i < choices; i++) {
            blame_likely one = {.finding = {.story = {.changed = 1}, .family = family, .i = i}};
            if (!blame_afford(s) ||
                !blame_predict_look(s, family, i, &x.few, x.codes, &one.finding.story))
                continue;
            one.share = 1 - share_of_distance(&x);
            if (one.share <= 1 - needed_share &&
                strcmp(one.finding.story.class, "rescale.zero_point") != 0)
                blame_note_likely(list, &n, &one);
        }
    }
    crossing_close(&x);
    return n;
}

/* ---- two edits ---- */

static bool gives_few(const crossing *x)
{
    for (int64_t j = 0; j < x->few.n; j++) {
        const int64_t e = x->few.k * x->s->count + x->few.at[j];
        if (x->s->seen[e] && !blame_same(x->s, e, x->codes[j]))
            return false;
    }
    return true;
}

static bool gives_all(crossing *x, const blame_family *f, int i)
{
    blame_story story;
    const blame_search *s = x->s;
    if (!blame_predict(x->s, f, i, x->whole, &story))
        return false;
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        if (s->seen[e] && !blame_same(s, e, x->whole[e]))
            return false;
    return true;
}

/* Whether some edit, late or not, of family `from` or one after it, or of many choices, explains
 * everything with what x->s takes as given. */
static bool has_other(crossing *x, int from, bool late, int64_t cost)
{
    const bool any = is_bounds(&blame_families[from]);
    for (int f = 0; f < BLAME_FAMILIES; f++) {
        const blame_family *family = &blame_families[f];
        const int choices = is_early(family) && family->late == late ? family->count(x->s) : 0;
        for (int i = 0; i < choices && (any || f >= from || choices > FEW_CHOICES); i++) {
            blame_story story;
            x->left -= cost;
            if (x->left > 0 && blame_afford(x->s) &&
                blame_predict_look(x->s, family, i, &x->few, x->codes, &story) && gives_few(x) &&
                gives_all(x, family, i))
                return true;
        }
    }
    return false;
}

/* What one more edit costs: numbers that may be copied, and the few elements. */
static int64_t cost_of(const crossing *x)
{
    const assay_node *n = x->s->n;
    int64_t cost = fixed_cost + assay_node_macs(x->s->d->graph, n) / (x->s->count + 1) * x->few.n;
    for (int i = 0; i < n->n_in; i++) {
        const assay_value *v = assay_node_in(x->s->d->graph, n, i);
        cost += v ? 4 * assay_shape_count(&v->type) : 0;
    }
    return cost;
}

/* Whether another edit, late or not, explains everything beside choice i of family f, *given. */
static bool try_given(crossing *x, int f, int i, bool late, blame_finding *given)
{
    blame_search with, *s = x->s;
    *given = (blame_finding){.story = {.changed = 1}, .family = &blame_families[f], .i = i};
    if (!blame_afford(s) || !blame_predict(s, given->family, i, x->whole, &given->story) ||
        blame_search_again(s, &with))
        return false;
    x->s = &with;
    const bool found = blame_search_assume(&with, given) && has_other(x, f, late, cost_of(x));
    x->s = s;
    blame_search_close(&with);
    return found;
}

static bool try_all(crossing *x, bool late, blame_finding *given)
{
    bool found = false, more = true;
    for (int i = 0; i < FEW_CHOICES && more && !found; i++) {
        more = false;
        for (int f = 0; f < BLAME_FAMILIES && !found && x->left > 0; f++) {
            const int choices = choices_of(x->s, &blame_families[f]);
            more = more || i + 1 < choices;
            found = i < choices && choices <= FEW_CHOICES && try_given(x, f, i, late, given);
        }
    }
    return found;
}

bool blame_crossed_edit(blame_search *s, blame_finding *given)
{
    crossing x;
    const bool good = crossing_open(&x, s);
    const bool found = good && (try_all(&x, false, given) || try_all(&x, true, given));
    crossing_close(&x);
    return found;
}
