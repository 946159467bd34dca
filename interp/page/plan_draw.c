/* The memory plan as a drawing: steps from left to right, addresses from top to bottom, a box a
 * value for as long as it lives, the scratch below. */
#include <string.h>

#include "interp/page/xml.h"
#include "interp/run/program.h"

#define WIDTH  1200.0
#define HEIGHT 700.0
#define MARGIN 64.0
#define LETTER 6.0 /* of a label */

/* What fits of a name: its end, which tells values of one block apart. */
static void put_label(FILE *f, double x, double y, double w, double h, const char *name)
{
    const size_t length = strlen(name), room = (size_t)(w / LETTER);

    if (h < 12 || room < 4)
        return;
    /* An inner svg clips the label to the box, whatever the font's letters are. */
    fprintf(f,
            "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><text x=\"3\" y=\"%.2f\">",
            x, y, w, h, h / 2 + 4);
    if (length > room)
        fputs("\xe2\x80\xa6", f);
    size_t from = length > room ? length - room + 1 : 0;
    while ((name[from] & 0xc0) == 0x80) /* not within a letter of several bytes */
        from++;
    assay_xml_text(f, name + from);
    fputs("</text></svg>\n", f);
}

static void put_box(FILE *f, double x, double y, double w, double h, int hue, const char *title,
                    size_t bytes)
{
    fprintf(f,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"hsl(%d,60%%,75%%)\" stroke=\"#444\" stroke-width=\"0.5\"><title>",
            x, y, w, h, hue);
    assay_xml_text(f, title);
    fprintf(f, ", %zu bytes</title></rect>\n", bytes);
    put_label(f, x, y, w, h, title);
}

/* Numbers of steps along the bottom, addresses down the left side. */
static void put_axes(FILE *f, int steps, double per_step, size_t bytes, double per_byte)
{
    const int every = steps / 30 + 1;

    for (int s = 0; s < steps; s += every)
        fprintf(f, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" fill=\"#555\">%d</text>\n",
                MARGIN + per_step * (s + 0.5), HEIGHT - MARGIN + 13, s);
    for (int k = 0; k <= 8; k++) {
        const double at = (double)bytes * k / 8;
        fprintf(f,
                "<path stroke=\"#ccc\" d=\"M%.1f %.2fH%.1f\"/><text x=\"%.1f\" y=\"%.2f\" "
                "text-anchor=\"end\" fill=\"#555\">%.0f</text>\n",
                MARGIN, MARGIN + per_byte * at, WIDTH - MARGIN, MARGIN - 4,
                MARGIN + per_byte * at + 4, at);
    }
    fprintf(f,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#555\">step: the node that "
            "runs; down: bytes from the arena's start</text>\n",
            WIDTH - MARGIN, HEIGHT - 8);
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
    put_axes(f, g->n_nodes + 1, per_step, p->arena_bytes, per_byte);
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
