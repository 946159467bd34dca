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
        if (!golden_dumps_is_known(d, i, a, masks) && !golden_dumps_is_number(d, i, a))
            page_json_add(&names, page_json_text(d->dump[i].path));
    return names;
}

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

void golden_extra_print(const json_t *names, FILE *f)
{
    enum { SHOWN = 8 };
    const size_t n = json_array_size(names);
    for (size_t i = 0; i < n && i < SHOWN; i++)
        fprintf(f, "%s'%.200s'", i == 0 ? "not compared, as the first has no such tensor: " : ", ",
                json_string_value(json_array_get(names, i)));
    if (n > SHOWN)
        fprintf(f, " and %zu more", n - SHOWN);
    if (n > 0)
        fputc('\n', f);
}
