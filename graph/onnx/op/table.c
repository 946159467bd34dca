/* The table of operators. */
#include <string.h>

#include "graph/onnx/op/op.h"

static const onnx_op_row op_table[] = {
#define ONNX_OP(domain, type, fn, op, min_in, max_in, max_out, attributes)                         \
    {domain, #type, onnx_import_##fn, ASSAY_OP_##op, min_in, max_in, max_out, attributes},
#include "graph/onnx/op/ops.def"
};

const char *onnx_standard_domain(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

const onnx_op_row *onnx_find_op(const char *domain, const char *type)
{
    for (size_t i = 0; i < sizeof op_table / sizeof op_table[0]; i++)
        if (strcmp(op_table[i].type, type) == 0 && strcmp(op_table[i].domain, domain) == 0)
            return &op_table[i];
    return NULL;
}
