/* The report as a page of HTML; see page.h. */
#include "interp/blame/page.h"

#include <inttypes.h>
#include <string.h>

#include "graph/files/files.h"
#include "interp/blame/picture.h"
#include "interp/blame/worked.h"
#include "interp/page/column.h"
#include "interp/page/html.h"
#include "interp/page/xml.h"

static const char style[] =
    "body{margin:0}h1{font-size:20px;margin:16px 20px 4px}p.sub{margin:0 20px 12px;"
    "color:var(--quiet)}main{display:flex;align-items:flex-start}"
    "nav{width:330px;flex:none;padding:0 10px 20px 20px;position:sticky;top:0;max-height:100vh;"
    "overflow-y:auto;box-sizing:border-box}"
    "nav a,nav span{display:block;padding:3px 8px;margin:2px 0;border-left:6px solid var(--line);"
    "background:var(--panel);color:inherit;text-decoration:none;overflow:hidden;"
    "white-space:nowrap;text-overflow:ellipsis;font-size:12px}nav small{color:var(--quiet)}"
    "nav b{display:block;color:var(--bad);overflow:hidden;text-overflow:ellipsis}"
    "nav .own{border-color:#c22;background:var(--c5);font-weight:bold}"
    "nav .own b,nav .own small{color:inherit}"
    "nav .suspect{border-color:#e08a00;background:var(--c3)}"
    "nav .inherited{border-color:#d8c13a;background:var(--c2)}"
    "nav .clean{border-color:#3a9d4a;background:var(--c0)}"
    "section{margin:0 20px 30px 10px;min-width:0}article{border-top:2px solid #c22;padding:6px 0 "
    "18px}"
    "h2{font-size:16px;margin:8px 0}figure{margin:10px 0}figcaption{color:var(--quiet);"
    "font-size:12px}img{image-rendering:pixelated;border:1px solid var(--line);max-width:100%;"
    "height:auto}svg{max-width:100%;height:auto}h2,p,code{overflow-wrap:anywhere}"
    "table{font:12px monospace}td,th{padding:2px 10px 2px 0;text-align:left;vertical-align:top;"
    "white-space:normal;overflow-wrap:anywhere}td:first-child{white-space:nowrap}"
    "tr.parts td{background:var(--c5)}td.same{color:var(--quiet)}"
    "code{background:var(--panel);padding:1px 4px}"
    "@media(max-width:800px){main{display:block}nav{position:static;width:auto;max-height:none;"
    "padding:0 12px 12px}section{margin:0 12px 20px}h1,p.sub{margin-left:12px;margin-right:12px}"
    "td:first-child{white-space:normal;overflow-wrap:normal;min-width:5em}}"
    "@media print{main{display:block}nav{position:static;width:auto;max-height:none}}";

/* The first cause of a row; NULL: there is none. */
static const blame_fault *fault_of(const blame_report *r, int row)
{
    for (int i = 0; i < r->n_faults; i++)
        if (r->fault[i].row == row)
            return &r->fault[i];
    return NULL;
}

/* The next cause of the same row. */
static const blame_fault *next_fault(const blame_report *r, const blame_fault *fault)
{
    const int row = fault->row;
    while (++fault < r->fault + r->n_faults)
        if (fault->row == row)
            return fault;
    return NULL;
}

/* ---- the column of nodes ---- */

static void put_node(const blame_report *r, const blame_row *row, FILE *f)
{
    const assay_graph *g = r->device.graph;
    const assay_node *n = &g->node[row->node];
    const blame_fault *fault = fault_of(r, row->node);
    if (fault)
        fprintf(f, "<a href=\"#f%d\" class=\"%s\"", (int)(fault - r->fault),
                blame_verdict_name(row->verdict));
    else
        fprintf(f, "<span class=\"%s\"", blame_verdict_name(row->verdict));
    page_html_put(f, " title=\"", n->name, "\">");
    fprintf(f, "%d ", r->device.index[row->value]);
    page_html_put(f, "", g->value[row->value].name, " <small>");
    fprintf(f, "%s, %s", assay_op_get(n->op)->name, blame_verdict_name(row->verdict));
    if (row->cumulative > 0)
        fprintf(f, ", %" PRId64 " differ, %" PRId64 " of its own", row->cumulative, row->isolated);
    fputs("</small>", f);
    for (const blame_fault *cause = fault; cause; cause = next_fault(r, cause))
        page_html_put(f, "<b>", cause->class, "</b>");
    fputs(fault ? "</a>\n" : "</span>\n", f);
}

