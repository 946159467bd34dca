/* Numbers that must be known at import: constants, and of values that the run computes what they
 * hold for the sample that the model is imported for. */
#include <string.h>

#include "graph/onnx/node/node.h"

/* What asks for them is in the network itself, whose inputs the sample gives; not in a body, which
 * runs any number of times. And with what is lost the network could not run. */
static bool can_ask(const onnx_node *n)
{
    return n->im->options->sample.compute && n->im->home == 0 && n->im->n_unsupported == 0;
}

static const onnx_const *asked(onnx_node *n, onnx_value *v)
{
    const assay_sample *sample = &n->im->options->sample;
    onnx_const *c = onnx_alloc(n->im, sizeof *c);
    assay_error cause = {.status = ASSAY_ERR_INTERNAL};
    const int id = onnx_materialize(n->im, v, &cause);
    assay_status s;

    if (!c)
        return onnx_no_memory(n);
    if (id == ASSAY_NO_VALUE)
        return onnx_fail_because(n, cause.status, &cause);
    const assay_type *t = &n->im->graph->value[id].type;
    *c = (onnx_const){.dtype = onnx_elem_dtype(t->elem), .rank = t->rank};
    memcpy(c->dim, t->dim, sizeof c->dim);
    c->count = assay_shape_count(t);
    if ((s = sample->compute(sample->user, n->im->graph, id, &c->data, &cause)))
        return onnx_fail_because(n, s, &cause);
    *sample->used = true;
    return c;
}

const onnx_const *onnx_elements(onnx_node *n, onnx_value *v)
{
    if (n->status || !v || v->constant)
        return v && !n->status ? v->constant : NULL;
    if (!v->sampled && can_ask(n))
        v->sampled = asked(n, v);
    return v->sampled;
}

const onnx_const *onnx_known(onnx_node *n, size_t i, const char *what)
{
    const onnx_const *c = onnx_elements(n, onnx_in(n, i));

    if (c || n->status || !onnx_has(n, i))
        return c;
    return onnx_refuse(n,
                       "%s ('%s') is not known at import: only constant %s can be imported, or for "
                       "one sample (`sample`)",
                       what, n->pb->input[i], what);
}

bool onnx_int_list(onnx_node *n, size_t i, const char *what, assay_list *list)
{
    const onnx_const *c = onnx_known(n, i, what);

    *list = (assay_list){0};
    if (!c)
        return false;
    if (onnx_is_float(c->dtype) || c->rank > 1) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%s ('%s') is %s of rank %d, expected a list of integers",
                  what, n->pb->input[i], onnx_dtype_name(c->dtype), c->rank);
        return false;
    }
    if (c->count > ASSAY_ATTR_LIST) {
        onnx_refuse(n, "%s ('%s') has %lld entries, at most %d are supported", what,
                    n->pb->input[i], (long long)c->count, ASSAY_ATTR_LIST);
        return false;
    }
    list->n = (int)c->count;
    for (int k = 0; k < list->n; k++)
        list->v[k] = onnx_get_int(c, k);
    return true;
}

bool onnx_one_int(onnx_node *n, size_t i, const char *what, int64_t *value)
{
    assay_list list;

    if (!onnx_int_list(n, i, what, &list))
        return false;
    if (list.n != 1) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%s ('%s') has %d entries, expected 1", what, n->pb->input[i],
                  list.n);
        return false;
    }
    *value = list.v[0];
    return true;
}

bool onnx_one_float(onnx_node *n, size_t i, const char *what, float *value)
{
    const onnx_const *c = onnx_known(n, i, what);

    if (!c)
        return false;
    if (c->count != 1) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%s ('%s') has %lld elements, expected 1", what,
                  n->pb->input[i], (long long)c->count);
        return false;
    }
    *value = (float)onnx_get_real(c, 0);
    return true;
}
