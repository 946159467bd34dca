/* What a scheme says about the optimizer's rules: `rules: {NAME: never | exact | N}`. The names are
 * the optimizer's to know; here they are words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/data.h"
#include "schemes/tree.h"

#define MOST_LSB 65535

static bool read_wish(const char *text, int64_t *bound)
{
    char *end;
    if (strcmp(text, "never") == 0 || strcmp(text, "exact") == 0) {
        *bound = text[0] == 'n' ? ASSAY_RULE_NEVER : 0;
        return true;
    }
    long v = strtol(text, &end, 10);
    *bound = v;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && v <= MOST_LSB;
}

static assay_wish *wish_of(assay_scheme_data *d, const char *rule)
{
    for (size_t i = 0; i < d->n_wishes; i++)
        if (strcmp(d->wish[i].rule, rule) == 0)
            return &d->wish[i];
    assay_wish *grown = realloc(d->wish, (d->n_wishes + 1) * sizeof *grown);
    char *name = strdup(rule);
    d->wish = grown != NULL ? grown : d->wish;
    if (grown == NULL || name == NULL) {
        free(name);
        return NULL;
    }
    grown[d->n_wishes] = (assay_wish){name, 0};
    return &grown[d->n_wishes++];
}

assay_status assay_wishes_read(const char *file, const assay_tree *t, assay_scheme_data *d,
                               assay_error *err)
{
    if (t->kind != ASSAY_TREE_MAP)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s:%u:%u: rules: expected names of rules", file,
                          t->line, t->column);
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
        int64_t bound;
        if (i->kind != ASSAY_TREE_SCALAR || !read_wish(i->text, &bound))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s:%u:%u: rules: %.60s: expected never, exact, or a number of codes "
                              "by which it may change results",
                              file, i->line, i->column, i->key);
        assay_wish *w = wish_of(d, i->key);
        if (w == NULL)
            return assay_fail(err, ASSAY_ERR_MEMORY, "%s: out of memory", file);
        w->bound = bound;
    }
    return ASSAY_OK;
}

void assay_wishes_free(assay_scheme_data *d)
{
    for (size_t i = 0; i < d->n_wishes; i++)
        free(d->wish[i].rule);
    free(d->wish);
}

int64_t assay_scheme_wish(const assay_scheme *s, size_t i, const char **rule)
{
    const assay_scheme_vtable *vt = s->vt;
    if (s->record != NULL) {
        const assay_scheme_data *d = assay_data(s);
        *rule = i < d->n_wishes ? d->wish[i].rule : NULL;
        return *rule != NULL ? d->wish[i].bound : 0;
    }
    *rule = NULL;
    return ASSAY_SCHEME_HAS(vt, facts, rule) ? vt->facts->rule(i, rule) : 0;
}
