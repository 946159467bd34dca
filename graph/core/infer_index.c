/* Shapes of what is read or put at places that a network computes: gather, scatter, slices that
 * begin somewhere, samples of images. */
#include "graph/core/infer.h"

#define EXTENT_MAX ((int64_t)1 << 40)

/* Indices are plain i32 or i64. */
static assay_status check_indices(const assay_inference *c, const assay_type *t)
{
    char text[8];
    if (t->elem.kind != ASSAY_KIND_INT || !t->elem.is_signed || t->elem.bits < 32 ||
        assay_is_quantized(t))
        return assay_infer_fail(c, "indices are %s, expected i32 or i64",
                                assay_elem_print(t->elem, text));
    return ASSAY_OK;
}

assay_status assay_shape_update_slice(const assay_inference *c)
{
    const assay_type *update = assay_infer_in(c, 1), *begin = assay_infer_in(c, 2);
    assay_status s = check_indices(c, begin);
    if (s)
        return s;
    if (begin->rank != 1 || begin->dim[0] != c->x->rank)
        return assay_infer_fail(c, "begin does not have one entry for each of %d axes", c->x->rank);
    if (!assay_elem_equal(update->elem, c->x->elem) || !assay_qparams_equal(&update->q, &c->x->q))
        return assay_infer_fail(c, "kind or parameters of the update differ from the input's");
    for (int i = 0; i < c->x->rank; ++i)
        if (update->rank != c->x->rank || update->dim[i] > c->x->dim[i])
            return assay_infer_fail(c, "the update is larger than the input");
    assay_infer_shape(c->out, c->x);
    c->out->q = c->x->q;
    return ASSAY_OK;
}

static assay_status append(const assay_inference *c, int64_t dim)
{
    if (c->out->rank == ASSAY_MAX_RANK)
        return assay_infer_fail(c, "the output has more than %d dimensions", ASSAY_MAX_RANK);
    c->out->dim[c->out->rank++] = dim;
    return ASSAY_OK;
}

/* x[..axis] + indices[batch_dims..] + x[axis+1..] */
assay_status assay_shape_gather(const assay_inference *c)
{
    const assay_type *at = assay_infer_in(c, 1);
    int64_t axis = c->n->attr.gather.axis, batch = c->n->attr.gather.batch_dims;
    assay_status s;
    if ((s = assay_infer_axis(c, axis)) || (s = check_indices(c, at)))
        return s;
    if (batch < 0 || batch > axis || batch > at->rank)
        return assay_infer_fail(c, "batch_dims is %lld, expected 0 to %lld", (long long)batch,
                                (long long)(axis < at->rank ? axis : at->rank));
    for (int i = 0; i < batch; ++i)
        if (at->dim[i] != c->x->dim[i])
            return assay_infer_fail(c, "batch axis %d has extents %lld and %lld", i,
                                    (long long)c->x->dim[i], (long long)at->dim[i]);
    for (int i = 0; !s && i < axis; ++i)
        s = append(c, c->x->dim[i]);
    for (int i = (int)batch; !s && i < at->rank; ++i)
        s = append(c, at->dim[i]);
    for (int i = (int)axis + 1; !s && i < c->x->rank; ++i)
        s = append(c, c->x->dim[i]);
    return s;
}

/* indices[..,K] index the first K dimensions of x: *depth is K. */
static assay_status check_lists(const assay_inference *c, const assay_type *at, int64_t *depth)
{
    const assay_status s = check_indices(c, at);
    *depth = at->rank ? at->dim[at->rank - 1] : 0;
    if (s || (*depth >= 1 && *depth <= c->x->rank))
        return s;
    return assay_infer_fail(c, "the indices' last extent is %lld, expected 1 to %d",
                            (long long)*depth, c->x->rank);
}

