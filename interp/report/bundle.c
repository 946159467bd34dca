/* The chapter of a golden bundle. */
#include <inttypes.h>
#include <string.h>

#include "interp/page/column.h"
#include "interp/page/html.h"
#include "interp/page/xml.h"
#include "interp/report/measure.h"
#include "interp/report/page.h"

/* ---- what it is ---- */

static void put_facts(FILE *f, const report_chapter *c)
{
    const json_t *m = c->source.bundle->manifest;
    const json_t *contract = json_object_get(m, "contract");
    char text[64];
    int samples = 0;
    for (int i = 0; i < c->n_looks; i++)
        samples = c->look[i].samples > samples ? c->look[i].samples : samples;
    fputs("<dl>\n", f);
    report_put_fact(f, "model", report_text(json_object_get(m, "model"), "file"));
    report_put_fact(f, "scheme",
                    json_is_object(json_object_get(m, "scheme"))
                        ? report_text(json_object_get(m, "scheme"), "name")
                        : "none: floats");
    if (*report_text(contract, "quantized_for"))
        report_put_fact(f, "quantized for", report_text(contract, "quantized_for"));
    snprintf(text, sizeof text, "%d, in %d sample%s", c->n_looks, samples, page_plural(samples));
    report_put_fact(f, "tensors", text);
    report_put_fact(f, "digest", report_text(m, "digest"));
    report_put_fact(f, "Assay version", report_text(m, "assay"));
    fputs("</dl>\n", f);
}

/* "conv 17, fc 1" */
static void put_ops(FILE *f, const json_t *contract, const char *part, const char *what)
{
    json_t *ops = json_object_get(contract, part), *count;
    const char *op, *between = "";
    if (json_object_size(ops) == 0)
        return;
    fprintf(f, "<dt>%s</dt><dd>", what);
    json_object_foreach(ops, op, count)
    {
        page_html_put(f, between, op, "");
        fprintf(f, " %" JSON_INTEGER_FORMAT, json_integer_value(count));
        between = ", ";
    }
    fputs("</dd>\n", f);
}

/* Words of several lines, each a fact. */
static void put_words(FILE *f, const char *term, const char *text)
{
    for (const char *line = text; *line != '\0'; term = "") {
        const size_t n = strcspn(line, "\n");
        char one[1024];
        snprintf(one, sizeof one, "%.*s", (int)n, line);
        report_put_fact(f, term, one);
        line += n + (line[n] == '\n');
    }
}

static void put_contract(FILE *f, const report_chapter *c)
{
    const json_t *contract = json_object_get(c->source.bundle->manifest, "contract");
    const json_t *said = json_object_get(contract, "words"), *why;
    if (!json_is_object(contract))
        return;
    fputs("<h3>Contract</h3>\n<dl>\n", f);
    put_ops(f, contract, "exact", "bit-exact");
    put_ops(f, contract, "not_exact", "not claimed bit-exact");
    put_ops(f, contract, "outside", "outside the scheme's types");
    put_ops(f, contract, "stepped", "by stated steps");
    put_ops(f, contract, "float_exact", "in floats, bit-exact");
    put_ops(f, contract, "float", "in floats, not claimed");
    why = json_object_get(contract, "outside_why");
    for (size_t i = 0; i < json_array_size(why); i++) {
        const char *line = json_string_value(json_array_get(why, i));
        report_put_fact(f, "outside", line ? line : "");
    }
    put_words(f, "the scheme approximates", report_text(said, "approximate"));
    put_words(f, "not modelled", report_text(said, "not_modelled"));
    fputs("</dl>\n", f);
}

/* ---- the table of nodes ---- */

static void put_measures(FILE *f, const report *r, const report_chapter *c, const report_node *node,
                         const bool *says)
{
    char text[64];
    for (int m = 0; m < report_n_measures; m++) {
        if (!says[m])
            continue;
        const int grade = report_measure_of(r, c, node, m, text, sizeof text);
        fprintf(f, "<td class=\"%s", report_measures[m].scale == REPORT_WORDS ? "word" : "");
        if (grade >= 0)
            fprintf(f, " g%d", grade);
        page_html_put(f, "\">", text, "</td>");
    }
}

static void put_node(FILE *f, const report *r, const report_chapter *c, int i, const bool *says)
{
    const report_node *node = &c->node[i];
    const report_look *l = node->look >= 0 ? &c->look[node->look] : NULL;
    char text[200] = "", elem[8];
    fprintf(f, "<tr><td>%d</td><td>", i);
    report_put_name(f, r, node->output);
    page_html_put(f, "</td><td class=\"word\">", node->op, "</td>");
    if (l)
        assay_shape_print(&l->tensor->type, text, sizeof text);
    page_html_put(f, "<td class=\"word\">", l ? assay_elem_print(l->tensor->type.elem, elem) : "",
                  "</td>");
    page_html_put(f, "<td class=\"word\">", text, "</td>");
    put_measures(f, r, c, node, says);
    fputs("</tr>\n", f);
}

static void put_nodes(FILE *f, const report *r, const report_chapter *c)
{
    bool says[REPORT_MAX_MEASURES];
    for (int m = 0; m < report_n_measures; m++)
        says[m] = report_measure_says(r, c, m);
    fputs("<h3>Nodes</h3>\n<div class=\"wide\"><table class=\"nodes\"><thead><tr>"
          "<th aria-sort=\"ascending\">#</th><th>tensor</th><th class=\"word\">op</th>"
          "<th class=\"word\">type</th><th class=\"word\">shape</th>",
          f);
    for (int m = 0; m < report_n_measures; m++)
        if (says[m])
            fprintf(f, "<th%s>%s</th>",
                    report_measures[m].scale == REPORT_WORDS ? " class=\"m word\"" : " class=\"m\"",
                    report_measures[m].name);
    fputs("</tr></thead><tbody>\n", f);
    for (int i = 0; i < c->n_nodes; i++)
        put_node(f, r, c, i, says);
    fputs("</tbody></table></div>\n", f);
}

/* ---- the chapter ---- */

void report_put_bundle(FILE *f, const report *r, const report_chapter *c)
{
    put_facts(f, c);
    put_contract(f, c);
    if (c->n_nodes > 0) {
        fputs("<h3>Network</h3>\n", f);
        report_put_graph(f, r, c);
        put_nodes(f, r, c);
    }
    if (c->plan) {
        fputs("<h3>Memory plan</h3>\n<div class=\"plot\">", f);
        page_plan_draw(f, c->graph, c->plan);
        fputs("</div>\n", f);
    }
    fputs("<h3>Tensors</h3>\n", f);
    for (int i = 0; i < c->n_looks; i++)
        report_put_tensor(f, r, c, i);
}

void report_put_profile(FILE *f, const report_chapter *c)
{
    const assay_profile_origin from = profile_get_origin(c->source.profile);
    char text[64];
    fputs("<dl>\n", f);
    report_put_fact(f, "data set", from.dataset);
    report_put_fact(f, "preprocessing", from.preprocessing);
    snprintf(text, sizeof text, "%" PRIu64, profile_samples(c->source.profile));
    report_put_fact(f, "samples", text);
    fputs("</dl>\n<p class=\"note\">" REPORT_PROFILE_LEGEND
          " Codes are i8 over all that was seen.</p>\n",
          f);
    snprintf(text, sizeof text, "c%dv", c->number);
    report_profile_table(f, text, c->view, c->n_views);
    report_profile_plots(f, text, c->view, c->n_views);
}
