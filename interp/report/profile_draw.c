/* Drawings of a profile's histograms; see profile_draw.h. */
#include "interp/report/profile_draw.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "interp/page/html.h"
#include "interp/page/utf8.h"
#include "interp/page/xml.h"

#define WIDTH  1000.0
#define LEFT   40.0 /* counts stand there */
#define RIGHT  12.0
#define PLOT   (WIDTH - LEFT - RIGHT)
#define TEXT   34.0 /* room for a panel's two lines of text */
#define CURVE  90.0
#define PANEL  150.0
#define HEADER 34.0
#define LETTER 6.2 /* of a number of the axis */
#define APART  8.0 /* between two of these at least */
#define BRIEF  110 /* characters of a name above a panel */

/* What a panel shows from left to right, and its greatest count. */
typedef struct frame {
    double lo, hi, top;
} frame;

static frame frame_of(const report_profile_view *v)
{
    frame r = {v->left, v->right, 1};
    const double margin = 0.01 * (r.hi - r.lo > 0 ? r.hi - r.lo : 1);
    int first, end;
    profile_histogram_extent(v->seen, &first, &end);
    for (int i = first; i < end; i++)
        r.top = fmax(r.top, log10(1 + (double)*profile_histogram_at(v->seen, i)));
    r.lo -= margin;
    r.hi += margin;
    return r;
}

static double x_of(const frame *r, double real)
{
    return LEFT + PLOT * (fmin(fmax(real, r->lo), r->hi) - r->lo) / (r->hi - r->lo);
}

/* The outline: a step a bin, back to the axis where the next bin is empty. */
static void put_bins(FILE *f, const assay_histogram *h, const frame *r, double axis)
{
    bool open = false;
    int first, end;
    profile_histogram_extent(h, &first, &end);
    fputs("<path fill=\"#1f5fa8\" d=\"", f);
    for (int i = first; i < end; i++) {
        const uint64_t count = *profile_histogram_at(h, i);
        double lo, hi;
        profile_histogram_edges(h, i, &lo, &hi);
        if (count > 0 && !open)
            fprintf(f, "M%.3f %.1f", x_of(r, lo), axis);
        if (count > 0)
            fprintf(f, "V%.1fH%.3f", axis - CURVE * log10(1 + (double)count) / r->top, x_of(r, hi));
        if (count == 0 && open)
            fprintf(f, "V%.1fZ", axis);
        open = count > 0;
    }
    if (open)
        fprintf(f, "V%.1fZ", axis);
    fputs("\"/>\n", f);
}

/* Counts at the left, a line a power of ten. */
static void put_counts(FILE *f, const frame *r, double axis)
{
    for (int power = 1; power<r->top; power += r->top> 6 ? 2 : 1)
        fprintf(f,
                "<path stroke=\"#999\" stroke-dasharray=\"1 5\" d=\"M%.1f %.1fH%.1f\"/><text "
                "x=\"%.1f\" y=\"%.1f\" font-size=\"9\" fill=\"#555\" "
                "text-anchor=\"end\">1e%d</text>\n",
                LEFT, axis - CURVE * power / r->top, LEFT + PLOT, LEFT - 4,
                axis - CURVE * power / r->top + 3, power);
}

/* A number of the axis: its text, which lies within the plot, and where that begins and ends. */
typedef struct number {
    char text[32];
    const char *anchor;
    double x, begin, end;
} number;

static number number_of(const frame *r, double real)
{
    number t = {.anchor = "middle", .x = x_of(r, real)};
    const double wide = LETTER * snprintf(t.text, sizeof t.text, "%.5g", real);
    t.begin = t.x - wide / 2;
    if (t.begin < LEFT) {
        t.anchor = "start";
        t.begin = t.x;
    } else if (t.begin + wide > LEFT + PLOT) {
        t.anchor = "end";
        t.begin = t.x - wide;
    }
    t.end = t.begin + wide;
    return t;
}

static bool is_clear(const frame *r, double a, double b)
{
    const number s = number_of(r, a), t = number_of(r, b);
    return s.end + APART <= t.begin || t.end + APART <= s.begin;
}

