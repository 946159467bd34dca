/* A tensor on a report's page. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "interp/page/bitmap.h"
#include "interp/page/column.h"
#include "interp/page/html.h"
#include "interp/page/xml.h"
#include "interp/report/page.h"

#define WIDTH 620.0
#define LEFT  44.0 /* counts stand there */
#define PLOT  (WIDTH - LEFT - 16)
#define CURVE 84.0
#define APART 90.0   /* between numbers of the axis */
enum { VALUES = 8 }; /* that a list of parameters shows */

void report_put_fact(FILE *f, const char *term, const char *text)
{
    page_html_put(f, "<dt>", term, "</dt>");
    page_html_put(f, "<dd>", text, "</dd>\n");
}

/* ---- type and counts ---- */

static const json_t *entry_of(const report_chapter *c, const report_look *l)
{
    const json_t *list = json_object_get(c->source.bundle->manifest, "tensors");
    return json_array_get(list, (size_t)(l->tensor - c->source.bundle->tensor));
}

static void put_type(FILE *f, const assay_type *t, const json_t *entry)
{
    char text[400], elem[8];
    int n = snprintf(text, sizeof text, "%s ", assay_elem_print(t->elem, elem));
    assay_shape_print(t, text + n, sizeof text - (size_t)n);
    report_put_fact(f, "type", text);
    if (t->q.granularity == ASSAY_Q_TENSOR) {
        snprintf(text, sizeof text, "%.9g, zero point %d", (double)t->q.scale[0],
                 (int)t->q.zero_point[0]);
        report_put_fact(f, "scale", text);
    } else if (t->q.granularity != ASSAY_Q_NONE) {
        snprintf(text, sizeof text, "%zu along axis %d, from %.6g", t->q.count, t->q.axis,
                 (double)(t->q.count ? t->q.scale[0] : 0));
        report_put_fact(f, "scales", text);
    }
    if (*report_text(entry, "layout"))
        report_put_fact(f, "layout", report_text(entry, "layout"));
    report_put_fact(f, "digest", report_text(entry, "xxh3"));
}

static void put_counts(FILE *f, const report_look *l)
{
    const double all = (double)(l->elements > 0 ? l->elements : 1);
    const assay_type *t = &l->tensor->type;
    char text[300];
    double scale;
    int32_t zero_point;
    int n = snprintf(text, sizeof text, "%.9g to %.9g", l->min, l->max);

    if (report_look_scale(t, &scale, &zero_point) && t->elem.kind == ASSAY_KIND_INT)
        snprintf(text + n, sizeof text - (size_t)n, ", as reals %.6g to %.6g",
                 scale * (l->min - zero_point), scale * (l->max - zero_point));
    report_put_fact(f, report_look_is_codes(t) ? "codes" : "values", text);
    n = snprintf(text, sizeof text, "%" PRId64 " in %d sample%s; zero %.3g %%", l->elements,
                 l->samples, page_plural(l->samples), 100 * (double)l->zeros / all);
    if (t->elem.kind == ASSAY_KIND_INT && t->q.granularity != ASSAY_Q_NONE)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ", at the least code %.3g %%, at the greatest %.3g %%",
                      100 * (double)l->low / all, 100 * (double)l->high / all);
    if (l->nan || l->infinite)
        snprintf(text + n, sizeof text - (size_t)n, ", NaN %" PRId64 ", infinite %" PRId64, l->nan,
                 l->infinite);
    report_put_fact(f, "elements", text);
}

/* ---- the histogram ---- */

/* What stands at the ends of the axis: all codes of small types, else what there is. */
typedef struct axis {
    double lo, hi, top;
} axis;

static axis axis_of(const report_look *l)
{
    const assay_elem e = l->tensor->type.elem;
    axis a = {l->left, l->left + l->n_bins * l->step, 1};
    if (e.kind == ASSAY_KIND_INT && e.bits <= 8 && l->tensor->type.q.granularity != ASSAY_Q_NONE) {
        a.lo = (double)assay_elem_min(e);
        a.hi = (double)assay_elem_max(e) + 1;
    }
    for (int i = 0; i < l->n_bins; i++)
        a.top = fmax(a.top, log10(1 + (double)l->bin[i]));
    return a;
}

static double x_of(const axis *a, double at)
{
    return LEFT + PLOT * (at - a->lo) / (a->hi - a->lo);
}

