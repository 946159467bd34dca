/* The network of a bundle, drawn. */
#include <stdio.h>
#include <string.h>

#include "interp/page/html.h"
#include "interp/page/utf8.h"
#include "interp/page/xml.h"
#include "interp/report/measure.h"
#include "interp/report/page.h"

#define PITCH  66.0 /* from layer to layer */
#define HEIGHT 38.0 /* of a box */
#define GAP    12.0 /* between boxes side by side */
#define MARGIN 6.0
enum { LAYERS = 4, LETTERS = 24 }; /* of a drawing: paper has pages; of a line of a box */

/* What is drawn, of which report. */
typedef struct drawing {
    const report *r;
    const report_chapter *c;
} drawing;

/* ---- boxes ---- */

/* The first of the names that TensorFlow joins by ';'; of a long one the end, which is what tells
 * it from its neighbours. */
static void put_brief(FILE *f, const char *whole)
{
    char name[512];
    snprintf(name, sizeof name, "%.*s", (int)page_utf8_cut(whole, sizeof name - 1), whole);
    if (strcspn(name, ";") > 0)
        name[strcspn(name, ";")] = 0;
    const size_t length = strlen(name);
    const size_t cut = length > LETTERS ? page_utf8_cut(name, length - LETTERS + 1) : 0;
    fputs(cut > 0 ? "\xe2\x80\xa6" : "", f);
    page_xml_text(f, name + cut);
}

/* The op in bold, the shape behind it where there is room. */
static void put_head(FILE *f, const drawing *d, int v, int look)
{
    const char *op = v < d->c->n_inputs ? "input" : d->c->node[v - d->c->n_inputs].op;
    char shape[200] = "";
    fputs("<text x=\"7\" y=\"15\"><tspan font-weight=\"bold\">", f);
    page_xml_text(f, op);
    fputs("</tspan>", f);
    if (look >= 0)
        assay_shape_print(&d->c->look[look].tensor->type, shape, sizeof shape);
    if (*shape && strlen(op) + strlen(shape) < LETTERS)
        fprintf(f, "<tspan dx=\"6\" opacity=\".75\">%s</tspan>", shape);
}

static void put_colours(FILE *f, const drawing *d, const report_node *node)
{
    char text[64];
    fputs(" style=\"", f);
    for (int m = 0; m < report_n_measures; m++) {
        const int grade = report_measure_of(d->r, d->c, node, m, text, sizeof text);
        if (grade >= 0)
            fprintf(f, "--m%d:var(--c%d);", m, grade);
    }
    fputs("\"", f);
}

static void put_measures(FILE *f, const drawing *d, const report_node *node)
{
    char text[64];
    for (int m = 0; m < report_n_measures; m++) {
        report_measure_of(d->r, d->c, node, m, text, sizeof text);
        if (!*text)
            continue;
        fprintf(f, "\n%s: ", report_measures[m].name);
        page_xml_text(f, text);
    }
}

static void put_box(FILE *f, const drawing *d, int v)
{
    const report_chapter *c = d->c;
    const report_node *node = v < d->c->n_inputs ? NULL : &c->node[v - d->c->n_inputs];
    const int look = node ? node->look : d->c->input[v];
    const double w = REPORT_BOX - GAP, x = d->c->layout.x[v] - w / 2 + MARGIN;
    const double y = d->c->layout.layer[v] * PITCH + MARGIN;
    const char *name = look >= 0 ? c->look[look].tensor->name : node->name;

    if (look >= 0)
        fprintf(f, "<a class=\"n\" href=\"#c%dt%d\"", c->number, look);
    else
        fputs("<a class=\"n\"", f);
    if (node)
        put_colours(f, d, node);
    page_html_put(f, "><title>", node ? node->name : "input", ": ");
    page_html_put(f, "", node ? node->op : "", ", ");
    page_xml_text(f, name);
    if (node)
        put_measures(f, d, node);
    fprintf(f, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>", x,
            y, w, HEIGHT, node ? 4 : 18);
    /* An inner svg clips the words to the box, whatever the font's letters are. */
    fprintf(f, "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", x, y, w, HEIGHT);
    put_head(f, d, v, look);
    fputs("<tspan x=\"7\" dy=\"15\">", f);
    put_brief(f, name);
    fputs("</tspan></text></svg></a>\n", f);
}

