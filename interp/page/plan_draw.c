/* The memory plan as a drawing: steps from left to right, addresses from top to bottom, a box a
 * value for as long as it lives; the scratch is a band below, of which no more is to be seen. */
#include <string.h>

#include "interp/page/column.h"
#include "interp/page/xml.h"
#include "interp/run/program.h"

#define WIDTH  1200.0
#define LEFT   72.0 /* addresses stand there */
#define RIGHT  12.0
#define TOP    36.0
#define VALUES 560.0 /* height of the values' part of the arena */
#define BAND   24.0  /* of the scratch */
#define LETTER 6.0   /* of a label */

/* The name; where that does not fit, op and number of the step that makes the value, or the number
 * alone: the numbers are those of the axis, and the name is what the box shows under the pointer.
 * What no step makes is an input or a state. */
static void label_of(const assay_graph *g, const assay_value *v, double w, char *text, size_t size)
{
    const size_t room = w > 6 ? (size_t)((w - 6) / LETTER) : 0;
    const bool made = v->producer >= 0;

    snprintf(text, size, "%s", v->name);
    if (strlen(v->name) > room && made)
        snprintf(text, size, "%d %s", v->producer, assay_op_get(g->node[v->producer].op)->name);
    if (strlen(v->name) > room && !made)
        snprintf(text, size, v->is_variable ? "state" : "input");
    if (strlen(text) > room && made)
        snprintf(text, size, "%d", v->producer);
    if (strlen(text) > room)
        *text = 0;
}

static void put_label(FILE *f, double x, double y, double w, double h, const char *label)
{
    if (h < 12 || !*label)
        return;
    /* An inner svg clips the label to the box, whatever the font's letters are. */
    fprintf(f,
            "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><text x=\"3\" y=\"%.2f\">",
            x, y, w, h, h / 2 + 4);
    page_xml_text(f, label);
    fputs("</text></svg>\n", f);
}

static void put_box(FILE *f, double x, double y, double w, double h, int hue, const char *title,
                    const char *label, size_t bytes)
{
    fprintf(f,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"hsl(%d,60%%,75%%)\" stroke=\"#444\" stroke-width=\"0.5\"><title>",
            x, y, w, h, hue);
    page_xml_text(f, title);
    fprintf(f, ", %zu bytes</title></rect>\n", bytes);
    put_label(f, x, y, w, h, label);
}

/* The least of 1, 2, 5 times a power of ten that parts a length into at most 10. */
static size_t address_step(size_t bytes)
{
    size_t step = 1;
    for (int k = 0; bytes / step > 10; k++)
        step = k % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

/* Numbers of steps along the bottom, the last of which reads the outputs; addresses down the left
 * side. */
static void put_axes(FILE *f, int steps, double per_step, size_t bytes, double per_byte)
{
    const int every = steps / 30 + 1;
    const size_t apart = address_step(bytes);
    const double bottom = TOP + per_byte * (double)bytes;

    for (int s = 0; s < steps; s += every) {
        char number[16] = "end";
        if (s < steps - 1)
            snprintf(number, sizeof number, "%d", s);
        fprintf(f, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" fill=\"#555\">%s</text>\n",
                LEFT + per_step * (s + 0.5), bottom + 13, number);
    }
    for (size_t at = 0; at <= bytes; at += apart)
        fprintf(f,
                "<path stroke=\"#ccc\" d=\"M%.1f %.2fH%.1f\"/><text x=\"%.1f\" y=\"%.2f\" "
                "text-anchor=\"end\" fill=\"#555\">%zu</text>\n",
                LEFT, TOP + per_byte * (double)at, WIDTH - RIGHT, LEFT - 4,
                TOP + per_byte * (double)at + 4, at);
    fprintf(f,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#555\">step: the node that "
            "runs; down: bytes from the arena's start</text>\n",
            WIDTH - RIGHT, bottom + 28);
}

static size_t values_end(const assay_graph *g, const assay_plan *p)
{
    size_t end = 1;
    for (int v = 0; v < p->n_values; v++) {
        const size_t here =
            p->first[v] < 0 ? 0 : (size_t)p->offset[v] + assay_type_bytes(&g->value[v].type);
        end = here > end ? here : end;
    }
    return end;
}

static void put_scratch(FILE *f, const assay_plan *p)
{
    char text[128];
    if (p->scratch_bytes == 0)
        return;
    snprintf(text, sizeof text, "scratch of every step, from byte %zu on: %zu bytes (not to scale)",
             p->scratch_offset, p->scratch_bytes);
    put_box(f, LEFT, TOP + VALUES + 40, WIDTH - LEFT - RIGHT, BAND, 0, "scratch", text,
            p->scratch_bytes);
}

void page_plan_draw(FILE *f, const assay_graph *g, const assay_plan *p)
{
    const size_t end = values_end(g, p);
    const double per_byte = VALUES / (double)end;
    const double per_step = (WIDTH - LEFT - RIGHT) / (g->n_nodes + 1);
    const double height = TOP + VALUES + 48 + (p->scratch_bytes ? BAND : 0);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
            "font-family=\"sans-serif\" font-size=\"10\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height);
    fprintf(f, "<text x=\"%.0f\" y=\"20\" font-size=\"14\">", LEFT);
    page_xml_text(f, g->name);
    fprintf(f, ": %d node%s, an arena of %zu bytes</text>\n", g->n_nodes, page_plural(g->n_nodes),
            p->arena_bytes);
    put_axes(f, g->n_nodes + 1, per_step, end, per_byte);
    for (int v = 0; v < p->n_values; v++) {
        const size_t bytes = assay_type_bytes(&g->value[v].type);
        const double w = per_step * (p->last[v] - p->first[v] + 1);
        char label[512];
        if (p->first[v] < 0)
            continue;
        label_of(g, &g->value[v], w, label, sizeof label);
        put_box(f, LEFT + per_step * p->first[v], TOP + per_byte * (double)p->offset[v], w,
                per_byte * (double)bytes, v * 137 % 360, g->value[v].name, label, bytes);
    }
    put_scratch(f, p);
    fputs("</svg>\n", f);
}