static void put_tick(FILE *f, const frame *r, double real, double axis, const char *colour)
{
    const number t = number_of(r, real);
    fprintf(f,
            "<path stroke=\"%s\" d=\"M%.2f %.1fv6\"/><text x=\"%.2f\" y=\"%.1f\" fill=\"%s\" "
            "text-anchor=\"%s\">%s</text>\n",
            colour, t.x, axis, t.x, axis + 16, colour, t.anchor, t.text);
}

/* The name; of a long one the beginning and the end, when it is to be `brief`. */
static void put_name(FILE *f, const report_profile_view *v, bool brief)
{
    const size_t length = strlen(v->name);
    char text[BRIEF + 4];
    if (brief && length > BRIEF) {
        const size_t last = BRIEF / 3, first = BRIEF - last - 5;
        const size_t begin = page_utf8_cut(v->name, first);
        const size_t end = page_utf8_cut(v->name, length - last);
        snprintf(text, sizeof text, "%.*s ... %s", (int)begin, v->name, v->name + end);
        page_xml_text(f, text);
    } else {
        page_xml_text(f, v->name);
    }
    if (v->channel >= 0)
        fprintf(f, ", channel %d", v->channel);
}

/* What was seen and what codes make of it, in words. */
static void put_words(FILE *f, const report_profile_view *v)
{
    const assay_histogram *h = v->seen;
    char elem[8];

    fprintf(f, "seen [%.6g, %.6g], %" PRIu64 " elements", (double)h->min, (double)h->max,
            h->finite);
    if (h->nan || h->inf)
        fprintf(f, ", %" PRIu64 " NaN, %" PRIu64 " infinite", h->nan, h->inf);
    fprintf(f,
            ", tallest bin %.0f; %s %s: scale %.6g, zero point %d, represents [%.6g, %.6g], "
            "%.3g %% beyond the calibrated range",
            pow(10, frame_of(v).top) - 1, assay_elem_print(v->elem, elem),
            calibrate_name(v->range.used), (double)v->scale, v->zero_point, v->lo, v->hi,
            100 * v->range.clipped);
}

/* The least of 1, 2, 5 times a power of ten that parts a range into at most 10. */
static double round_step(double range)
{
    const double power = pow(10, floor(log10(range / 10)));
    for (int k = 0; k < 3; k++) {
        static const int of[] = {1, 2, 5};
        if (range / (of[k] * power) <= 10)
            return of[k] * power;
    }
    return 10 * power;
}

/* Round numbers along the axis, those that stand clear of its ends' numbers. */
static void put_ticks(FILE *f, const frame *r, const double *ends, int n, double axis)
{
    const double step = r->hi > r->lo ? round_step(r->hi - r->lo) : 0;
    for (double k = ceil(r->lo / step); step > 0 && k * step <= r->hi; k++) {
        bool clear = true;
        for (int i = 0; i < n; i++)
            clear = clear && is_clear(r, ends[i], k * step);
        if (clear)
            put_tick(f, r, k * step, axis, "#333");
    }
}

/* The histogram with its axes; `y` is where the counts end. */
static void put_plot(FILE *f, const report_profile_view *v, double y)
{
    const assay_histogram *h = v->seen;
    const double axis = y + CURVE;
    const frame r = frame_of(v);
    double ends[4] = {v->lo, v->hi};
    int n = 2;

    fprintf(f,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"#d9ecd0\">"
            "<title>what the codes represent</title></rect>\n",
            x_of(&r, v->lo), y, x_of(&r, v->hi) - x_of(&r, v->lo), CURVE);
    put_bins(f, h, &r, axis);
    put_counts(f, &r, axis);
    fprintf(f, "<path stroke=\"#333\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, axis, LEFT + PLOT);
    put_tick(f, &r, v->lo, axis, "#3a7d1e");
    put_tick(f, &r, v->hi, axis, "#3a7d1e");
    if ((double)h->max > v->hi && is_clear(&r, (double)h->max, v->hi))
        put_tick(f, &r, ends[n++] = (double)h->max, axis, "#1f5fa8");
    if ((double)h->min < v->lo && is_clear(&r, (double)h->min, v->lo))
        put_tick(f, &r, ends[n++] = (double)h->min, axis, "#1f5fa8");
    put_ticks(f, &r, ends, n, axis);
}

static void put_panel(FILE *f, const report_profile_view *v, double y)
{
    fprintf(f, "<text x=\"%.0f\" y=\"%.0f\" font-weight=\"bold\">", RIGHT, y + 12);
    put_name(f, v, true);
    if (strlen(v->name) > BRIEF) {
        fputs("<title>", f);
        page_xml_text(f, v->name);
        fputs("</title>", f);
    }
    fprintf(f, "</text>\n<text x=\"%.0f\" y=\"%.0f\" fill=\"#555\">", RIGHT, y + 27);
    put_words(f, v);
    fputs("</text>\n", f);
    put_plot(f, v, y + TEXT);
}

static void begin_svg(FILE *f, double height)
{
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height);
}

