/* Pictures of a tensor; see picture.h. */
#include "interp/blame/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/page/bitmap.h"
#include "interp/page/planes.h"

enum { MAX_PLANES = 64, MAX_SIDE = 256, GAP = 2, FARTHEST = 32 };

static page_planes planes_of(const blame_report *r, const assay_node *n, const assay_type *t)
{
    const bool spatial = (assay_op_get(n->op)->traits & ASSAY_T_LAYOUT) && t->rank > 2;
    bool first = spatial && n->attr.layout.layout == ASSAY_LAYOUT_NCHW;
    /* Ops without a layout have that of the first node that has one. */
    for (int i = 0; i < r->device.graph->n_nodes && !spatial && t->rank == 4; i++) {
        const assay_node *other = &r->device.graph->node[i];
        if (assay_op_get(other->op)->traits & ASSAY_T_LAYOUT) {
            first = other->attr.layout.layout == ASSAY_LAYOUT_NCHW;
            break;
        }
    }
    return page_planes_of(t, !first);
}

static double real_of(const assay_type *t, const void *data, int64_t i)
{
    if (t->elem.kind == ASSAY_KIND_F32)
        return (double)((const float *)data)[i];
    return (double)assay_elem_get(t->elem, data, (size_t)i);
}

typedef struct view {
    const assay_type *t;
    const blame_tensor *at;
    page_planes p;
    double lo, hi, far; /* of the device's values; the greatest difference */
} view;

static double difference(const view *v, int64_t i)
{
    if (v->at->mask && !v->at->mask[i])
        return 0;
    const double d = real_of(v->t, v->at->device, i) - real_of(v->t, v->at->replayed, i);
    return isfinite(d) ? d : 1;
}

static int64_t differing_in(const view *v, int64_t plane)
{
    int64_t n = 0;
    for (int64_t y = 0; y < v->p.height; y++)
        for (int64_t x = 0; x < v->p.width; x++)
            n += difference(v, page_planes_at(&v->p, plane, y, x)) != 0;
    return n;
}

typedef struct ranked {
    int64_t plane, differing;
} ranked;

static int by_differing(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    return a->differing != b->differing ? (a->differing > b->differing ? -1 : 1)
                                        : (a->plane > b->plane) - (a->plane < b->plane);
}

static int by_plane(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    return (a->plane > b->plane) - (a->plane < b->plane);
}

static ranked *rank_planes(const view *v, int64_t shown)
{
    ranked *list = calloc((size_t)v->p.n + 1, sizeof *list);
    for (int64_t i = 0; i < v->p.n && list; i++)
        list[i] = (ranked){i, differing_in(v, i)};
    if (list) {
        qsort(list, (size_t)v->p.n, sizeof *list, by_differing);
        qsort(list, (size_t)shown, sizeof *list, by_plane);
    }
    return list;
}

static void colour(const view *v, int64_t i, uint8_t *rgb)
{
    const double d = difference(v, i), value = real_of(v->t, v->at->device, i);
    const double grey = v->hi > v->lo ? (value - v->lo) / (v->hi - v->lo) : 0.5;
    const uint8_t level = (uint8_t)(40 + 160 * (isfinite(grey) ? grey : 0));
    rgb[0] = rgb[1] = rgb[2] = level;
    if (v->at->mask && !v->at->mask[i]) { /* not observed */
        rgb[0] = rgb[1] = 215;
        rgb[2] = 235;
    }
    if (d == 0)
        return;
    rgb[0] = 255;
    rgb[1] = (uint8_t)(v->far > 1 ? 220 * sqrt(fmax(fabs(d) - 1, 0) / (v->far - 1)) : 0);
    rgb[2] = 0;
}

static void measure(view *v)
{
    v->lo = INFINITY;
    v->hi = -INFINITY;
    for (int64_t i = 0; i < assay_shape_count(v->t); i++) {
        const double value = real_of(v->t, v->at->device, i);
        v->lo = fmin(v->lo, value);
        v->hi = fmax(v->hi, value);
        v->far = fmax(v->far, fabs(difference(v, i)));
    }
}

