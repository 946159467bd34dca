/* Parsing types and quantization parameters. */
#include <stdlib.h>

#include "graph/memory.h"
#include "graph/text/scan.h"

/* "[1,2]" after the element kind. */
static assay_status parse_dims(assay_scanner *p, assay_type *t)
{
    assay_status s = text_scan_expect(p, "[");
    while (!s && !text_scan_accept(p, "]")) {
        if (t->rank == ASSAY_MAX_RANK)
            return text_scan_fail(p, "at most %d dimensions", ASSAY_MAX_RANK);
        if (t->rank && (s = text_scan_expect(p, ",")))
            break;
        s = text_scan_int(p, 0, INT64_MAX, &t->dim[t->rank++]);
    }
    return s;
}

void text_params_free(assay_text_params *q)
{
    free(q->scale);
    free(q->zero_point);
}

static assay_status parse_scale_list(assay_scanner *p, assay_text_params *q)
{
    assay_status s = text_scan_expect(p, "[");
    while (!s && !text_scan_accept(p, "]")) {
        float *scale = text_scan_grow(q->scale, q->n_scales, sizeof *scale);
        if (!scale)
            return assay_out_of_memory(p->err);
        q->scale = scale;
        if (q->n_scales && (s = text_scan_expect(p, ",")))
            break;
        s = text_scan_float(p, &q->scale[q->n_scales++]);
    }
    return s;
}

static assay_status parse_zero_point_list(assay_scanner *p, assay_text_params *q)
{
    assay_status s = text_scan_expect(p, "[");
    while (!s && !text_scan_accept(p, "]")) {
        int64_t v;
        int32_t *zero_point = text_scan_grow(q->zero_point, q->n_zero_points, sizeof *zero_point);
        if (!zero_point)
            return assay_out_of_memory(p->err);
        q->zero_point = zero_point;
        if (q->n_zero_points && (s = text_scan_expect(p, ",")))
            break;
        if (!(s = text_scan_int(p, INT32_MIN, INT32_MAX, &v)))
            q->zero_point[q->n_zero_points++] = (int32_t)v;
    }
    return s;
}

/* As many scales, or zero points, as blocks of t have, from a file. */
static assay_status parse_params_file(assay_scanner *p, const assay_type *t, assay_elem elem,
                                      void **data, size_t *n)
{
    const char *at = text_scan_here(p);
    assay_type of = {.elem = elem, .rank = 1};
    assay_error inner;
    assay_status s =
        text_scan_located(p, at, assay_shape_check(t, "a shape in blocks", &inner), &inner);
    if (!s)
        of.dim[0] = assay_qparams_count(t);
    if (!s && of.dim[0] < 1)
        s = text_scan_fail(p, "the shape does not divide into such blocks");
    free(*data);
    *data = NULL;
    if (!s)
        s = text_parse_file(p, &of, data);
    *n = !s ? (size_t)of.dim[0] : 0;
    return s;
}

/* Scales per block and their zero points, which may be in files; one zero point is all's. */
static assay_status parse_block_params(assay_scanner *p, const assay_type *t, assay_text_params *q)
{
    void *scale = q->scale, *zero_point = q->zero_point;
    int64_t one;
    assay_status s;
    if (!text_scan_accept(p, "file")) {
        s = parse_scale_list(p, q);
    } else {
        s = parse_params_file(p, t, assay_f32(), &scale, &q->n_scales);
        q->scale = scale;
    }
    if (s || (s = text_scan_expect(p, ",")))
        return s;
    if (text_scan_accept(p, "file")) {
        s = parse_params_file(p, t, assay_int(32, true), &zero_point, &q->n_zero_points);
        q->zero_point = zero_point;
        return s;
    }
    if (*text_scan_here(p) == '[')
        return parse_zero_point_list(p, q);
    if ((s = text_scan_int(p, INT32_MIN, INT32_MAX, &one)))
        return s;
    free(q->zero_point);
    q->zero_point = calloc(q->n_scales + 1, sizeof *q->zero_point);
    if (!q->zero_point)
        return assay_out_of_memory(p->err);
    for (; q->n_zero_points < q->n_scales; q->n_zero_points++)
        q->zero_point[q->n_zero_points] = (int32_t)one;
    return ASSAY_OK;
}

/* "(" axis=A, [block=B,] scales, zero_points ")" after "q(". */
static assay_status parse_axis_params(assay_scanner *p, assay_type *t, assay_text_params *q)
{
    int64_t axis;
    assay_status s;
    t->q.granularity = ASSAY_Q_AXIS;
    if ((s = text_scan_expect(p, "=")) || (s = text_scan_int(p, 0, t->rank - 1, &axis)) ||
        (s = text_scan_expect(p, ",")))
        return s;
    t->q.axis = (int)axis;
    if (text_scan_accept(p, "block")) {
        t->q.granularity = ASSAY_Q_BLOCK;
        if ((s = text_scan_expect(p, "=")) || (s = text_scan_int(p, 1, INT64_MAX, &t->q.block)) ||
            (s = text_scan_expect(p, ",")) || (s = parse_block_params(p, t, q)))
            return s;
    } else if ((s = parse_scale_list(p, q)) || (s = text_scan_expect(p, ",")) ||
               (s = parse_zero_point_list(p, q))) {
        return s;
    }
    if (q->n_scales != q->n_zero_points)
        return text_scan_fail(p, "%zu scales but %zu zero points", q->n_scales, q->n_zero_points);
    return ASSAY_OK;
}

static assay_status parse_params(assay_scanner *p, assay_type *t, assay_text_params *q)
{
    assay_status s;
    int64_t zero_point = 0;

    q->scale = text_scan_grow(NULL, 0, sizeof *q->scale);
    q->zero_point = text_scan_grow(NULL, 0, sizeof *q->zero_point);
    if (!q->scale || !q->zero_point)
        return assay_out_of_memory(p->err);
    if (text_scan_accept(p, "axis")) {
        if ((s = parse_axis_params(p, t, q)))
            return s;
    } else {
        t->q.granularity = ASSAY_Q_TENSOR;
        if ((s = text_scan_float(p, q->scale)) || (s = text_scan_expect(p, ",")) ||
            (s = text_scan_int(p, INT32_MIN, INT32_MAX, &zero_point)))
            return s;
        q->zero_point[0] = (int32_t)zero_point;
        q->n_scales = 1;
    }
    t->q.count = q->n_scales;
    t->q.scale = q->scale;
    t->q.zero_point = q->zero_point;
    return text_scan_expect(p, ")");
}

assay_status text_parse_type(assay_scanner *p, assay_type *t, assay_text_params *q,
                             int *source_index)
{
    char word[16];
    const char *at = text_scan_here(p);
    assay_error inner;
    int64_t index = -1;
    assay_status s;

    if ((s = text_scan_word(p, word, sizeof word, "an element kind")) ||
        (s = text_scan_located(p, at, assay_elem_parse(word, &t->elem, &inner), &inner)) ||
        (s = parse_dims(p, t)))
        return s;
    if (text_scan_accept(p, "q("))
        s = parse_params(p, t, q);
    if (!s && text_scan_accept(p, "src(") && !(s = text_scan_int(p, 0, INT32_MAX, &index)))
        s = text_scan_expect(p, ")");
    *source_index = (int)index;
    return s;
}