/* ---- edges ---- */

static void put_edge(FILE *f, const report_layout *l, const report_edge *e)
{
    const double top = l->layer[e->from] * PITCH + MARGIN + HEIGHT;
    const double x0 = l->x[e->from] + MARGIN, x1 = l->x[e->to] + MARGIN;
    const double end = top + PITCH - HEIGHT, middle = (top + end) / 2;
    fprintf(f, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x0, top, x0, middle, x1, middle, x1,
            end);
    if (e->to >= l->n_real)
        fprintf(f, "v%.1f", HEIGHT);
}

/* Layers first .. end - 1, with the lines that lead out of them. */
static void put_strip(FILE *f, const drawing *d, int first, int end)
{
    const report_layout *l = &d->c->layout;
    const bool last = end == l->n_layers;
    const double y = first * PITCH, w = l->width + 2 * MARGIN;
    const double h = (end - first) * PITCH - (last ? PITCH - HEIGHT - 2 * MARGIN : 0);

    fprintf(f,
            "<svg viewBox=\"0 %.1f %.1f %.1f\" style=\"--w:%.0f\" font-family=\"sans-serif\" "
            "font-size=\"11\">\n<path class=\"edge\" d=\"",
            y, w, h, w);
    for (int e = 0; e < l->n_edges; e++) {
        const int from = l->layer[l->edge[e].from];
        if (from >= first - 1 && from < end)
            put_edge(f, l, &l->edge[e]);
    }
    fputs("\"/>\n", f);
    for (int v = 0; v < l->n_real; v++)
        if (l->layer[v] >= first && l->layer[v] < end)
            put_box(f, d, v);
    fputs("</svg>\n", f);
}

/* ---- what colours it ---- */

static void put_legend(FILE *f, int m)
{
    fprintf(f, "<p class=\"legend k%d\">", m);
    for (int g = 0; g < REPORT_GRADES; g++)
        if (report_grade_name(m, g))
            fprintf(f, "<span style=\"background:var(--c%d)\">%s</span> ", g,
                    report_grade_name(m, g));
    fputs("</p>\n", f);
}

static void put_choices(FILE *f, const report *r, const report_chapter *c)
{
    bool says[REPORT_MAX_MEASURES], chosen = false;
    for (int m = 0; m < report_n_measures; m++) {
        says[m] = report_measure_says(r, c, m);
        if (!says[m])
            continue;
        fprintf(f,
                "<input type=\"radio\" name=\"c%dm\" id=\"c%dm%d\" class=\"by%d\"%s>"
                "<label for=\"c%dm%d\">%s</label>\n",
                c->number, c->number, m, m, chosen ? "" : " checked", c->number, m,
                report_measures[m].name);
        chosen = true;
    }
    for (int m = 0; m < report_n_measures; m++)
        if (says[m])
            put_legend(f, m);
}

void report_put_graph(FILE *f, const report *r, const report_chapter *c)
{
    const drawing d = {.r = r, .c = c};
    const report_layout *l = &c->layout;
    if (c->n_nodes == 0)
        return;
    fputs("<div class=\"graph\"><p class=\"tools\"></p>\n", f);
    put_choices(f, r, c);
    fputs("<div class=\"draw\">\n", f);
    for (int k = 0; k < l->n_layers; k += LAYERS)
        put_strip(f, &d, k, k + LAYERS < l->n_layers ? k + LAYERS : l->n_layers);
    fputs("</div>\n", f);
    if (l->omitted > 0)
        fprintf(f, "<p>%d edges over more than %d layers are not drawn.</p>\n", l->omitted,
                l->span);
    fputs("</div>\n", f);
}
