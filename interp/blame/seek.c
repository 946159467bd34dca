/* Numbers that are looked for by halves: where every code rises or falls with a number, each
 * element that is wrong says on which side of a guess the number lies. */
#include <stdlib.h>

#include "interp/blame/families.h"
#include "interp/blame/fits.h"

typedef struct seeker {
    blame_search *s;
    const blame_family *family;
    blame_look look;
    int32_t *codes, *other;
    int8_t *slope; /* of each element of the look: whether its code rises with the choice */
    int best;
    int64_t right; /* elements that the best choice gives */
} seeker;

static bool predict(seeker *k, int choice, int32_t *codes)
{
    blame_story story;
    return blame_predict_look(k->s, k->family, choice, &k->look, codes, &story);
}

static bool find_slopes(seeker *k, int least, int max)
{
    if (!predict(k, least, k->other) || !predict(k, max, k->codes))
        return false;
    for (int64_t j = 0; j < k->look.n; j++)
        k->slope[j] = (int8_t)((k->codes[j] > k->other[j]) - (k->codes[j] < k->other[j]));
    return true;
}

/* How many elements more want a greater choice than want a smaller one; remembers the best. */
static int64_t ask(seeker *k, int choice, const int32_t *codes)
{
    const blame_search *s = k->s;
    int64_t greater = 0, right = 0;
    for (int64_t j = 0; j < k->look.n; j++) {
        const int64_t e = k->look.k * s->end_count + k->look.at[j];
        const bool good = s->seen[e] && blame_same(s, e, codes[j]);
        right += good;
        if (s->seen[e] && !good)
            greater += blame_is_above(s, s->dev[e], codes[j]) ? k->slope[j] : -k->slope[j];
    }
    if (right > k->right) {
        k->best = choice;
        k->right = right;
    }
    return greater;
}

static int64_t ask_of(seeker *k, int choice)
{
    return predict(k, choice, k->codes) ? ask(k, choice, k->codes) : 0;
}

/* From the replay's choice on in steps that double, and then by halves. */
static void walk(seeker *k, int least, int from, int max)
{
    for (int64_t j = 0; j < k->look.n; j++)
        k->codes[j] = k->s->end_base[k->look.k * k->s->end_count + k->look.at[j]];
    const int64_t first = ask(k, from, k->codes);
    const int sign = first > 0 ? 1 : -1, end = first > 0 ? max : least;
    int near = from, far = from;
    k->best = from;
    for (int step = 1; first != 0 && far != end; step *= 2) {
        near = far;
        far = abs(end - far) < step ? end : far + sign * step;
        if (ask_of(k, far) * sign <= 0)
            break;
    }
    while (abs(far - near) > 1) {
        const int middle = near + (far - near) / 2;
        if (ask_of(k, middle) * sign > 0)
            near = middle;
        else
            far = middle;
    }
}

int blame_seek(blame_search *s, const blame_family *f, int least, int from, int max)
{
    seeker k = {.s = s, .family = f, .best = from};
    if (s->n_after > 0)
        return from;
    if (blame_look_open(s, &k.look)) {
        const size_t n = (size_t)k.look.n + 16;
        k.codes = malloc(n * sizeof *k.codes);
        k.other = malloc(n * sizeof *k.other);
        k.slope = calloc(n, sizeof *k.slope);
        if (k.codes && k.other && k.slope && find_slopes(&k, least, max))
            walk(&k, least, from, max);
    }
    free(k.codes);
    free(k.other);
    free(k.slope);
    blame_look_close(&k.look);
    return k.best;
}
