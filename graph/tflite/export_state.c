/* Variables: a handle each, READ_VARIABLE, ASSIGN_VARIABLE. */
#include <string.h>

#include "graph/tflite/emit.h"

enum { OPTION_SHARED_NAME = 1 };

/* Does the variable start as TFLite starts one that nothing initializes: with the code of zero
 * (micro/micro_graph.cc: of 8 bits the zero point, of others 0)? */
static bool starts_at_zero(const assay_value *v)
{
    const unsigned char *at = v->data;
    size_t bytes = assay_type_bytes(&v->type);
    int zero = assay_elem_size(v->type.elem) == 1 && v->type.q.granularity == ASSAY_Q_TENSOR
                   ? v->type.q.zero_point[0] & 0xff
                   : 0;

    for (size_t i = 0; at && i < bytes; ++i)
        if (at[i] != zero)
            return false;
    return true;
}

/* The variable's handle. */
static int handle(tfl_export *x, const assay_node *n)
{
    const assay_value *v = &x->g->value[n->in[0]];
    const assay_type scalar = {.elem = assay_int(32, true)};
    int t = x->tensor_of[n->in[0]];

    if (t >= 0)
        return t;
    if (!starts_at_zero(v))
        assay_tfl_refuse(x, n, "a state that does not start at zero");
    t = x->tensor_of[n->in[0]] = assay_tfl_extra(x, n, "handle", &scalar, NULL);
    if (t < 0)
        return t;
    x->tensor[t].raw = TFL_RESOURCE;
    assay_tfl_operator(x, BUILTIN_VAR_HANDLE, NULL, 0, &t, 1);
    assay_tfl_option(x, OPTION_SHARED_NAME, FLAT_OFFSET, 0);
    if (!x->status)
        x->op[x->n_ops - 1].text = v->name;
    return t;
}

/* What was assigned is the result too: its users take the assigned value itself. */
bool assay_tfl_export_state(tfl_export *x, const assay_node *n)
{
    int in[2], y;

    switch (n->op) {
    case ASSAY_OP_READ:
        in[0] = handle(x, n);
        y = assay_tfl_tensor(x, n->out[0]);
        assay_tfl_operator(x, BUILTIN_READ_VARIABLE, in, 1, &y, 1);
        return true;
    case ASSAY_OP_ASSIGN:
        in[0] = handle(x, n);
        in[1] = assay_tfl_tensor(x, n->in[1]);
        assay_tfl_operator(x, BUILTIN_ASSIGN_VARIABLE, in, 2, NULL, 0);
        x->tensor_of[n->out[0]] = in[1];
        return true;
    default:
        return false;
    }
}
