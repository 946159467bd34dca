/* Windows, means and rows: ties among the sums, every size of a row's spread. */
#include <assert.h>
#include <math.h>
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
    assert(type.elem.bits <= 32);
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
                              n->extreme && k > 0 ? probe_vary(n, 0.031 * k) : 0.05, t->zero_point),
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

void probe_resize(probe_net *n, const char *op)
{
    static const struct {
        int64_t height, width;
        int coordinate;
    } sizes[] = {{14, 18, ASSAY_COORD_HALF_PIXEL},
                 {13, 20, ASSAY_COORD_ASYMMETRIC},
                 {19, 5, ASSAY_COORD_ALIGN_CORNERS},
                 {4, 6, ASSAY_COORD_HALF_PIXEL}};
    const probe_types *t = n->types;
    const int x =
        spread(n, "x", probe_type(n, t->activation, PROBE_SHAPE(1, 7, 9, 32), 0.05, t->zero_point));
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++) {
        char name[24];
        assay_attrs attr = {0};
        attr.resize.layout = ASSAY_LAYOUT_NHWC;
        attr.resize.mode = ASSAY_RESIZE_LINEAR;
        attr.resize.coordinate = sizes[k].coordinate;
        attr.resize.size = (assay_list){4, {1, sizes[k].height, sizes[k].width, 32}};
        snprintf(name, sizeof name, "%s%d", op, k);
        probe_node(n, ASSAY_OP_RESIZE, name, &x, 1,
                   probe_type(n, t->activation, PROBE_SHAPE(1, sizes[k].height, sizes[k].width, 32),
                              0.05, t->zero_point),
                   &attr, "codes between codes, ties among them");
    }
}

/* Rows of any spread, of three lengths. */
static int rows_of(probe_net *n, int k, const char *op, double scale, char name[24])
{
    const assay_elem e = n->types->activation;
    char in[24];
    snprintf(in, sizeof in, "x%d", k);
    snprintf(name, 24, "%s%d", op, k);
    return spread(n, in,
                  probe_type(n, e, PROBE_SHAPE(64, 4 + 12 * k),
                             probe_vary(n, scale) / (e.bits > 8 ? 256 : 1),
                             e.bits > 8 ? 0 : n->types->zero_point));
}

static const double row_scales[] = {0.1, 0.0234, 0.25};
enum { ROW_SCALES = sizeof row_scales / sizeof *row_scales };

enum { TIES = 8 }; /* elements of a row */

/* How near to halfway between two codes an output of a row of softmax is. */
static double from_tie(const assay_type *t, const int64_t *row, int64_t count)
{
    double sum = 0, min = 1;
    for (int64_t i = 0; i < count; i++)
        sum += exp((double)t->q.scale[0] * (double)row[i]);
    for (int64_t i = 0; i < count; i++) {
        const double at = exp((double)t->q.scale[0] * (double)row[i]) / sum * 256;
        min = fmin(min, fabs(at - floor(at) - 0.5));
    }
    return min;
}

/* Rows of softmax with an output next to a tie, the nearest of many: a sum of exponentials that is
 * nearly right shows in one of some 200,000 elements otherwise. */
static int ties(probe_net *n, const char *name, assay_type type)
{
    enum { DRAWN = 4096 };
    int id;
    void *data = probe_input(n, name, type, &id);
    for (int64_t at = 0; data && at < assay_shape_count(&type); at += TIES) {
        double min = 2;
        for (int k = 0; k < DRAWN; k++) {
            const int64_t reach = (int64_t)4 << probe_between(n, 0, 5);
            int64_t row[TIES];
            for (int i = 0; i < TIES; i++)
                row[i] = assay_elem_max(type.elem) - probe_between(n, 0, reach);
            const double distance = from_tie(&type, row, TIES);
            if (distance >= min)
                continue;
            min = distance;
            for (int i = 0; i < TIES; i++)
                assay_elem_set(type.elem, data, (size_t)(at + i), row[i]);
        }
    }
    return id;
}

static void add_ties(probe_net *n, assay_type out)
{
    const int x = ties(
        n, "near",
        probe_type(n, out.elem, PROBE_SHAPE(48, TIES), probe_vary(n, 0.05), n->types->zero_point));
    assay_attrs attr = {0};
    attr.softmax.axis = -1;
    attr.softmax.beta = 1;
    probe_node(n, ASSAY_OP_SOFTMAX, "ties", &x, 1, out, &attr, "rows with an output next to a tie");
}

/* softmax, log softmax and L2 normalization, whose outputs' parameters targets fix. */
void probe_softmax(probe_net *n, const char *op)
{
    const assay_elem e = n->types->activation;
    const bool wide = e.bits > 8, log = op[0] == 'l' && op[1] == 'o', l2 = op[0] == 'l' && !log;
    const int32_t min = (int32_t)assay_elem_min(e), max = (int32_t)assay_elem_max(e);
    for (int k = 0; k < ROW_SCALES; k++) {
        char name[24];
        assay_attrs attr = {0};
        const int x = rows_of(n, k, op, row_scales[k], name);
        if (l2) {
            attr.norm.axis = -1;
            attr.norm.epsilon = 1e-6f;
        } else {
            attr.softmax.axis = -1;
            attr.softmax.beta = 1;
        }
        const double scale = l2 || wide ? 2.0 / (wide ? 65536 : 256) : log ? 16 / 256.0 : 1 / 256.0;
        const int32_t zero = wide ? 0 : l2 ? min + 128 : log ? max : min;
        probe_node(n,
                   l2    ? ASSAY_OP_L2_NORM
                   : log ? ASSAY_OP_LOG_SOFTMAX
                         : ASSAY_OP_SOFTMAX,
                   name, &x, 1, probe_type(n, e, PROBE_SHAPE(64, 4 + 12 * k), scale, zero), &attr,
                   "rows of any spread");
    }
    if (n->varied && !wide && !log && !l2)
        add_ties(n, probe_type(n, e, PROBE_SHAPE(48, TIES), 1 / 256.0, min));
}

void probe_layer_norm(probe_net *n, const char *op)
{
    const assay_elem e = n->types->activation;
    for (int k = 0; k < ROW_SCALES; k++) {
        char name[24], constant[24];
        assay_attrs attr = {0};
        int in[2] = {rows_of(n, k, op, row_scales[k], name), 0};
        attr.norm.axis = -1;
        attr.norm.epsilon = 1e-5f;
        snprintf(constant, sizeof constant, "gamma%d", k);
        int16_t *gamma = probe_constant(
            n, constant, probe_type(n, assay_int(16, true), PROBE_SHAPE(4 + 12 * k), 0.0001, 0),
            &in[1]);
        for (int64_t i = 0; gamma && i < 4 + 12 * k; i++)
            gamma[i] = (int16_t)probe_between(n, -20000, 20000);
        probe_node(n, ASSAY_OP_LAYER_NORM, name, in, 2,
                   probe_type(n, e, PROBE_SHAPE(64, 4 + 12 * k),
                              probe_vary(n, 0.03) / (e.bits > 8 ? 256 : 1),
                              e.bits > 8 ? 0 : n->types->zero_point),
                   &attr, "rows of any spread, normalized");
    }
}
