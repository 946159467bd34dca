/* Claims of a scheme about its results. */
#include "schemes/record/data.h"

static bool is_exact(const assay_scheme *s, const char *op, unsigned bits, bool by_channel)
{
    const assay_op id = assay_op_find(op);

    if (id == ASSAY_OP_COUNT)
        return false;
    if (assay_op_get(id)->traits & ASSAY_T_MOVE)
        return true;
    if (!s->record) /* a plugin makes no claims */
        return false;
    return assay_data(s)->exact_op[id] && (bits <= 8 || !assay_data(s)->exact_narrow[id]) &&
           (!by_channel || !assay_data(s)->exact_per_tensor[id]);
}

bool assay_scheme_is_exact(const assay_scheme *s, const char *op, unsigned bits)
{
    return is_exact(s, op, bits, false);
}

bool assay_scheme_is_exact_by_channel(const assay_scheme *s, const char *op, unsigned bits)
{
    return is_exact(s, op, bits, true);
}

bool assay_scheme_is_exact_mixed(const assay_scheme *s, const char *op)
{
    const assay_op id = assay_op_find(op);

    return id == ASSAY_OP_COUNT || !s->record || !assay_data(s)->exact_one_type[id];
}

bool assay_scheme_is_exact_float(const assay_scheme *s, const char *op)
{
    const assay_op id = assay_op_find(op);

    return id != ASSAY_OP_COUNT && s->record && assay_data(s)->exact_float[id];
}

const char *assay_scheme_contract(const assay_scheme *s, enum assay_contract which)
{
    return !s->record ? NULL : assay_data(s)->contract[which];
}
