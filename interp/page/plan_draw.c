/* The memory plan as a drawing: steps from left to right, addresses from top to bottom, a box a
 * value for as long as it lives, the scratch below. */
#include "interp/page/xml.h"
#include "interp/run/program.h"

#define WIDTH  1200.0
#define HEIGHT 700.0
#define MARGIN 40.0

static void put_box(FILE *f, double x, double y, double w, double h, int hue, const char *title,
                    size_t bytes)
{
    fprintf(f,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"hsl(%d,60%%,75%%)\" stroke=\"#444\" stroke-width=\"0.5\"><title>",
            x, y, w, h, hue);
    assay_xml_text(f, title);
    fprintf(f, ", %zu bytes</title></rect>\n", bytes);
    if (h < 12 || w < 60)
        return; /* no room for a label */
    /* An inner svg clips the label to the box. */
    fprintf(f,
            "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><text x=\"3\" y=\"%.2f\">",
            x, y, w, h, h / 2 + 4);
    assay_xml_text(f, title);
    fputs("</text></svg>\n", f);
}

void assay_plan_draw(FILE *f, const assay_graph *g, const assay_plan *p)
{
    double arena = p->arena_bytes ? (double)p->arena_bytes : 1;
    double per_byte = (HEIGHT - 2 * MARGIN) / arena;
    double per_step = (WIDTH - 2 * MARGIN) / (g->n_nodes + 1);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"10\">\n",
            WIDTH, HEIGHT);
    fprintf(f, "<text x=\"%.0f\" y=\"20\" font-size=\"14\">", MARGIN);
    assay_xml_text(f, g->name);
    fprintf(f, ": %d nodes, an arena of %zu bytes</text>\n", g->n_nodes, p->arena_bytes);
    for (int v = 0; v < p->n_values; v++) {
        size_t bytes = assay_type_bytes(&g->value[v].type);
        if (p->first[v] < 0)
            continue;
        put_box(f, MARGIN + per_step * p->first[v], MARGIN + per_byte * (double)p->offset[v],
                per_step * (p->last[v] - p->first[v] + 1), per_byte * (double)bytes, v * 137 % 360,
                g->value[v].name, bytes);
    }
    if (p->scratch_bytes)
        put_box(f, MARGIN, MARGIN + per_byte * (double)p->scratch_offset, WIDTH - 2 * MARGIN,
                per_byte * (double)p->scratch_bytes, 0, "scratch", p->scratch_bytes);
    fputs("</svg>\n", f);
}
