/* Tensors that only the second side of a comparison has; see extra.h. */
#include "interp/golden/extra.h"
#include "graph/memory.h"
#include "interp/page/json.h"

#include <stdlib.h>
#include <string.h>

json_t *golden_extra_dumps(const assay_dumps *d, const assay_bundle *a, bool masks)
{
    json_t *names = json_array();
    for (int i = 0; i < d->n && names; i++)
        if (!d->dump[i].odd && !golden_dumps_is_known(d, i, a, masks) &&
            !golden_dumps_is_number(d, i, a))
            page_json_add(&names, page_json_text(d->dump[i].path));
    return names;
}

/* ---- what was not read ---- */

/* Whether a file of the same kind and sample was read in place of dump i. */
static bool was_another_read(const assay_dumps *d, int i, const assay_bundle_tensor *t,
                             int64_t first, enum assay_dump_kind kind)
{
    for (int k = 0; k < d->n; k++) {
        const int64_t sample = d->dump[k].sample < 0 ? first : d->dump[k].sample;
        if (k != i && d->dump[k].read && d->dump[k].kind == kind && sample == t->sample &&
            golden_dumps_fit(d, k, t) > 0)
            return true;
    }
    return false;
}

static const char *reason(const assay_dumps *d, int i, const assay_bundle *a)
{
    const int64_t first = a->tensor[0].sample;
    const int64_t sample = d->dump[i].sample < 0 ? first : d->dump[i].sample;
    const assay_bundle_tensor *t = NULL;
    if (d->dump[i].odd)
        return d->dump[i].odd;
    if (d->dump[i].kind > ASSAY_DUMP_SUMS)
        return "another file with the same content was read";
    for (int k = 0; k < a->n_tensors && !t; k++)
        if (a->tensor[k].sample == sample && golden_dumps_fit(d, i, &a->tensor[k]) > 0)
            t = &a->tensor[k];
    if (!t)
        return "the mask of no dump that was read, or one of several masks";
    if (was_another_read(d, i, t, first, d->dump[i].kind))
        return "another file of the same tensor was read";
    if (d->dump[i].kind == ASSAY_DUMP_SUMS && !t->sums_file)
        return "the first has no accumulators for it: it was written without";
    return "not recognized as a dump of any tensor";
}

json_t *golden_extra_unread(const assay_dumps *d, const assay_bundle *a, bool masks)
{
    json_t *list = json_array();
    for (int i = 0; i < d->n && list; i++) {
        char text[1200];
        if (d->dump[i].read || d->dump[i].folder ||
            (!d->dump[i].odd && !golden_dumps_is_known(d, i, a, masks) &&
             !golden_dumps_is_number(d, i, a)))
            continue;
        snprintf(text, sizeof text, "%.1000s: %s", d->dump[i].path, reason(d, i, a));
        page_json_add(&list, page_json_text(text));
    }
    return list;
}

/* ---- tensors of a bundle ---- */

static int by_name(const void *x, const void *y)
{
    const assay_bundle_tensor *const *a = x, *const *b = y;
    const int names = strcmp((*a)->name, (*b)->name);
    return names ? names : (*a)->sample < (*b)->sample ? -1 : (*a)->sample > (*b)->sample;
}

json_t *golden_extra_tensors(const assay_bundle *b, const assay_bundle *a)
{
    const size_t n = (size_t)a->n_tensors;
    const assay_bundle_tensor **known = calloc(n + 1, sizeof *known);
    json_t *names = known ? json_array() : NULL;

    for (size_t i = 0; i < n && known; i++)
        known[i] = &a->tensor[i];
    if (n > 1 && known)
        qsort(known, n, sizeof *known, by_name);
    for (int i = 0; i < b->n_tensors && names; i++) {
        const assay_bundle_tensor *t = &b->tensor[i];
        if (!bsearch(&t, known, n, sizeof *known, by_name))
            page_json_add(&names, page_json_text(t->name));
    }
    free(known);
    return names;
}

static void print_names(const json_t *names, const char *words, const char *mark, FILE *f)
{
    enum { SHOWN = 8 };
    const size_t n = json_array_size(names);
    for (size_t i = 0; i < n && i < SHOWN; i++)
        fprintf(f, "%s%s%.300s%s",
                i == 0  ? words
                : *mark ? ", "
                        : "; ",
                mark, json_string_value(json_array_get(names, i)), mark);
    if (n > SHOWN)
        fprintf(f, " and %zu more", n - SHOWN);
    if (n > 0)
        fputc('\n', f);
}

void golden_extra_print(const json_t *names, const json_t *unread, FILE *f)
{
    print_names(names, "not compared, as the first has no such tensor: ", "'", f);
    print_names(unread, "not read: ", "", f);
}