/* x's elements, or slices of it, at the indices. */
assay_status assay_shape_gather_nd(const assay_inference *c)
{
    const assay_type *at = assay_infer_in(c, 1);
    int64_t depth;
    assay_status s = check_lists(c, at, &depth);
    if (s)
        return s;
    for (int i = 0; !s && i < at->rank - 1; ++i)
        s = append(c, at->dim[i]);
    for (int i = (int)depth; !s && i < c->x->rank; ++i)
        s = append(c, c->x->dim[i]);
    return s;
}

/* indices[..,K] say where updates[..] + x[K..] go in x. */
assay_status assay_shape_scatter_nd(const assay_inference *c)
{
    const assay_type *at = assay_infer_in(c, 1), *update = assay_infer_in(c, 2);
    const int lists = at->rank - 1;
    int64_t depth;
    const assay_status s = check_lists(c, at, &depth);
    if (s)
        return s;
    if (!assay_elem_equal(update->elem, c->x->elem) || !assay_qparams_equal(&update->q, &c->x->q))
        return assay_infer_fail(c, "kind or parameters of the updates differ from the input's");
    bool fits = update->rank == lists + c->x->rank - (int)depth;
    for (int i = 0; fits && i < update->rank; ++i)
        fits = update->dim[i] == (i < lists ? at->dim[i] : c->x->dim[depth + i - lists]);
    if (!fits)
        return assay_infer_fail(c, "the updates do not have the shape of what the indices select");
    assay_infer_shape(c->out, c->x);
    c->out->q = c->x->q;
    return ASSAY_OK;
}

/* x[N,C,spatial..], grid[N,out..,axes] */
assay_status assay_shape_grid_sample(const assay_inference *c)
{
    const assay_type *grid = assay_infer_in(c, 1);
    const int axes = c->x->rank - 2;
    assay_status s = assay_infer_alike(c, 0, 1);
    if (s)
        return s;
    if (axes < 1 || axes > 3)
        return assay_infer_fail(c, "input has rank %d, expected 3 to 5", c->x->rank);
    if (grid->rank != c->x->rank || grid->dim[0] != c->x->dim[0] || grid->dim[axes + 1] != axes)
        return assay_infer_fail(c, "the grid is not [%lld, ..., %d] of rank %d",
                                (long long)c->x->dim[0], axes, c->x->rank);
    assay_infer_shape(c->out, c->x);
    for (int i = 0; i < axes; ++i) {
        if (c->x->dim[2 + i] < 1)
            return assay_infer_fail(c, "axis %d is empty", 2 + i);
        c->out->dim[2 + i] = grid->dim[1 + i];
    }
    return ASSAY_OK;
}

/* x[N,C,H,W], rois[R,4], images[R] */
assay_status assay_shape_roi_align(const assay_inference *c)
{
    const assay_attr_roi *a = &c->n->attr.roi;
    const assay_type *roi = assay_infer_in(c, 1);
    assay_status s = check_indices(c, assay_infer_in(c, 2));
    if (!s)
        s = assay_infer_alike(c, 0, 1);
    if (s)
        return s;
    if (c->x->rank != 4 || c->x->dim[2] < 1 || c->x->dim[3] < 1)
        return assay_infer_fail(c, "input is not [N,C,H,W] with pixels");
    if (roi->rank != 2 || roi->dim[1] != 4)
        return assay_infer_fail(c, "rois are not [R,4]");
    if (a->height < 1 || a->height > EXTENT_MAX || a->width < 1 || a->width > EXTENT_MAX ||
        a->ratio < 0 || a->ratio > 65536)
        return assay_infer_fail(c, "height, width or ratio is out of range");
    *c->out = (assay_type){
        .elem = c->x->elem, .rank = 4, .dim = {roi->dim[0], c->x->dim[1], a->height, a->width}};
    return assay_infer_vector(c, 2, "images", roi->dim[0]);
}

