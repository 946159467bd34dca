/* Chapters of what commands measured: eval, run, sensitivity, diff, blame. */
#include <string.h>

#include "interp/page/html.h"
#include "interp/page/xml.h"
#include "interp/report/page.h"

/* A member as a fact, where it is there. */
static void put_member(FILE *f, const json_t *o, const char *key, const char *term,
                       const char *unit)
{
    const json_t *v = json_object_get(o, key);
    char text[80];
    if (json_is_string(v))
        report_put_fact(f, term, json_string_value(v));
    if (!json_is_number(v))
        return;
    snprintf(text, sizeof text, json_is_integer(v) ? "%.0f%s" : "%.6g%s", json_number_value(v),
             unit);
    report_put_fact(f, term, text);
}

/* ---- eval ---- */

/* A share as a bar. */
static void put_share(FILE *f, double share)
{
    fprintf(f,
            "<td><svg width=\"220\" height=\"12\"><rect width=\"220\" height=\"12\" "
            "style=\"fill:var(--line)\"/><rect width=\"%.1f\" height=\"12\" "
            "fill=\"#1f5fa8\"/></svg></td>",
            share > 0 ? share < 1 ? 220 * share : 220 : 0);
}

static void put_percent(FILE *f, const json_t *o, const char *key, const char *term)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_number(v))
        return;
    fprintf(f, "<tr><td>%s</td>", term);
    put_share(f, json_number_value(v) / 100);
    fprintf(f, "<td>%.4f %%</td></tr>\n", json_number_value(v));
}

/* Columns behind the share, those that rows have: labels by pixel have "iou". */
static const report_column by_class[] = {{"samples", "of"},
                                         {"right", "right"},
                                         {"float_right", "right in float"},
                                         {"answered", "answered"},
                                         {"iou", "IoU, %"}};
enum { BY_CLASS = sizeof by_class / sizeof *by_class };

static void put_class(FILE *f, const json_t *row)
{
    const double samples = json_number_value(json_object_get(row, "samples"));
    const double right = json_number_value(json_object_get(row, "right"));
    fputs("<tr>", f);
    report_put_cell(f, json_object_get(row, "class"));
    put_share(f, samples > 0 ? right / samples : 0);
    fprintf(f, samples > 0 ? "<td>%.2f</td>" : "<td></td>", 100 * right / samples);
    for (int k = 0; k < BY_CLASS; k++)
        if (json_object_get(row, by_class[k].key))
            report_put_cell(f, json_object_get(row, by_class[k].key));
    fputs("</tr>\n", f);
}

static void put_classes(FILE *f, const json_t *rows)
{
    fputs("<h3>By class</h3>\n<div class=\"wide\"><table><thead><tr>"
          "<th aria-sort=\"ascending\">class</th><th></th><th>right, %</th>",
          f);
    for (int k = 0; k < BY_CLASS; k++)
        if (json_object_get(json_array_get(rows, 0), by_class[k].key))
            fprintf(f, "<th>%s</th>", by_class[k].head);
    fputs("</tr></thead><tbody>\n", f);
    for (size_t i = 0; i < json_array_size(rows); i++)
        put_class(f, json_array_get(rows, i));
    fputs("</tbody></table></div>\n", f);
}

void report_put_eval(FILE *f, const json_t *o)
{
    fputs("<dl>\n", f);
    put_member(f, o, "scheme", "scheme", "");
    put_member(f, o, "samples", "samples", "");
    put_member(f, o, "outputs", "digest of the outputs", "");
    put_member(f, o, "sqnr_db", "outputs against float", " dB");
    put_member(f, o, "mse", "mean squared error", "");
    fputs("</dl>\n<table class=\"bars\"><tbody>\n", f);
    put_percent(f, o, "float_top1", "top-1, float");
    put_percent(f, o, "top1", "top-1");
    put_percent(f, o, "float_top5", "top-5, float");
    put_percent(f, o, "top5", "top-5");
    put_percent(f, o, "float_mean_iou", "mean IoU, float");
    put_percent(f, o, "mean_iou", "mean IoU");
    put_percent(f, o, "float_pixel_top1", "pixels, float");
    put_percent(f, o, "pixel_top1", "pixels");
    put_percent(f, o, "float_token_top1", "next tokens, float");
    put_percent(f, o, "token_top1", "next tokens");
    put_percent(f, o, "agreement", "same answer as float");
    fputs("</tbody></table>\n", f);
    if (json_array_size(json_object_get(o, "classes")) > 0)
        put_classes(f, json_object_get(o, "classes"));
}

/* ---- run ---- */

void report_put_run(FILE *f, const report *r, const report_chapter *c)
{
    static const report_column column[] = {
        {"node", "node"}, {"op", "op"}, {"ms", "ms"}, {"share", "share"}};
    static const report_column line[] = {{"ms", "time"}};
    fputs("<dl>\n", f);
    put_member(f, c->source.json, "engine", "engine", "");
    put_member(f, c->source.json, "samples", "samples, of which the fastest", "");
    put_member(f, c->source.json, "ms", "all nodes", " ms");
    fputs("</dl>\n", f);
    report_put_lines(f, c->source.rows, "value", "ms", line, 1);
    report_put_table(f, r, c->source.rows, "value", column, sizeof column / sizeof *column);
}

/* ---- sensitivity ---- */