static void draw_planes(const view *v, const ranked *list, int64_t shown, FILE *f)
{
    const int64_t h = v->p.height < MAX_SIDE ? v->p.height : MAX_SIDE;
    const int64_t w = v->p.width < MAX_SIDE ? v->p.width : MAX_SIDE;
    int64_t across = (int64_t)ceil(sqrt((double)(shown * h) / (double)w));
    across = across < 1 ? 1 : across > shown ? shown : across;
    const int64_t down = (shown + across - 1) / across;
    const int width = (int)(across * (w + GAP)), height = (int)(down * (h + GAP));
    uint8_t *rgb = malloc((size_t)width * (size_t)height * 3 + 1);
    if (!rgb)
        return;
    memset(rgb, 255, (size_t)width * (size_t)height * 3);
    for (int64_t k = 0; k < shown; k++)
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++)
                colour(v, page_planes_at(&v->p, list[k].plane, y, x),
                       rgb +
                           ((k / across * (h + GAP) + y) * width + k % across * (w + GAP) + x) * 3);
    const int scale = width < 160 ? 480 / (width > 0 ? width : 1) + 1 : width < 500 ? 2 : 1;
    fprintf(f, "<img alt=\"the tensor\" width=\"%d\" height=\"%d\" src=\"", width * scale,
            height * scale);
    page_bitmap(f, width, height, rgb);
    fputs("\">\n", f);
    free(rgb);
}

void blame_draw_tensor(const blame_report *r, int row, int sample, FILE *f)
{
    const assay_graph *g = r->device.graph;
    const assay_type *t = &g->value[r->row[row].value].type;
    view v = {.t = t,
              .at = blame_at(&r->device, sample, r->row[row].value),
              .p = planes_of(r, &g->node[r->row[row].node], t)};
    const int64_t shown = v.p.n < MAX_PLANES ? v.p.n : MAX_PLANES;
    if (!v.at->device || assay_shape_count(t) == 0)
        return;
    measure(&v);
    ranked *list = rank_planes(&v, shown);
    if (!list)
        return;
    fputs("<figure>", f);
    draw_planes(&v, list, shown, f);
    fprintf(f,
            "<figcaption>sample %" PRId64 ", %" PRId64 " of %" PRId64 " planes of %" PRId64
            " x %" PRId64 "%s; grey: as replayed, red to yellow: differs, by up to %g</figcaption>"
            "</figure>\n",
            r->device.number[sample], shown, v.p.n, v.p.height, v.p.width,
            v.p.height > MAX_SIDE || v.p.width > MAX_SIDE ? " (cut)" : "", v.far);
    free(list);
}

/* ---- the histogram ---- */

static void count_differences(const blame_report *r, int row, int64_t count[2 * FARTHEST + 1])
{
    const blame_device *d = &r->device;
    view v = {.t = &d->graph->value[r->row[row].value].type};
    for (int k = 0; k < d->n_samples; k++) {
        v.at = blame_at(d, k, r->row[row].value);
        for (int64_t i = 0; v.at->device && i < assay_shape_count(v.t); i++) {
            const double diff = difference(&v, i);
            const int far = (int)fmin(fmax(diff, -FARTHEST), FARTHEST);
            count[FARTHEST + far] += diff != 0;
        }
    }
}

void blame_draw_histogram(const blame_report *r, int row, FILE *f)
{
    int64_t count[2 * FARTHEST + 1] = {0}, max = 1;
    const assay_type *t = &r->device.graph->value[r->row[row].value].type;
    if (t->elem.kind == ASSAY_KIND_F32)
        return;
    count_differences(r, row, count);
    for (int i = 0; i <= 2 * FARTHEST; i++)
        max = count[i] > max ? count[i] : max;
    fputs("<figure><svg width=\"690\" height=\"150\" font-family=\"sans-serif\" "
          "font-size=\"10\">\n",
          f);
    for (int i = 0; i <= 2 * FARTHEST; i++) {
        const double h = count[i] > 0 ? 4 + 100 * log1p((double)count[i]) / log1p((double)max) : 0;
        if (count[i] > 0)
            fprintf(f,
                    "<rect x=\"%d\" y=\"%.1f\" width=\"9\" height=\"%.1f\" fill=\"#c33\"><title>%d:"
                    " %" PRId64 "</title></rect><text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\" "
                    "font-size=\"8\">%" PRId64 "</text>\n",
                    10 + 10 * i, 125 - h, h, i - FARTHEST, count[i], 14 + 10 * i, 121 - h,
                    count[i]);
        if (i % 8 == 0)
            fprintf(f, "<text x=\"%d\" y=\"140\" text-anchor=\"middle\">%s%d</text>\n", 14 + 10 * i,
                    i == 0              ? "&#8804; "
                    : i == 2 * FARTHEST ? "&#8805; "
                                        : "",
                    i - FARTHEST);
    }
    fputs("<path d=\"M5 125H665\" stroke=\"#888\"/></svg><figcaption>elements by device minus "
          "replay, in codes (heights logarithmic)</figcaption></figure>\n",
          f);
}