static void put_bars(FILE *f, const report_look *l, const axis *a)
{
    fputs("<path fill=\"#1f5fa8\" d=\"", f);
    for (int i = 0; i < l->n_bins; i++) {
        const double from = l->left + i * l->step;
        if (l->bin[i] > 0)
            fprintf(f, "M%.2f %.0fV%.1fH%.2fV%.0fZ", x_of(a, from), CURVE + 6,
                    CURVE + 6 - CURVE * log10(1 + (double)l->bin[i]) / a->top,
                    x_of(a, from + l->step), CURVE + 6);
    }
    fputs("\"/>\n", f);
}

static void put_tick(FILE *f, const axis *a, double at, const char *anchor, const assay_type *t)
{
    double scale;
    int32_t zero_point;
    fprintf(f,
            "<path stroke=\"#333\" d=\"M%.1f %.0fv5\"/><text x=\"%.1f\" y=\"%.0f\" "
            "text-anchor=\"%s\">%.6g</text>",
            x_of(a, at), CURVE + 6, x_of(a, at), CURVE + 22, anchor, at);
    if (report_look_scale(t, &scale, &zero_point) && t->elem.kind == ASSAY_KIND_INT)
        fprintf(f, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"%s\" fill=\"#555\">%.4g</text>",
                x_of(a, at), CURVE + 35, anchor, scale * (at - zero_point));
    fputc('\n', f);
}

static void put_histogram(FILE *f, const report_look *l)
{
    const assay_type *t = &l->tensor->type;
    const axis a = axis_of(l);
    const double last = report_look_is_codes(t) ? a.hi - 1 : a.hi;
    double scale;
    int32_t zero = 0;

    if (l->n_bins == 0)
        return;
    fprintf(f,
            "<figure><svg width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"10\">\n",
            WIDTH, CURVE + 42, WIDTH, CURVE + 42);
    for (int power = 1; power < a.top; power++)
        fprintf(f,
                "<path stroke=\"#ccc\" d=\"M%.0f %.1fh%.0f\"/><text x=\"%.0f\" y=\"%.1f\" "
                "text-anchor=\"end\" fill=\"#555\">1e%d</text>\n",
                LEFT, CURVE + 6 - CURVE * power / a.top, PLOT, LEFT - 4,
                CURVE + 9 - CURVE * power / a.top, power);
    put_bars(f, l, &a);
    fprintf(f, "<path stroke=\"#333\" d=\"M%.0f %.0fh%.0f\"/>\n", LEFT, CURVE + 6, PLOT);
    put_tick(f, &a, a.lo, "start", t);
    if (last > a.lo)
        put_tick(f, &a, last, "end", t);
    report_look_scale(t, &scale, &zero);
    if (x_of(&a, zero) > LEFT + APART && x_of(&a, zero) < LEFT + PLOT - APART)
        put_tick(f, &a, zero, "middle", t);
    fprintf(f, "</svg><figcaption>elements by %s, counts logarithmic%s</figcaption></figure>\n",
            report_look_is_codes(t) ? "code" : "value",
            t->q.granularity == ASSAY_Q_TENSOR ? "; below, the real values" : "");
}

/* ---- the picture ---- */

/* Blue below zero, grey at it, orange above; 0, between planes, as the middle. */
static void make_palette(uint8_t colour[256][3])
{
    static const double ends[2][3] = {{20, 110, 255}, {255, 140, 0}};
    for (int i = 0; i < 256; i++) {
        const double far = i == 0 ? 0 : fabs(i - 128.0) / 127;
        for (int k = 0; k < 3; k++)
            colour[i][k] = (uint8_t)(i == 0 ? 128 : 40 + (ends[i > 128][k] - 40) * fmin(far, 1));
    }
}

