/* The op table as data, made from op.def. */
#include "graph/core/op.h"

#include <string.h>

static const assay_op_info table[ASSAY_OP_COUNT] = {
#define OP(ID, name, attr, min_in, max_in, n_out, shape, traits)                                   \
    {name, #attr, ASSAY_ATTRS_##attr, min_in, max_in, n_out, traits},
#include "graph/core/op.def"
};

const assay_op_info *assay_op_get(assay_op op)
{
    return (unsigned)op < ASSAY_OP_COUNT ? &table[op] : NULL;
}

assay_op assay_op_find(const char *name)
{
    for (int i = 0; i < ASSAY_OP_COUNT; ++i)
        if (strcmp(table[i].name, name) == 0)
            return (assay_op)i;
    return ASSAY_OP_COUNT;
}
