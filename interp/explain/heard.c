/* Tellers of watched units: what their functions and rescales say becomes steps. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interp/explain/watching.h"
#include "schemes/apply/apply.h"

/* ---- rescales of the unit ---- */

static void watch_rescale(const assay_rescale *r, int k, const int64_t *acc, size_t n,
                          size_t channel, int32_t *out)
{
    explain_watcher *w =
        (explain_watcher *)((uintptr_t)(r - k) - offsetof(explain_watcher, unit.scale));
    const assay_rescale *real = &w->real->scale[k];
    explain_seen *s = w->seen;
    const assay_told step = {.kind = ASSAY_TOLD_RESCALE, .a = acc[0], .rescale = real};
    if (w->inside && s->n_rescales < EXPLAIN_RESCALES)
        s->rescale[s->n_rescales++] = (explain_rescale){real, acc[0], channel};
    if (w->inside)
        explain_say_told(&s->told, w->real, &step);
    real->row(real, acc, n, channel, out);
}

#define RESCALE(k)                                                                                 \
    static void watch_rescale_##k(const assay_rescale *r, const int64_t *acc, size_t n,            \
                                  size_t channel, int32_t *out)                                    \
    {                                                                                              \
        watch_rescale(r, k, acc, n, channel, out);                                                 \
    }
RESCALE(0)
RESCALE(1)
RESCALE(2)
#undef RESCALE

/* What a function of the unit tells. */
static void hear(void *to, const assay_told *step)
{
    explain_watcher *w = to;
    assay_told heard = *step;
    assay_rescale r = {0};
    if (step->rescale) { /* maybe a copy of a watched one */
        r = *step->rescale;
        apply_rescale_choose(&r);
        heard.rescale = &r;
    }
    explain_say_told(&w->seen->told, w->real, &heard);
    w->seen->n_own++;
}

void explain_watch_unit(explain_watcher *w)
{
    static void (*const rows[])(const assay_rescale *, const int64_t *, size_t, size_t,
                                int32_t *) = {watch_rescale_0, watch_rescale_1, watch_rescale_2};
    for (int k = 0; k < 3; k++)
        if (w->unit.scale[k].row)
            w->unit.scale[k].row = rows[k];
    w->teller = (assay_teller){.tell = hear, .to = w};
}

void explain_watch_mac(explain_watcher *w)
{
    w->is_mac = true;
    w->mac = *mac_node(w->real);
    w->teller = (assay_teller){.tell = hear, .to = w};
}

void explain_watch_kernel(explain_watcher *w, int64_t element)
{
    w->teller = (assay_teller){.tell = hear, .to = w, .at = (size_t)element};
}

/* The unit that tells the steps of element `at` of a row. */
const assay_unit *explain_telling(explain_watcher *w, size_t at)
{
    w->teller.at = at;
    w->unit.teller = w->mac.teller = &w->teller;
    return !w->teller.tell ? w->real : w->is_mac ? (assay_unit *)(void *)&w->mac : &w->unit;
}

/* A line of a matrix unit's dot: its name ends at two blanks, at "from" or "gives", or at a
 * number's colon. */
void explain_hear_line(void *to, const char *line)
{
    explain_watcher *w = to;
    static const char *const ends[] = {"  ", ", from ", ", to ", ": "};
    while (*line == ' ')
        line++;
    size_t n = strncmp(line, "gives ", 6) == 0 ? 5 : strlen(line);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strstr(line, ends[i]) && (size_t)(strstr(line, ends[i]) - line) < n)
            n = (size_t)(strstr(line, ends[i]) - line);
    const char *text = line + n;
    text += strspn(text, " ,:");
    explain_add(&w->seen->told, strndup(line, n), strdup(*text ? text : " "));
    w->seen->n_own++;
}
