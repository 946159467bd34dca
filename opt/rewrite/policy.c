/* Rules in force; see policy.h. */
#include "opt/rewrite/policy.h"
#include "graph/memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "opt/target/target.h"

void rewrite_policy_free(assay_policy *p)
{
    free(p->rule);
    free(p->bound);
    *p = (assay_policy){NULL, NULL, 0};
}

/* The plugin's own rules, which come after the others. */
static assay_status plugin_rules(const assay_scheme *s, const assay_rule_list **list,
                                 assay_error *err)
{
    const assay_rule_list *(*entry)(void) = NULL;
    *list = NULL;
    if (!s->plugin_handle)
        return ASSAY_OK;
    *(void **)&entry = dlsym(s->plugin_handle, "assay_rules_plugin");
    if (entry)
        *list = entry();
    if (*list && ((*list)->abi != ASSAY_RULES_ABI || (*list)->size != sizeof(assay_rule)))
        return assay_fail(
            err, ASSAY_ERR_SCHEME,
            "scheme '%s': rules of ABI %u, %u bytes each; this library speaks %u, %zu", s->name,
            (*list)->abi, (*list)->size, ASSAY_RULES_ABI, sizeof(assay_rule));
    return ASSAY_OK;
}

static size_t find(const assay_policy *p, const char *name, size_t length)
{
    size_t i = 0;
    while (i < p->n &&
           (strlen(p->rule[i].name) != length || strncmp(p->rule[i].name, name, length) != 0))
        i++;
    return i;
}

static assay_status unknown(const assay_policy *p, const char *where, const char *name,
                            size_t length, assay_error *err)
{
    assay_buf known = {0};
    for (size_t i = 0; i < p->n; i++)
        assay_buf_printf(&known, "%s%s", i ? ", " : "", p->rule[i].name);
    assay_status s = assay_fail(err, ASSAY_ERR_INPUT, "%s'%.*s'; there are: %s", where, (int)length,
                                name, known.text ? known.text : "none");
    assay_buf_free(&known);
    return s;
}

/* Marks what is in a list separated by commas; NULL: everything that is always in force, or that
 * the target prefers. */
static assay_status choose(const assay_policy *p, const assay_optimize_options *o, bool *chosen,
                           assay_error *err)
{
    const uint32_t preferred = o->target ? o->target->preference : 0;
    const char *list = o->passes;
    for (size_t i = 0; i < p->n; i++)
        chosen[i] = !list && (!p->rule[i].preference || p->rule[i].preference & preferred);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        size_t length = strcspn(at, ","), i = find(p, at, length);
        if (i == p->n)
            return unknown(p, "no pass ", at, length, err);
        chosen[i] = true;
    }
    return ASSAY_OK;
}

/* Rules of one kind (products, layouts) lead to one end, or they would undo each other for ever. */
static assay_status check_agreement(const assay_policy *p, const bool *chosen, assay_error *err)
{
    static const uint32_t kinds[] = {ASSAY_PREFER_PRODUCTS, ASSAY_PREFER_LAYOUTS};
    for (size_t k = 0; k < 2; k++) {
        uint32_t ends = kinds[k];
        size_t first = p->n;
        for (size_t i = 0; i < p->n; i++) {
            if (!chosen[i] || !(p->rule[i].preference & kinds[k]))
                continue;
            first = first == p->n ? i : first;
            ends &= p->rule[i].preference;
            if (!ends)
                return assay_fail(err, ASSAY_ERR_INPUT, "passes '%s' and '%s' undo each other",
                                  p->rule[first].name, p->rule[i].name);
        }
    }
    return ASSAY_OK;
}

static assay_status heed(const assay_policy *p, const assay_scheme *s, bool *chosen,
                         assay_error *err)
{
    const char *name;
    for (size_t k = 0;; k++) {
        int64_t bound = assay_scheme_rule_policy(s, k, &name);
        if (!name)
            return ASSAY_OK;
        size_t i = find(p, name, strlen(name));
        if (i == p->n) {
            char where[160];
            snprintf(where, sizeof where, "scheme '%.100s': rules: no rule ", s->name);
            return unknown(p, where, name, strlen(name), err);
        }
        chosen[i] &= bound >= 0;
        p->bound[i] = bound;
    }
}

assay_status rewrite_policy_make(const assay_optimize_options *options, const assay_scheme *s,
                                 assay_policy *p, assay_error *err)
{
    const assay_rule_list *more = NULL;
    size_t n = options->n_rules, kept = 0;
    const assay_rule *rules = options->rule ? options->rule : rewrite_rules(&n);
    *p = (assay_policy){NULL, NULL, 0};
    assay_status status = options->rule ? ASSAY_OK : plugin_rules(s, &more, err);
    if (status)
        return status;
    p->n = n + (more ? more->n : 0);
    p->rule = calloc(p->n + 1, sizeof *p->rule);
    p->bound = calloc(p->n + 1, sizeof *p->bound);
    bool *chosen = calloc(p->n + 1, sizeof *chosen);
    if (!p->rule || !p->bound || !chosen)
        status = assay_out_of_memory(err);
    for (size_t i = 0; i < p->n && !status; i++)
        p->rule[i] = i < n ? rules[i] : more->rule[i - n];
    if (!status)
        status = choose(p, options, chosen, err);
    if (!status)
        status = check_agreement(p, chosen, err);
    if (!status && !options->rule)
        status = heed(p, s, chosen, err);
    for (size_t i = 0; i < p->n && !status; i++)
        if (chosen[i]) {
            p->bound[kept] = p->bound[i];
            p->rule[kept++] = p->rule[i];
        }
    p->n = status ? 0 : kept;
    free(chosen);
    return status;
}
