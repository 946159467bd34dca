/* `given` of a node: what a device's own compiler chose in place of derivation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/read/read.h"

assay_status assay_read_numbers(const assay_reading *c, const assay_tree *t, int64_t **out,
                                size_t *n)
{
    size_t count = 0;
    const assay_tree *first = t->kind == ASSAY_TREE_SCALAR ? t : t->child;
    if (t->kind == ASSAY_TREE_MAP || !first)
        return assay_read_fail(c, t, "expected an integer or a list of integers");
    for (const assay_tree *i = first; i; i = i == t ? NULL : i->next)
        count++;
    free(*out);
    *out = calloc(count, sizeof **out);
    if (!*out)
        return assay_read_no_memory(c);
    *n = count;
    count = 0;
    for (const assay_tree *i = first; i; i = i == t ? NULL : i->next) {
        char *end;
        errno = 0;
        long long v = i->kind == ASSAY_TREE_SCALAR ? strtoll(i->text, &end, 10) : 0;
        if (i->kind != ASSAY_TREE_SCALAR || end == i->text || *end != '\0' || errno != 0 ||
            v < -(1LL << 32) || v > 1LL << 32)
            return assay_read_fail(c, i, "expected an integer of at most 33 bits");
        (*out)[count++] = v;
    }
    return ASSAY_OK;
}

/* The entry of a node, a new one or (after `extends`) its parent's emptied; NULL: no memory. */
static assay_precomputed *precomputed_of(assay_scheme_data *d, const char *node)
{
    for (size_t i = 0; i < d->n_precomputed; i++)
        if (strcmp(d->precomputed[i].node, node) == 0)
            return &d->precomputed[i];
    assay_precomputed *grown = realloc(d->precomputed, (d->n_precomputed + 1) * sizeof *grown);
    char *copy = strdup(node);
    d->precomputed = grown ? grown : d->precomputed;
    if (!grown || !copy) {
        free(copy);
        return NULL;
    }
    grown[d->n_precomputed] = (assay_precomputed){.node = copy};
    return &grown[d->n_precomputed++];
}

/* One 32-bit integer. */
static assay_status read_number(const assay_reading *c, const assay_tree *t, bool *has, int32_t *to)
{
    int64_t *v = NULL;
    size_t n = 0;
    assay_status s = assay_read_numbers(c, t, &v, &n);
    if (!s && (n != 1 || v[0] < INT32_MIN || v[0] > INT32_MAX))
        s = assay_read_fail(c, t, "expected one 32-bit integer");
    if (!s) {
        *to = (int32_t)v[0];
        *has = true;
    }
    free(v);
    return s;
}

/* `given: {multiplier: [...], shift: [...], zero_point: N, diff_min: N}` of a node. */
assay_status assay_read_precomputed(const assay_reading *c, const assay_tree *t, const char *node)
{
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t,
                               "expected multiplier, shift and optionally zero_point, "
                               "diff_min");
    assay_precomputed *g = precomputed_of(c->data, node);
    if (!g)
        return assay_read_no_memory(c);
    g->has_zero_point = g->has_diff_min = false;
    size_t n_multiplier = 0, n_shift = 0;
    for (const assay_tree *i = t->child; i; i = i->next) {
        assay_status s;
        if (strcmp(i->key, "multiplier") == 0) {
            s = assay_read_numbers(c, i, &g->multiplier, &n_multiplier);
        } else if (strcmp(i->key, "shift") == 0) {
            s = assay_read_numbers(c, i, &g->shift, &n_shift);
        } else if (strcmp(i->key, "zero_point") == 0) {
            s = read_number(c, i, &g->has_zero_point, &g->zero_point);
        } else if (strcmp(i->key, "diff_min") == 0) {
            s = read_number(c, i, &g->has_diff_min, &g->diff_min);
        } else {
            return assay_read_fail(c, i,
                                   "unknown key; given holds multiplier, shift, zero_point and "
                                   "diff_min");
        }
        if (s)
            return s;
    }
    g->n = n_multiplier;
    if (n_multiplier + n_shift == 0)
        return assay_read_fail(c, t,
                               "given has no multiplier and shift; zero_point and diff_min go with "
                               "them");
    if (n_multiplier == 0 || n_multiplier != n_shift)
        return assay_read_fail(c, t, "multiplier and shift must be lists of the same length");
    return ASSAY_OK;
}