void report_put_sensitivity(FILE *f, const report *r, const report_chapter *c)
{
    static const report_column column[] = {{"op", "op"},
                                           {"type", "type"},
                                           {"isolated_db", "isolated, dB"},
                                           {"cumulative_db", "in place, dB"},
                                           {"alone_db", "output if only it is integer, dB"},
                                           {"alone_drop", "drop"},
                                           {"without_db", "output if only it is float, dB"},
                                           {"without_drop", "drop"}};
    static const report_column line[] = {{"isolated_db", "its own quantization alone"},
                                         {"cumulative_db", "in place, with all before it"},
                                         {"alone_db", "the output, if only it is integer"}};
    fputs("<dl>\n", f);
    put_member(f, c->source.json, "samples", "samples", "");
    put_member(f, c->source.json, "output_db", "the whole: output", " dB");
    put_member(f, c->source.json, "output_mse", "mean squared error", "");
    put_member(f, c->source.json, "drop", "drop", " points");
    put_member(f, c->source.json, "drop_of", "of", "");
    fputs("</dl>\n", f);
    report_put_lines(f, c->source.rows, "value", "signal to quantization noise, dB", line, 3);
    report_put_table(f, r, c->source.rows, "value", column, sizeof column / sizeof *column);
}

/* ---- diff ---- */

void report_put_diff(FILE *f, const report *r, const report_chapter *c)
{
    static const report_column column[] = {{"op", "op"},
                                           {"sample", "sample"},
                                           {"verdict", "verdict"},
                                           {"elements", "elements"},
                                           {"mismatches", "mismatches"},
                                           {"max_lsb", "max LSB"},
                                           {"max_abs", "max abs"},
                                           {"max_rel", "max rel"},
                                           {"cosine", "cosine"},
                                           {"sqnr_db", "SQNR, dB"}};
    static const report_column element[] = {{"at", "at"}, {"a", "first"}, {"b", "second"}};
    static const report_column line[] = {{"sqnr_db", "SQNR"}};
    fputs("<dl>\n", f);
    put_member(f, c->source.json, "verdict", "verdict", "");
    put_member(f, c->source.json, "compared", "tensors compared", "");
    put_member(f, c->source.json, "different", "of these different", "");
    put_member(f, c->source.json, "first", "first in execution order", "");
    fputs("</dl>\n", f);
    report_put_lines(f, c->source.rows, "name", "dB", line, 1);
    report_put_table(f, r, c->source.rows, "name", column, sizeof column / sizeof *column);
    if (json_array_size(json_object_get(c->source.json, "elements")) > 0) {
        fputs("<h3>Elements that differ</h3>\n", f);
        report_put_table(f, r, json_object_get(c->source.json, "elements"), "tensor", element, 3);
    }
}

/* ---- blame ---- */

/* The detail; of one that was said before, where. */
static void put_detail(FILE *f, const json_t *faults, size_t i)
{
    const char *detail = report_text(json_array_get(faults, i), "detail");
    for (size_t k = 0; k < i; k++) {
        const json_t *before = json_array_get(faults, k);
        if (strcmp(report_text(before, "detail"), detail) != 0)
            continue;
        fprintf(f, "<p>the same as #%" JSON_INTEGER_FORMAT "</p>\n",
                json_integer_value(json_object_get(before, "index")));
        return;
    }
    page_html_put(f, "<p>", detail, "</p>\n");
}

static void put_fault(FILE *f, const report *r, const json_t *faults, size_t i)
{
    const json_t *fault = json_array_get(faults, i);
    fprintf(f, "<h3>#%" JSON_INTEGER_FORMAT " ",
            json_integer_value(json_object_get(fault, "index")));
    report_put_name(f, r, report_text(fault, "name"));
    page_html_put(f, ": ", report_text(fault, "class"), "</h3>\n");
    put_detail(f, faults, i);
    fputs("<dl>\n", f);
    put_member(f, fault, "node", "node", "");
    put_member(f, fault, "op", "op", "");
    put_member(f, fault, "elements", "elements", "");
    put_member(f, fault, "differing", "of these different", "");
    put_member(f, fault, "explained", "explained, share", "");
    put_member(f, fault, "sample", "one of them", "");
    fputs("</dl>\n", f);
}

void report_put_blame(FILE *f, const report *r, const report_chapter *c)
{
    static const report_column column[] = {{"node", "node"},
                                           {"op", "op"},
                                           {"verdict", "verdict"},
                                           {"differing_cumulative", "differ"},
                                           {"differing_isolated", "of its own"},
                                           {"cumulative_db", "SQNR, dB"},
                                           {"isolated_db", "of its own, dB"}};
    static const report_column line[] = {{"isolated_db", "of its own, from the device's inputs"},
                                         {"cumulative_db", "against the golden tensor"}};
    const json_t *faults = json_object_get(c->source.json, "faults");
    fprintf(f, "<p>%zu at fault%s</p>\n", json_array_size(faults),
            json_array_size(faults) ? ", the most upstream first" : "");
    for (size_t i = 0; i < json_array_size(faults); i++)
        put_fault(f, r, faults, i);
    fputs("<h3>All nodes</h3>\n", f);
    report_put_lines(f, c->source.rows, "name",
                     "the device's signal to noise, dB (none: equal, or not dumped)", line, 2);
    report_put_table(f, r, c->source.rows, "name", column, sizeof column / sizeof *column);
}