static void put_picture(FILE *f, const report_look *l)
{
    uint8_t colour[256][3];
    if (!l->pixel)
        return;
    make_palette(colour);
    int larger = 1;
    while (larger < 8 && l->width * (larger + 1) <= 1060 && l->height * (larger + 1) <= 160)
        larger++;
    fprintf(f, "<figure><img alt=\"planes of the tensor\" width=\"%d\" height=\"%d\" src=\"",
            l->width * larger, l->height * larger);
    page_bitmap_indexed(f, l->width, l->height, l->pixel, (const uint8_t(*)[3])colour);
    fprintf(f,
            "\"><figcaption>%d of %" PRId64 " planes of %" PRId64 " x %" PRId64
            " of the first sample",
            l->shown, l->planes.n, l->planes.height, l->planes.width);
    if (l->every > 1)
        fprintf(f, ", every %d%s element", l->every,
                l->every == 2   ? "nd"
                : l->every == 3 ? "rd"
                                : "th");
    fputs("; dark: zero, orange: above, blue: below</figcaption></figure>\n", f);
}

/* ---- what a profile saw ---- */

static void put_profiled(FILE *f, const report *r, const report_look *l)
{
    const assay_type *t = &l->tensor->type;
    const assay_profile_entry *e = report_find_profiled(r, l->tensor->name);
    double scale;
    int32_t zero_point;
    if (!e || e->seen.finite == 0 || t->elem.kind != ASSAY_KIND_INT ||
        !report_look_scale(t, &scale, &zero_point))
        return;
    report_profile_view v = {.name = l->tensor->name, .channel = -1, .seen = &e->seen};
    v.lo = scale * (double)(assay_elem_min(t->elem) - zero_point);
    v.hi = scale * (double)(assay_elem_max(t->elem) - zero_point);
    v.left = fmin((double)e->seen.min, v.lo);
    v.right = fmax((double)e->seen.max, v.hi);
    fputs("<figure><div class=\"plot\">", f);
    report_profile_plot(f, &v);
    fprintf(f,
            "</div><figcaption>as profiled in floats: %" PRIu64 " elements in [%.6g, %.6g]; the "
            "codes represent [%.6g, %.6g]</figcaption></figure>\n",
            e->seen.finite, (double)e->seen.min, (double)e->seen.max, v.lo, v.hi);
}

/* ---- its node ---- */

static void put_integers(FILE *f, const json_t *list)
{
    const size_t n = json_array_size(list);
    json_int_t lo = 0, hi = 0;
    for (size_t i = 0; i < n; i++) {
        const json_int_t v = json_integer_value(json_array_get(list, i));
        lo = i == 0 || v < lo ? v : lo;
        hi = i == 0 || v > hi ? v : hi;
        if (i < VALUES)
            fprintf(f, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "", v);
    }
    if (n > VALUES)
        fprintf(f,
                ", \xe2\x80\xa6 (%zu, from %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT ")",
                n, lo, hi);
}

static void put_names(FILE *f, const report *r, const char *term, const json_t *list)
{
    fprintf(f, "<dt>%s</dt><dd>", term);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        fputs(i ? ", " : "", f);
        if (name)
            report_put_name(f, r, name);
    }
    fputs("</dd>\n", f);
}

static void put_node(FILE *f, const report *r, const report_node *node)
{
    json_t *parameters = json_object_get(node->json, "parameters"), *list;
    const char *name;
    fputs("<dl>\n", f);
    report_put_fact(f, "node", node->name);
    put_names(f, r, "of", json_object_get(node->json, "inputs"));
    json_object_foreach(parameters, name, list)
    {
        page_html_put(f, "<dt>", name, "</dt><dd>");
        const char *file = json_string_value(json_object_get(list, "file"));
        if (file)
            page_html_put(f, "in ", file, "");
        else
            put_integers(f, list);
        fputs("</dd>\n", f);
    }
    fputs("</dl>\n", f);
}

void report_put_tensor(FILE *f, const report *r, const report_chapter *c, int look)
{
    const report_look *l = &c->look[look];
    fprintf(f, "<article id=\"c%dt%d\">", c->number, look);
    fprintf(f, "<h4>#%d ", l->tensor->index);
    page_html_put(f, "", l->tensor->name, " <span class=\"quiet\">");
    page_html_put(f, "", l->tensor->op ? l->tensor->op : "", "</span></h4>\n<dl>\n");
    put_type(f, &l->tensor->type, entry_of(c, l));
    if (l->has_data)
        put_counts(f, l);
    fputs("</dl>\n", f);
    put_histogram(f, l);
    put_picture(f, l);
    put_profiled(f, r, l);
    for (int i = 0; i < c->n_nodes; i++)
        if (c->node[i].look == look)
            put_node(f, r, &c->node[i]);
    fputs("</article>\n", f);
}
