/* Policy of a scheme for the optimizer's rules: `rules: {NAME: never | exact | N}`. Only the
 * optimizer knows the names; here they are words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "schemes/record/data.h"
#include "schemes/record/tree.h"

#define MAX_LSB 65535

static bool read_policy(const char *text, int64_t *bound)
{
    char *end;
    if (strcmp(text, "never") == 0 || strcmp(text, "exact") == 0) {
        *bound = text[0] == 'n' ? ASSAY_RULE_NEVER : 0;
        return true;
    }
    long v = strtol(text, &end, 10);
    *bound = v;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && v <= MAX_LSB;
}

static assay_rule_policy *policy_of(assay_scheme_data *d, const char *rule)
{
    for (size_t i = 0; i < d->n_policies; i++)
        if (strcmp(d->policy[i].rule, rule) == 0)
            return &d->policy[i];
    assay_rule_policy *grown = realloc(d->policy, (d->n_policies + 1) * sizeof *grown);
    char *name = strdup(rule);
    d->policy = grown ? grown : d->policy;
    if (!grown || !name) {
        free(name);
        return NULL;
    }
    grown[d->n_policies] = (assay_rule_policy){name, 0};
    return &grown[d->n_policies++];
}

assay_status assay_rule_policies_read(const char *file, const assay_tree *t, assay_scheme_data *d,
                                      assay_error *err)
{
    if (t->kind != ASSAY_TREE_MAP)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s:%u:%u: rules: expected names of rules", file,
                          t->line, t->column);
    for (const assay_tree *i = t->child; i; i = i->next) {
        int64_t bound;
        if (i->kind != ASSAY_TREE_SCALAR || !read_policy(i->text, &bound))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s:%u:%u: rules: %.60s: expected never, exact, or a number of codes "
                              "by which it may change results",
                              file, i->line, i->column, i->key);
        assay_rule_policy *w = policy_of(d, i->key);
        if (!w)
            return assay_out_of_memory_for(err, "%s", file);
        w->bound = bound;
    }
    return ASSAY_OK;
}

void assay_rule_policies_free(assay_scheme_data *d)
{
    for (size_t i = 0; i < d->n_policies; i++)
        free(d->policy[i].rule);
    free(d->policy);
}

int64_t assay_scheme_rule_policy(const assay_scheme *s, size_t i, const char **rule)
{
    const assay_scheme_vtable *vt = s->vt;
    if (s->record) {
        const assay_scheme_data *d = assay_data(s);
        *rule = i < d->n_policies ? d->policy[i].rule : NULL;
        return *rule ? d->policy[i].bound : 0;
    }
    *rule = NULL;
    return ASSAY_SCHEME_HAS(vt, facts, rule) ? vt->facts->rule(i, rule) : 0;
}
