/* The list of rules, by rules.def. */
#include "opt/rewrite/rules.h"
#include "opt/target/target.h"

static const assay_rule rules[] = {
#define RULE(name, obligation, bounds, late, matches, rewrite)                                     \
    {name, ASSAY_PROVE_##obligation,    bounds,                                                    \
     late, rewrite_##matches##_matches, rewrite_##rewrite##_rewrite,                               \
     0},
#define PREFERRED(name, obligation, preference, rule)                                              \
    {name,      ASSAY_PROVE_##obligation, false,                                                   \
     false,     rewrite_##rule##_matches, rewrite_##rule##_rewrite,                                \
     preference},
#include "opt/rewrite/rules.def"
};

const assay_rule *rewrite_rules(size_t *n)
{
    *n = sizeof rules / sizeof *rules;
    return rules;
}
