/* Groups of a QDQ network that a target has one integer op for, and what it makes of conversions.
 */
#include "schemes/record/data.h"

static bool fuses(const assay_scheme *s, const char *op, enum assay_unfused list)
{
    enum assay_op id = assay_op_find(op);
    return !s->record || id == ASSAY_OP_COUNT || !assay_data(s)->unfused[list][id];
}

bool assay_scheme_fuses(const assay_scheme *s, const char *op, unsigned bits)
{
    return fuses(s, op, bits > 8 ? ASSAY_UNFUSED_WIDE : ASSAY_UNFUSED);
}

bool assay_scheme_fuses_narrow(const assay_scheme *s, const char *op)
{
    return fuses(s, op, ASSAY_UNFUSED_NARROW);
}

bool assay_scheme_fuses_mixed(const assay_scheme *s, const char *op)
{
    return fuses(s, op, ASSAY_UNFUSED_MIXED);
}

bool assay_scheme_fuses_clamped(const assay_scheme *s, const char *op)
{
    return fuses(s, op, ASSAY_UNFUSED_CLAMPED);
}

bool assay_scheme_fuses_bare(const assay_scheme *s, const char *op)
{
    return fuses(s, op, ASSAY_UNFUSED_BARE);
}

bool assay_scheme_merges_pairs(const assay_scheme *s)
{
    return s->record && assay_data(s)->base.convert.merge_pairs;
}

bool assay_scheme_groups_narrow_floats(const assay_scheme *s)
{
    return !s->record || assay_data(s)->base.convert.group_narrow_floats;
}
