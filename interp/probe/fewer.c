/* Outcomes of one node; and a weighted node made smaller: the channels of its input that are needed
 * for two schemes to part. */
#include "interp/probe/apart.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"

assay_status probe_case_run(const blame_case *c, void **out, assay_error *err)
{
    assay_error why;
    *out = malloc(assay_type_bytes(&c->out) + 64);
    if (!*out)
        return assay_out_of_memory(err);
    const assay_status status = blame_case_run(c, *out, NULL, &why);
    if (!status)
        return ASSAY_OK;
    free(*out);
    *out = NULL;
    return status == ASSAY_ERR_MEMORY ? assay_out_of_memory(err) : ASSAY_OK;
}

bool probe_case_differ(const assay_type *type, const void *a, const void *b)
{
    return a && b &&
           memcmp(a, b, (size_t)assay_shape_count(type) * assay_elem_size(type->elem)) != 0;
}

static assay_status parts(const assay_record record[2], const blame_case *node, bool *apart,
                          assay_error *err)
{
    void *out[2] = {NULL};
    assay_status status = ASSAY_OK;
    for (int i = 0; i < 2 && !status; i++) {
        blame_case c = *node;
        c.record = record[i];
        c.has_record = true;
        status = probe_case_run(&c, &out[i], err);
    }
    *apart = probe_case_differ(&node->out, out[0], out[1]);
    free(out[0]);
    free(out[1]);
    return status;
}

/* The axes of data and weights along which products are summed; false: the op has none such, or
 * each output has channels of its own. */
static bool find_axes(const blame_case *c, int axis[2])
{
    if (c->op == ASSAY_OP_CONV && c->attr.conv.group == 1 &&
        c->attr.conv.layout == ASSAY_LAYOUT_NHWC)
        axis[0] = axis[1] = 3;
    else if (c->op == ASSAY_OP_FC)
        axis[0] = axis[1] = 1;
    else
        return false;
    return c->in[0].rank > axis[0] && c->in[1].rank > axis[1] &&
           c->in[0].dim[axis[0]] == c->in[1].dim[axis[1]];
}

/* The node with channels [first, first + n) alone; false: out of memory. */
static bool take(const blame_case *from, const int axis[2], int64_t first, int64_t n,
                 blame_case *out)
{
    *out = *from;
    for (int i = 0; i < 2; i++) {
        out->data[i] = blame_slice(from->arena, &from->in[i], from->data[i], axis[i], first, n);
        out->in[i].dim[axis[i]] = n;
        if (!out->data[i])
            return false;
    }
    return true;
}

assay_status probe_fewer_channels(const assay_record record[2], blame_case *node, assay_error *err)
{
    int axis[2];
    if (!find_axes(node, axis))
        return ASSAY_OK;
    for (int64_t step = node->in[0].dim[axis[0]] / 2; step > 0;) {
        const int64_t n = node->in[0].dim[axis[0]];
        bool fewer = false;
        for (int side = 0; side < 2 && !fewer && n > step; side++) {
            blame_case small;
            if (!take(node, axis, side ? step : 0, n - step, &small))
                return assay_out_of_memory(err);
            const assay_status status = parts(record, &small, &fewer, err);
            if (status)
                return status;
            if (fewer)
                *node = small;
        }
        step = fewer ? step : step / 2;
    }
    return ASSAY_OK;
}
