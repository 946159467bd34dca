/* Hypotheses over what was not written: rows of cells that hold other rows of the same tensor, or
 * one code; a whole tensor of one code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

enum { SPATIAL = 2 };
enum { FROM_ROWS, FROM_CONSTANT, FROMS };

int blame_stale_rows_count(blame_search *s)
{
    return s->n_after == 0 && s->type->rank >= 3 && s->differing > 1 ? SPATIAL * FROMS : 0;
}

static int64_t row_of(const blame_search *s, blame_axis a, int64_t e)
{
    return e % s->count / a.inner % a.n;
}

/* Rows in which anything differs; returns how many. */
static int64_t find_rows(const blame_search *s, blame_axis a, bool *stale)
{
    int64_t n = 0;
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        stale[row_of(s, a, e)] |= s->seen[e] && !blame_same(s, e, s->base[e]);
    for (int64_t r = 0; r < a.n; r++)
        n += stale[r];
    return n;
}

/* Whether what was seen of row r is the replay's of row r + step. */
static bool is_row_at(const blame_search *s, blame_axis a, int64_t r, int64_t step)
{
    for (int64_t o = 0; o < s->n_samples * a.outer; o++)
        for (int64_t i = 0; i < a.inner; i++) {
            const int64_t e = (o * a.n + r) * a.inner + i;
            if (s->seen[e] && !blame_same(s, e, s->base[e + step * a.inner]))
                return false;
        }
    return true;
}

/* So many rows before or behind are what all of them hold, the nearest; 0: none. */
static int64_t find_step(const blame_search *s, blame_axis a, const bool *stale)
{
    for (int64_t far = 1; far < a.n; far++)
        for (int64_t step = -far; step <= far; step += 2 * far) {
            bool good = true;
            for (int64_t r = 0; r < a.n && good; r++)
                good = !stale[r] || (r + step >= 0 && r + step < a.n && is_row_at(s, a, r, step));
            if (good)
                return step;
        }
    return 0;
}

/* The code that all that was seen of them holds; false: there is none. */
static bool find_code(const blame_search *s, blame_axis a, const bool *stale, int32_t *code)
{
    bool found = false;
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        if (!s->seen[e] || !stale[row_of(s, a, e)])
            continue;
        if (found && s->dev[e] != *code)
            return false;
        *code = s->dev[e];
        found = true;
    }
    return found;
}

static void tell(blame_story *story, blame_axis a, int axis, const bool *stale, int64_t n,
                 int64_t step)
{
    int64_t first = 0, last = a.n - 1;
    while (!stale[first])
        first++;
    while (!stale[last])
        last--;
    char held[64] = "one code";
    if (step != 0)
        snprintf(held, sizeof held, "what belongs %lld cells %s", (long long)llabs(step),
                 step < 0 ? "before" : "behind");
    blame_tell(story, "tile.edge", 2, "%lld of the cells %lld to %lld along axis %d hold %s",
               (long long)n, (long long)first, (long long)last, axis, held);
}

bool blame_stale_rows_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const bool channels_last = s->channel_axis == s->type->rank - 1;
    const int axis = (channels_last ? 1 : 2) + i / FROMS;
    int64_t step = 0;
    int32_t code = 0;
    if (axis >= s->type->rank - (channels_last ? 1 : 0))
        return false;
    const blame_axis a = blame_axis_of(s->type, axis);
    bool *stale = calloc((size_t)a.n + 1, sizeof *stale);
    const int64_t n = stale ? find_rows(s, a, stale) : 0;
    bool good = n > 0 && n < a.n;
    if (good && i % FROMS == FROM_ROWS)
        good = (step = find_step(s, a, stale)) != 0;
    else
        good = good && find_code(s, a, stale, &code);
    for (int64_t e = 0; e < s->n_samples * s->count && good; e++)
        if (stale[row_of(s, a, e)])
            codes[e] = step != 0 ? s->base[e + step * a.inner] : code;
    if (good)
        tell(story, a, axis, stale, n, step);
    free(stale);
    return good;
}

/* ---- whole tensors ---- */

/* The code that all that was seen holds; false: there is none. */
static bool find_only_code(const blame_search *s, int32_t *code)
{
    int64_t held = 0;
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        if (s->seen[e] && held++ == 0)
            *code = s->dev[e];
        if (s->seen[e] && s->dev[e] != *code)
            return false;
    }
    return held > 1;
}

int blame_unwritten_count(blame_search *s)
{
    return s->differing > 1;
}

/* Nothing was written, or by one dead lane for all channels: memory's 0, for which no number need
 * be wrong, or another code; the former alone where the output itself was not dumped. */
bool blame_unwritten_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    int32_t code = 0;
    float number;
    (void)i;
    if (s->n_after == 0 && !find_only_code(s, &code))
        return false;
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        codes[e] = code;
    memcpy(&number, &code, sizeof number);
    if (s->type->elem.kind == ASSAY_KIND_F32)
        blame_tell(story, "lane", code != 0, "every channel holds %.9g, as if none were written",
                   (double)number);
    else
        blame_tell(story, "lane", code != 0, "every channel holds %d, as if none were written",
                   code);
    return true;
}
