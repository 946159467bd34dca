/* Steps as words: lists of them, two of them side by side, JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/explain/explain.h"
#include "interp/page/json.h"

void explain_add(explain_trace *t, char *name, char *text)
{
    explain_step *more = realloc(t->step, (size_t)(t->n + 1) * sizeof *more);
    if (more)
        t->step = more;
    if (!more || !name || !text) {
        t->short_of_memory = true;
        free(name);
        free(text);
        return;
    }
    t->step[t->n++] = (explain_step){name, text};
}

void explain_say(explain_trace *t, const char *name, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    explain_add(t, strdup(name), text);
}

void explain_say_value(explain_trace *t, const char *name, int64_t value)
{
    const uint32_t bits = (uint32_t)value;
    float f;
    memcpy(&f, &bits, sizeof f);
    if (t->is_float)
        explain_say(t, name, "%.9g (0x%08" PRIx32 ")", (double)f, bits);
    else
        explain_say(t, name, "%" PRId64, value);
}

void explain_trace_free(explain_trace *t)
{
    for (int i = 0; i < t->n; i++) {
        free(t->step[i].name);
        free(t->step[i].text);
    }
    free(t->step);
    *t = (explain_trace){0};
}

const char *explain_place(const assay_type *t, int64_t element, char *text, size_t size)
{
    int64_t at[ASSAY_MAX_RANK];
    size_t used = 1;
    for (int k = t->rank - 1; k >= 0; k--) {
        at[k] = element % t->dim[k];
        element /= t->dim[k];
    }
    snprintf(text, size, "[");
    for (int k = 0; k < t->rank && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, k ? "," : "", at[k]);
    if (used < size)
        snprintf(text + used, size - used, "]");
    return text;
}

/* ---- side by side ---- */

static int find_name(const explain_trace *t, int from, const char *name)
{
    for (int i = from; i < t->n; i++)
        if (strcmp(t->step[i].name, name) == 0)
            return i;
    return -1;
}

int explain_align(const explain_trace *a, const explain_trace *b, explain_pair *pair, int *parts)
{
    int i = 0, j = 0, n = 0;
    *parts = -1;
    while (i < a->n || j < b->n) {
        const bool same = i < a->n && j < b->n && strcmp(a->step[i].name, b->step[j].name) == 0;
        const bool left = i < a->n && (j == b->n || find_name(b, j, a->step[i].name) < 0);
        const bool equal = same && strcmp(a->step[i].text, b->step[j].text) == 0;
        if (!equal && *parts < 0)
            *parts = n;
        pair[n++] = (explain_pair){same || left ? i : -1, same || !left ? j : -1};
        i += same || left;
        j += same || !left;
    }
    return n;
}

json_t *explain_json(const explain_trace *t)
{
    json_t *o = json_object(), *steps = json_array();
    for (int i = 0; i < t->n; i++)
        page_json_add(&steps, json_pack("{s:o, s:o}", "name", page_json_text(t->step[i].name),
                                        "text", page_json_text(t->step[i].text)));
    page_json_set(&o, "steps", steps);
    if (!t->is_float)
        page_json_set(&o, "value", json_integer(t->value));
    if (t->honest)
        page_json_set(&o, "note", page_json_text(t->honest));
    return o;
}