/* boxes[N,B,4], scores[N,C,B] */
assay_status assay_shape_nms(const assay_inference *c)
{
    const assay_type *scores = assay_infer_in(c, 1);
    const int64_t max = c->n->attr.nms.most;
    const assay_status s = assay_infer_alike(c, 0, 1);
    int64_t rows;

    if (s)
        return s;
    if (c->x->rank != 3 || c->x->dim[2] != 4)
        return assay_infer_fail(c, "boxes are not [N,B,4]");
    if (scores->rank != 3 || scores->dim[0] != c->x->dim[0] || scores->dim[2] != c->x->dim[1])
        return assay_infer_fail(c, "scores are not [%lld,C,%lld]", (long long)c->x->dim[0],
                                (long long)c->x->dim[1]);
    if (max < 0 || max > c->x->dim[1])
        return assay_infer_fail(c, "most is %lld, expected 0 to %lld", (long long)max,
                                (long long)c->x->dim[1]);
    if (__builtin_mul_overflow(scores->dim[0] * scores->dim[1], max, &rows))
        return assay_infer_fail(c, "too many rows");
    *c->out = (assay_type){.elem = assay_int(64, true), .rank = 2, .dim = {rows, 3}};
    return ASSAY_OK;
}

/* boxes[B,4], scores[B] */
assay_status assay_shape_soft_nms(const assay_inference *c)
{
    const int64_t max = c->n->attr.soft_nms.most;
    const assay_status s = assay_infer_alike(c, 0, 1);

    if (s)
        return s;
    if (c->x->rank != 2 || c->x->dim[1] != 4)
        return assay_infer_fail(c, "boxes are not [B,4]");
    if (max < 0 || max > INT32_MAX)
        return assay_infer_fail(c, "most is %lld, expected 0 to 2^31 - 1", (long long)max);
    c->out[0] = (assay_type){.elem = assay_int(32, true), .rank = 1, .dim = {max}};
    c->out[1] = (assay_type){.elem = assay_f32(), .rank = 1, .dim = {max}};
    c->out[2] = (assay_type){.elem = assay_int(32, true)};
    return assay_infer_vector(c, 1, "scores", c->x->dim[0]);
}

/* encodings[1,B,4..], scores[1,B,C], anchors[B,4] */
assay_status assay_shape_detection(const assay_inference *c)
{
    const assay_attr_detection *a = &c->n->attr.detection;
    const assay_type *scores = assay_infer_in(c, 1), *anchors = assay_infer_in(c, 2);
    const int64_t limits[4] = {a->most, a->per_box, a->per_class, a->classes};
    assay_status s = assay_infer_alike(c, 0, 2);

    if (s)
        return s;
    if (c->x->rank != 3 || c->x->dim[0] != 1 || c->x->dim[2] < 4)
        return assay_infer_fail(c, "encodings are not [1,B,4]");
    if (anchors->rank != 2 || anchors->dim[0] != c->x->dim[1] || anchors->dim[1] != 4)
        return assay_infer_fail(c, "anchors are not [%lld,4]", (long long)c->x->dim[1]);
    for (int i = 0; i < 4; i++)
        if (limits[i] < 1 || limits[i] > 1 << 20)
            return assay_infer_fail(c, "%lld detections or classes, expected 1 to 2^20",
                                    (long long)limits[i]);
    if (scores->rank != 3 || scores->dim[0] != 1 || scores->dim[1] != c->x->dim[1] ||
        scores->dim[2] - a->classes < 0 || scores->dim[2] - a->classes > 1)
        return assay_infer_fail(c, "scores are not [1,%lld,%lld] or one more",
                                (long long)c->x->dim[1], (long long)a->classes);
    if (a->scale.n != 4)
        return assay_infer_fail(c, "%d scales, expected 4", a->scale.n);
    const int64_t rows = a->most * a->per_box;
    c->out[0] = (assay_type){.elem = assay_f32(), .rank = 3, .dim = {1, rows, 4}};
    c->out[1] = (assay_type){.elem = assay_f32(), .rank = 2, .dim = {1, rows}};
    c->out[2] = c->out[1];
    c->out[3] = (assay_type){.elem = assay_f32(), .rank = 1, .dim = {1}};
    return ASSAY_OK;
}
