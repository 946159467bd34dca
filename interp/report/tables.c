/* Tables and charts of a report's page. */
#include <math.h>
#include <string.h>

#include "interp/page/html.h"
#include "interp/page/xml.h"
#include "interp/report/page.h"

#define WIDTH  760.0
#define HEIGHT 200.0
#define LEFT   46.0
#define TOP    8.0
#define PLOT   (WIDTH - LEFT - 12)
enum { LINES = 4 };

void report_put_name(FILE *f, const report *r, const char *name)
{
    int look;
    const report_chapter *c = report_find_tensor(r, name, &look);
    if (c)
        fprintf(f, "<a href=\"#c%dt%d\">", c->number, look);
    page_xml_text(f, name);
    fputs(c ? "</a>" : "", f);
}

/* ---- tables ---- */

void report_put_cell(FILE *f, const json_t *value)
{
    size_t i;
    json_t *part;
    if (json_is_string(value))
        return page_html_put(f, "<td class=\"word\">", json_string_value(value), "</td>");
    fputs("<td>", f);
    if (json_is_integer(value))
        fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(f, "%.6g", json_real_value(value));
    json_array_foreach((json_t *)value, i, part)
    {
        fprintf(f, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "", json_integer_value(part));
    }
    fputs("</td>", f);
}

static bool is_text(const json_t *rows, const char *key)
{
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)rows, i, row)
    {
        if (json_is_string(json_object_get(row, key)))
            return true;
    }
    return false;
}

void report_put_table(FILE *f, const report *r, const json_t *rows, const char *name,
                      const report_column *column, int n)
{
    size_t i;
    json_t *row;
    fputs("<div class=\"wide\"><table><thead><tr><th aria-sort=\"ascending\">#</th>"
          "<th>tensor</th>",
          f);
    for (int k = 0; k < n; k++)
        fprintf(f, "<th%s>%s</th>", is_text(rows, column[k].key) ? " class=\"word\"" : "",
                column[k].head);
    fputs("</tr></thead><tbody>\n", f);
    json_array_foreach((json_t *)rows, i, row)
    {
        fprintf(f, "<tr><td>%zu</td><td>", i);
        report_put_name(f, r, report_text(row, name));
        fputs("</td>", f);
        for (int k = 0; k < n; k++)
            report_put_cell(f, json_object_get(row, column[k].key));
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
}

/* ---- lines ---- */

/* A chart's numbers: rows from left to right, from `lo` at the bottom to `hi`. */
typedef struct chart {
    const json_t *rows;
    double lo, hi, step;
} chart;

/* The least of 1, 2, 5 times a power of ten that parts a range into at most 5. */
static double round_step(double range)
{
    double step = pow(10, floor(log10(range / 5)));
    for (int k = 0; range / step > 5; k++)
        step *= k % 3 == 1 ? 2.5 : 2;
    return step;
}

static bool measure(chart *c, const report_column *column, int n)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < json_array_size(c->rows); i++)
        for (int k = 0; k < n; k++) {
            const json_t *v = json_object_get(json_array_get(c->rows, i), column[k].key);
            if (!json_is_number(v))
                continue;
            lo = fmin(lo, json_number_value(v));
            hi = fmax(hi, json_number_value(v));
        }
    if (!(lo <= hi))
        return false;
    lo = fmin(lo, 0);
    hi = fmax(hi, lo + 1e-9);
    c->step = round_step(hi - lo);
    c->lo = floor(lo / c->step) * c->step;
    c->hi = ceil(hi / c->step) * c->step;
    return true;
}

static double x_of(const chart *c, size_t i)
{
    return LEFT + PLOT * ((double)i + 0.5) / (double)json_array_size(c->rows);
}

static double y_of(const chart *c, double v)
{
    return TOP + HEIGHT * (c->hi - v) / (c->hi - c->lo);
}

static void put_axes(FILE *f, const chart *c)
{
    const size_t n = json_array_size(c->rows), every = n / 25 + 1;
    for (int k = 0; k <= (int)((c->hi - c->lo) / c->step + 0.5); k++) {
        const double v = c->lo + k * c->step;
        fprintf(f,
                "<path stroke=\"#ccc\" d=\"M%.0f %.1fh%.0f\"/><text x=\"%.0f\" y=\"%.1f\" "
                "text-anchor=\"end\" fill=\"#555\">%.4g</text>\n",
                LEFT, y_of(c, v), PLOT, LEFT - 5, y_of(c, v) + 3.5, fabs(v) < 1e-12 ? 0 : v);
    }
    for (size_t i = 0; i < n; i += every)
        fprintf(f, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"#555\">%zu</text>\n",
                x_of(c, i), TOP + HEIGHT + 14, i);
}

/* A line from row to row, broken where a row has no number; a dot with its name each. */
static void put_line(FILE *f, const chart *c, const char *name, const report_column *column, int k)
{
    bool open = false;
    fprintf(f, "<path class=\"line l%d\" d=\"", k);
    for (size_t i = 0; i < json_array_size(c->rows); i++) {
        const json_t *v = json_object_get(json_array_get(c->rows, i), column->key);
        if (json_is_number(v))
            fprintf(f, "%c%.1f %.1f", open ? 'L' : 'M', x_of(c, i), y_of(c, json_number_value(v)));
        open = json_is_number(v);
    }
    fputs("\"/>\n", f);
    for (size_t i = 0; i < json_array_size(c->rows); i++) {
        const json_t *row = json_array_get(c->rows, i), *v = json_object_get(row, column->key);
        if (!json_is_number(v))
            continue;
        fprintf(f, "<circle class=\"l%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"><title>%zu ", k,
                x_of(c, i), y_of(c, json_number_value(v)), i);
        page_xml_text(f, report_text(row, name));
        fprintf(f, ": %s %.4g</title></circle>\n", column->head, json_number_value(v));
    }
}

void report_put_lines(FILE *f, const json_t *rows, const char *name, const char *unit,
                      const report_column *column, int n)
{
    static const char *const colour[LINES] = {"#1f77b4", "#d9730d", "#2f9e44", "#a855c7"};
    chart c = {.rows = rows};
    if (!measure(&c, column, n))
        return;
    fprintf(f,
            "<figure><div class=\"plot lines\"><svg viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"10\">\n",
            WIDTH, TOP + HEIGHT + 20);
    put_axes(f, &c);
    for (int k = 0; k < n && k < LINES; k++)
        put_line(f, &c, name, &column[k], k);
    fputs("</svg></div><figcaption class=\"key\">", f);
    for (int k = 0; k < n && k < LINES; k++)
        fprintf(f, "<span><b style=\"background:%s\"></b>%s</span>", colour[k], column[k].head);
    fprintf(f, "%s, by the row's number in the table</figcaption></figure>\n", unit);
}