void report_profile_svg(FILE *f, const char *title, const report_profile_view *v, int n)
{
    begin_svg(f, HEADER + PANEL * n);
    fprintf(f, "<text x=\"%.0f\" y=\"22\" font-size=\"15\">", RIGHT);
    page_xml_text(f, title);
    fputs("<tspan dx=\"16\" font-size=\"11\" fill=\"#555\">blue: how often each real value was "
          "seen, logarithmic; green: what the codes represent</tspan></text>\n",
          f);
    for (int i = 0; i < n; i++)
        put_panel(f, &v[i], HEADER + PANEL * i);
    fputs("</svg>\n", f);
}

static const char style[] =
    "body{margin:1em auto;padding:0 12px;max-width:1040px}"
    "h1,h3,p{overflow-wrap:anywhere}h3{font-size:13px;margin:1.5em 0 2px}"
    ".seen{font-size:12px;color:var(--quiet);margin:0 0 4px}"
    "td:nth-child(2),th:nth-child(2){text-align:left}"
    "div{overflow-x:auto}svg{width:100%;min-width:700px;height:auto;display:block}";

void report_profile_table(FILE *f, const char *prefix, const report_profile_view *v, int n)
{
    char elem[8];

    fputs("<div class=\"wide\"><table><tr><th aria-sort=\"ascending\">#</th><th>value</th>"
          "<th>min</th><th>max</th><th>elements</th><th>NaN</th><th>inf</th><th>type</th>"
          "<th>scale</th><th>zero point</th><th>from</th><th>to</th><th>beyond, %</th></tr>\n",
          f);
    for (int i = 0; i < n; i++) {
        const assay_histogram *h = v[i].seen;
        fprintf(f, "<tr><td>%d</td><td><a href=\"#%s%d\">", i, prefix, i);
        put_name(f, &v[i], false);
        fprintf(f,
                "</a></td><td>%.6g</td><td>%.6g</td><td>%" PRIu64 "</td><td>%" PRIu64
                "</td><td>%" PRIu64 "</td><td>%s</td><td>%.6g</td><td>%d</td><td>%.6g</td>"
                "<td>%.6g</td><td>%.3g</td></tr>\n",
                (double)h->min, (double)h->max, h->finite, h->nan, h->inf,
                assay_elem_print(v[i].elem, elem), (double)v[i].scale, v[i].zero_point, v[i].lo,
                v[i].hi, 100 * v[i].range.clipped);
    }
    fputs("</table></div>\n", f);
}

void report_profile_plot(FILE *f, const report_profile_view *v)
{
    begin_svg(f, PANEL - TEXT);
    put_plot(f, v, 6);
    fputs("</svg>", f);
}

void report_profile_plots(FILE *f, const char *prefix, const report_profile_view *v, int n)
{
    for (int i = 0; i < n; i++) {
        fprintf(f, "<h3 id=\"%s%d\">", prefix, i);
        put_name(f, &v[i], false);
        fputs("</h3><p class=\"seen\">", f);
        put_words(f, &v[i]);
        fputs("</p><div class=\"plot\">", f);
        report_profile_plot(f, &v[i]);
        fputs("</div>\n", f);
    }
}

void report_profile_html(FILE *f, const char *title, const report_profile_view *v, int n)
{
    page_html_begin(f, title, style);
    page_html_put(f, "<h1>", title, "</h1>\n");
    fputs("<p>Values in the order of execution. " REPORT_PROFILE_LEGEND
          " A click on a column's head sorts by it.</p>\n",
          f);
    report_profile_table(f, "v", v, n);
    report_profile_plots(f, "v", v, n);
    page_html_sorting(f);
    page_html_end(f);
}