/* ---- one element ---- */

static void put_pairs(const blame_worked *w, FILE *f)
{
    fputs("<table><tr><th>step<th>the scheme<th>under the cause</tr>\n", f);
    for (int i = 0; i < w->n_pairs; i++) {
        const explain_step *a = w->pair[i].a >= 0 ? &w->trace.step[w->pair[i].a] : NULL;
        const explain_step *b = w->pair[i].b >= 0 ? &w->under.step[w->pair[i].b] : NULL;
        const bool same = a && b && strcmp(a->text, b->text) == 0;
        page_html_put(f, i == w->parts ? "<tr class=\"parts\"><td>" : "<tr><td>",
                      a ? a->name : b->name, "<td>");
        page_html_put(f, "", a ? a->text : "-", same ? "<td class=\"same\">" : "<td>");
        page_html_put(f, "", same ? "the same" : b ? b->text : "-", "</tr>\n");
    }
    fputs("</table>\n", f);
}

static void put_steps(const blame_worked *w, FILE *f)
{
    fputs("<table><tr><th>step<th>the scheme</tr>\n", f);
    for (int i = 0; i < w->trace.n; i++) {
        page_html_put(f, "<tr><td>", w->trace.step[i].name, "<td>");
        page_html_put(f, "", w->trace.step[i].text, "</tr>\n");
    }
    fputs("</table>\n", f);
}

static void put_worked(const blame_report *r, const blame_worked *w, FILE *f)
{
    const assay_type *t = &r->device.graph->value[r->row[w->row].value].type;
    char place[96];
    page_html_put(f, "<h3>element ", explain_place(t, w->element, place, sizeof place), "");
    fprintf(f, " of sample %" PRId64 "</h3>\n", r->device.number[w->sample]);
    if (w->fault)
        put_pairs(w, f);
    else
        put_steps(w, f);
    if (w->trace.honest)
        page_html_put(f, "<p>", w->trace.honest, "</p>\n");
    if (w->n_other > 0)
        fprintf(f,
                "<p>%d of %d other values of the record's parameters give the device's code "
                "here:</p><ul>\n",
                w->n_other, w->tried);
    for (int i = 0; i < w->n_other && i < 12; i++)
        page_html_put(f, "<li>", w->other[i].detail, "</li>\n");
    fputs(w->n_other > 0 ? "</ul>\n" : "", f);
}

/* ---- a fault ---- */

static void put_words(const blame_report *r, const blame_fault *fault, FILE *f)
{
    char same[40];
    page_html_put(f, "<p>", blame_say_detail(r, fault, same, sizeof same), "</p>\n<p>");
    fprintf(f, "%" PRId64 " of %" PRId64 " elements differ; %.4f %% of all are explained",
            fault->differing, fault->elements, 100.0 * fault->explained);
    for (int i = 0; i < fault->n_classes; i++)
        page_html_put(f, i ? ", " : "; in full by ", fault->classes[i], "");
    page_html_put(f, ". ", fault->sample, "</p>\n");
    if (r->row[fault->row].elements == 0 || r->row[fault->row].on_sums)
        return;
    page_html_put(f, "<p><code>assay capsule '", r->golden, "' '");
    page_html_put(f, "", r->path, "' '");
    page_html_put(f, "", r->device.graph->node[r->row[fault->row].node].name,
                  "' -o DIR</code></p>\n");
}

