/* Windows, means and rows: ties among the sums, every size of a row's spread. */
#include <stdio.h>
#include <string.h>

#include "interp/probe/makers.h"

/* Codes at random, their neighbourhoods of any spread: the sums of small ones are ties often. */
static int spread(probe_net *n, const char *name, assay_type type)
{
    const int64_t lo = assay_elem_min(type.elem), hi = assay_elem_max(type.elem);
    const int64_t last = type.dim[type.rank - 1];
    int64_t centre = 0, reach = 0;
    int id;
    void *data = probe_input(n, name, type, &id);
    for (int64_t i = 0; data && i < assay_shape_count(&type); i++) {
        if (i % last == 0) {
            centre = probe_between(n, lo, hi);
            reach = ((int64_t)2 << probe_between(n, 0, type.elem.bits)) - 1;
        }
        const int64_t code = centre + probe_between(n, -reach, reach);
        assay_elem_set(type.elem, data, (size_t)i, code < lo ? lo : code > hi ? hi : code);
    }
    return id;
}

void probe_pool(probe_net *n, const char *op)
{
    static const struct {
        int kernel[2], stride, pad;
    } windows[] = {{{2, 2}, 2, 0}, {{3, 3}, 1, 1}, {{3, 2}, 1, 0}, {{5, 4}, 2, 0}};
    const probe_types *t = n->types;
    const assay_type type =
        probe_type(n, t->activation, PROBE_SHAPE(1, 14, 14, 32), 0.05, t->zero_point);
    const int x = spread(n, "x", type);
    for (int k = 0; k < (int)(sizeof windows / sizeof *windows); k++) {
        char name[24];
        assay_attrs attr = {0};
        const int pad = windows[k].pad, stride = windows[k].stride, *kernel = windows[k].kernel;
        attr.pool.layout = ASSAY_LAYOUT_NHWC;
        attr.pool.kernel = (assay_list){2, {kernel[0], kernel[1]}};
        attr.pool.stride = (assay_list){2, {stride, stride}};
        attr.pool.pad_begin = attr.pool.pad_end = (assay_list){2, {pad, pad}};
        snprintf(name, sizeof name, "%s%d", op, k);
        probe_node(n, ASSAY_OP_AVG_POOL, name, &x, 1,
                   probe_type(n, t->activation,
                              PROBE_SHAPE(1, (14 + 2 * pad - kernel[0]) / stride + 1,
                                          (14 + 2 * pad - kernel[1]) / stride + 1, 32),
                              0.05, t->zero_point),
                   &attr, "averages over windows, ties among them");
    }
}

void probe_means(probe_net *n, const char *op)
{
    static const struct {
        int64_t height, width;
        double out;
    } sizes[] = {{7, 7, 0.05}, {4, 4, 0.05}, {8, 8, 0.031}, {6, 5, 0.0713}};
    const probe_types *t = n->types;
    const bool global = strcmp(op, "global_avg_pool") == 0;
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++) {
        char name[2][24];
        assay_attrs attr = {0};
        snprintf(name[0], sizeof name[0], "x%d", k);
        snprintf(name[1], sizeof name[1], "%s%d", op, k);
        const int x =
            spread(n, name[0],
                   probe_type(n, t->activation, PROBE_SHAPE(8, sizes[k].height, sizes[k].width, 64),
                              0.05, t->zero_point));
        if (global) {
            attr.layout.layout = ASSAY_LAYOUT_NHWC;
        } else {
            attr.reduce.axes = (assay_list){2, {1, 2}};
            attr.reduce.keepdims = true;
        }
        /* TFLite's has the input's parameters */
        const bool same =
            sizes[k].out == 0.05 || t->activation.bits > 8 || (global && t->activation.is_signed);
        probe_node(n, global ? ASSAY_OP_GLOBAL_AVG_POOL : ASSAY_OP_REDUCE_MEAN, name[1], &x, 1,
                   probe_type(n, t->activation, PROBE_SHAPE(8, 1, 1, 64),
                              same ? 0.05 : probe_vary(n, sizes[k].out),
                              t->zero_point + (same ? 0 : 3)),
                   &attr, "means over two axes, ties among them");
    }
}

void probe_softmax(probe_net *n, const char *op)
{
    static const double scales[] = {0.1, 0.0234, 0.25};
    const assay_elem e = n->types->activation;
    const bool wide = e.bits > 8;
    for (int k = 0; k < (int)(sizeof scales / sizeof *scales); k++) {
        char name[2][24];
        assay_attrs attr = {0};
        const probe_shape shape = PROBE_SHAPE(64, 4 + 12 * k);
        snprintf(name[0], sizeof name[0], "x%d", k);
        snprintf(name[1], sizeof name[1], "%s%d", op, k);
        attr.softmax.axis = -1;
        attr.softmax.beta = 1;
        const int x = spread(n, name[0],
                             probe_type(n, e, shape, probe_vary(n, scales[k]) / (wide ? 256 : 1),
                                        wide ? 0 : n->types->zero_point));
        probe_node(n, ASSAY_OP_SOFTMAX, name[1], &x, 1,
                   probe_type(n, e, shape, wide ? 1 / 32768.0 : 1 / 256.0,
                              wide ? 0 : (int32_t)assay_elem_min(e)),
                   &attr, "rows of any spread");
    }
}
