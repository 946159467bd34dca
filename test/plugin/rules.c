/* A scheme as a shared object that has something to say about the optimizer: it forbids a rule,
 * lets another change results by a code, and brings one of its own, for an op that it computes
 * itself. */
#include <stdlib.h>
#include <string.h>

#include "opt/prove/rule.h"
#include "shift.h"

struct assay_unit {
    int add;      /* custom_monotone: x + number */
    bool negates; /* custom: -x */
    int64_t lo, hi;
};

static assay_status prepare(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err)
{
    (void)s;
    const bool custom = strcmp(spec->op, "custom") == 0;
    const bool shift = strcmp(spec->op, "custom_monotone") == 0;
    if (!custom && !shift && strcmp(spec->op, "rescale") != 0 && strcmp(spec->op, "max_pool") != 0)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node %s: no arithmetic for %s", spec->node,
                          spec->op);
    assay_unit *u = calloc(1, sizeof *u);
    if (u == NULL)
        return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    u->add = shift ? (int)spec->flag : spec->out->q.zero_point[0] - spec->in[0].q.zero_point[0];
    u->add = custom ? 0 : u->add;
    u->negates = custom;
    u->lo = least_code(spec->out->elem);
    u->hi = greatest_code(spec->out->elem);
    *out = u;
    return ASSAY_OK;
}

static void release(assay_unit *u)
{
    free(u);
}

static size_t params(const assay_unit *u, assay_unit_param *list, size_t max)
{
    (void)u;
    (void)list;
    (void)max;
    return 0;
}

static void unary(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = saturate((u->negates ? -(int64_t)x[i] : x[i]) + u->add, u->lo, u->hi);
}

static int64_t word(size_t i, const char **name)
{
    static const char *const names[] = {"merge-moves", "merge-rescales"};
    *name = i < 2 ? names[i] : NULL;
    return i == 0 ? ASSAY_RULE_NEVER : 1;
}

/* ---- a rule: two negations of the target's own are none. (Not of the least code.) ---- */

static bool twice_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    int producer = g->value[n->in[0]].producer;
    (void)uses;
    if (n->op != ASSAY_OP_CUSTOM || producer < 0 || g->node[producer].op != ASSAY_OP_CUSTOM)
        return false;
    m->upper[0] = producer;
    m->slot[0] = 0;
    m->n_upper = 1;
    return true;
}

/* A rescale to the same parameters, which is none. */
static assay_status twice_rewrite(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    (void)err;
    n->op = ASSAY_OP_RESCALE;
    memset(&n->attr, 0, sizeof n->attr);
    n->in[0] = g->node[m->upper[0]].in[0];
    n->has_code_bounds = image != NULL;
    n->code_lo = image ? (int32_t)image->lo : 0;
    n->code_hi = image ? (int32_t)image->hi : 0;
    return ASSAY_OK;
}

__attribute__((visibility("default"))) const assay_rule_list *assay_rules_plugin(void);

const assay_rule_list *assay_rules_plugin(void)
{
    static const assay_rule rules[] = {
        {"two-negations", ASSAY_PROVE_CODES, false, false, twice_matches, twice_rewrite}};
    static const assay_rule_list list = {ASSAY_RULES_ABI, sizeof(assay_rule), 1, rules};
    return &list;
}

__attribute__((visibility("default"))) const assay_scheme_vtable *assay_scheme_plugin(void);

const assay_scheme_vtable *assay_scheme_plugin(void)
{
    static const assay_scheme_facts facts = {.rule = word};
    static const assay_scheme_vtable vtable = {
        .abi = ASSAY_SCHEME_ABI,
        .size = sizeof(assay_scheme_vtable),
        .name = "opinionated",
        .description = "an example plugin: rules of the optimizer, and an op of its own",
        .prepare = prepare,
        .release = release,
        .params = params,
        .accumulate = accumulate_wide,
        .apply_overflow = overflow_wide,
        .unary = unary,
        .facts = &facts,
    };
    return &vtable;
}