static void put_fault(const blame_report *r, int i, FILE *f)
{
    const blame_fault *fault = &r->fault[i];
    const blame_row *row = &r->row[fault->row];
    blame_worked w;
    fprintf(f, "<article id=\"f%d\"><h2>#%d ", i, r->device.index[row->value]);
    page_html_put(f, "", r->device.graph->value[row->value].name, ": ");
    page_html_put(f, "", fault->class, "</h2>\n");
    put_words(r, fault, f);
    const bool good = !blame_work(r, fault->row, -1, -1, &w, NULL);
    if (row->elements > 0 && !row->on_sums) {
        blame_draw_tensor(r, fault->row, w.sample, f);
        blame_draw_histogram(r, fault->row, f);
    }
    if (good)
        put_worked(r, &w, f);
    blame_worked_free(&w);
    fputs("</article>\n", f);
}

/* ---- the page ---- */

/* Constants and parameters that the device has otherwise. */
static void put_numbers(const blame_report *r, FILE *f)
{
    for (size_t i = 0; i < json_array_size(r->device.numbers); i++) {
        const json_t *o = json_array_get(r->device.numbers, i);
        page_html_put(f, "<p class=\"sub\">the device's ",
                      json_string_value(json_object_get(o, "name")), " differs: ");
        page_html_put(f, "", json_string_value(json_object_get(o, "difference")), "</p>\n");
    }
}

static void print_html(FILE *f, const void *what)
{
    const blame_report *r = what;
    page_html_begin(f, "assay blame", style);
    if (r->n_faults > 0) {
        fprintf(f, "<h1>%d cause%s, the most upstream first</h1>\n", r->n_faults,
                page_plural(r->n_faults));
    } else {
        fputs("<h1>clean: ", f);
        blame_say_clean(r, f);
        fputs("</h1>\n", f);
    }
    page_html_put(f, "<p class=\"sub\">", r->path, " against ");
    page_html_put(f, "", r->golden, "");
    if (r->device.scheme)
        page_html_put(f, ", scheme ", r->device.scheme->name, "");
    fputs("</p>\n", f);
    put_numbers(r, f);
    fputs("<main><nav>\n", f);
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        put_node(r, &r->row[i], f);
    fputs("</nav><section>\n", f);
    for (int i = 0; i < r->n_faults; i++)
        put_fault(r, i, f);
    fputs("</section></main>\n", f);
    page_html_end(f);
}

assay_status blame_write_html(const blame_report *r, const char *path, assay_error *err)
{
    return file_print(path, print_html, r, err);
}

/* ---- JUnit ---- */

static void put_case(const blame_report *r, const blame_row *row, FILE *f)
{
    const blame_fault *fault = fault_of(r, row->node);
    char same[40];
    page_html_put(f, " <testcase classname=\"",
                  assay_op_get(r->device.graph->node[row->node].op)->name, "\" name=\"");
    page_html_put(f, "", r->device.graph->value[row->value].name, "\">");
    if (fault) {
        page_html_put(f, "<failure message=\"", fault->class, ": ");
        page_html_put(f, "", blame_say_detail(r, fault, same, sizeof same), "");
        for (const blame_fault *cause = next_fault(r, fault); cause; cause = next_fault(r, cause)) {
            page_html_put(f, "; and ", cause->class, ": ");
            page_html_put(f, "", blame_say_detail(r, cause, same, sizeof same), "");
        }
        fprintf(f, "\">%" PRId64 " of %" PRId64 " elements differ; ", fault->differing,
                fault->elements);
        page_html_put(f, "", fault->sample, "</failure>");
    } else if (row->elements == 0) {
        fputs("<skipped message=\"not dumped\"/>", f);
    } else if (row->verdict == BLAME_INHERITED) {
        fputs("<system-out>inherited: it differs only because its inputs do</system-out>", f);
    }
    fputs("</testcase>\n", f);
}

static void print_junit(FILE *f, const void *what)
{
    const blame_report *r = what;
    int failures = 0, skipped = 0;
    for (int i = 0; i < r->device.graph->n_nodes; i++) {
        failures += fault_of(r, i) != NULL;
        skipped += !fault_of(r, i) && r->row[i].elements == 0;
    }
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"assay blame\" "
            "tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n",
            r->device.graph->n_nodes, failures, skipped);
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        put_case(r, &r->row[i], f);
    fputs("</testsuite>\n", f);
}

assay_status blame_write_junit(const blame_report *r, const char *path, assay_error *err)
{
    return file_print(path, print_junit, r, err);
}
