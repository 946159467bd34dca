/* A blame as text and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/blame.h"
#include "interp/golden/extra.h"
#include "interp/page/column.h"
#include "interp/page/json.h"

static const char *op_of(const blame_report *r, int node)
{
    return assay_op_get(r->device.graph->node[node].op)->name;
}

static const blame_fault *fault_at(const blame_report *r, int row)
{
    for (int i = 0; i < r->n_faults; i++)
        if (r->fault[i].row == row)
            return &r->fault[i];
    return NULL;
}

static void print_sqnr(FILE *f, double db)
{
    if (isinf(db))
        fprintf(f, " %8s", "");
    else
        fprintf(f, " %8.1f", db);
}

static void print_row(const blame_report *r, const blame_row *row, int width, FILE *f)
{
    const assay_graph *g = r->device.graph;
    const blame_fault *fault = fault_at(r, row->node);
    fprintf(f, "%5d ", r->device.index[row->value]);
    page_column_put(f, 6, width, g->value[row->value].name);
    fprintf(f, " %-16s %-10s", op_of(r, row->node), blame_verdict_name(row->verdict));
    if (row->elements == 0) {
        fprintf(f, "%s%s\n", fault ? "  " : "", fault ? fault->class : "");
        return;
    }
    fprintf(f, " %10" PRId64 " %5.4g", row->cumulative, row->lsb);
    print_sqnr(f, row->sqnr);
    fprintf(f, " %10" PRId64 " %5.4g", row->isolated, row->lsb_isolated);
    print_sqnr(f, row->sqnr_isolated);
    fprintf(f, "%s%s\n", fault ? "  " : "", fault ? fault->class : "");
}

/* What was compared of a row, or of the end of its region. */
static const char *elements_of(const blame_report *r, const blame_row *row)
{
    const blame_row *end = row->region >= 0 ? &r->row[row->region] : row;
    return end->on_sums ? "accumulators" : "elements";
}

const char *blame_say_detail(const blame_report *r, const blame_fault *f, char *text, size_t size)
{
    for (const blame_fault *first = r->fault; first < f; first++)
        if (strcmp(f->class, "scheme") == 0 && strcmp(first->class, "scheme") == 0 &&
            strcmp(first->detail, f->detail) == 0) {
            snprintf(text, size, "the same as at #%d", r->device.index[r->row[first->row].value]);
            return text;
        }
    return f->detail;
}

static void print_fault(const blame_report *r, const blame_fault *fault, FILE *f)
{
    char same[40];
    const assay_graph *g = r->device.graph;
    const blame_row *row = &r->row[fault->row];
    fprintf(f, "#%d '%s' (%s): %s: %s\n", r->device.index[row->value], g->value[row->value].name,
            op_of(r, row->node), fault->class, blame_say_detail(r, fault, same, sizeof same));
    if (fault->n_classes > 0)
        fprintf(f,
                "  proved on these dumps: %" PRId64 " of %" PRId64 " %s differ, all are explained",
                fault->differing, fault->elements, elements_of(r, row));
    else
        fprintf(f, "  %" PRId64 " of %" PRId64 " %s differ; %.4f %% of all are explained",
                fault->differing, fault->elements, elements_of(r, row), 100.0 * fault->explained);
    for (int i = 0; i < fault->n_classes; i++)
        if (strcmp(fault->classes[i], fault->class) != 0)
            fprintf(f, "%s %s",
                    i > 0 && strcmp(fault->classes[0], fault->class) == 0 && i == 1
                        ? "; just as well by"
                        : ",",
                    fault->classes[i]);
    fprintf(f, "\n  %s\n", fault->sample);
    for (int i = 0; i < fault->n_apart; i++)
        fprintf(f, "  %s\n", fault->apart[i]);
    if (row->cut)
        fprintf(f,
                "  two causes at once: the search was cut after %" PRId64
                " tries, as its work is limited\n",
                row->tried);
    if (row->elements > 0 && !row->on_sums && r->path)
        fprintf(f, "  assay capsule '%s' '%s' '%s' -o DIR\n", r->golden, r->path,
                g->node[row->node].name);
}

void blame_say_clean(const blame_report *r, FILE *f)
{
    const int n = r->device.graph->n_nodes;
    int dumped = 0;
    for (int i = 0; i < n; i++)
        dumped += r->row[i].elements > 0;
    if (dumped == 0)
        fputs("no output of a node was dumped: none was judged", f);
    else
        fputs("no node is at fault on its own", f);
    if (dumped > 0 && dumped < n)
        fprintf(f, "; outputs of %d of %d nodes were dumped", dumped, n);
}

void blame_print(const blame_report *r, FILE *f)
{
    const assay_graph *g = r->device.graph;
    int width = 6;
    for (int i = 0; i < g->n_nodes; i++)
        width = page_column_widen(width, g->value[r->row[i].value].name);
    if (r->n_faults == 0) {
        fputs("CLEAN: ", f);
        blame_say_clean(r, f);
        fputc('\n', f);
    } else {
        fprintf(f, "FAULT: %d cause%s, the most upstream first\n", r->n_faults,
                page_plural(r->n_faults));
    }
    golden_numbers_print(r->device.numbers, f);
    golden_extra_print(r->device.extra, r->device.unread, f);
    for (int i = 0; i < r->n_faults; i++)
        print_fault(r, &r->fault[i], f);
    fprintf(f, "\n%5s %-*s %-16s %-10s %10s %5s %8s %10s %5s %8s  %s\n", "", width, "tensor", "op",
            "verdict", "golden: n", "LSB", "dB", "replay: n", "LSB", "dB", "cause");
    for (int i = 0; i < g->n_nodes; i++)
        print_row(r, &r->row[i], width, f);
}

/* ---- JSON ---- */

static json_t *json_fault(const blame_report *r, const blame_fault *f)
{
    const assay_graph *g = r->device.graph;
    const blame_row *row = &r->row[f->row];
    json_t *classes = json_array(), *o = json_object();
    for (int i = 0; i < f->n_classes; i++)
        page_json_add(&classes, json_string(f->classes[i]));
    page_json_set(&o, "index", json_integer(r->device.index[row->value]));
    page_json_set(&o, "name", page_json_text(g->value[row->value].name));
    page_json_set(&o, "node", page_json_text(g->node[row->node].name));
    page_json_set(&o, "op", json_string(op_of(r, row->node)));
    page_json_set(&o, "class", json_string(f->class));
    page_json_set(&o, "classes", classes);
    page_json_set(&o, "detail", page_json_text(f->detail));
    page_json_set(&o, "elements", json_integer(f->elements));
    page_json_set(&o, "differing", json_integer(f->differing));
    page_json_set(&o, "explained", page_json_number(f->explained));
    page_json_set(&o, "sample", page_json_text(f->sample));
    if (row->cut)
        page_json_set(&o, "cut_after", json_integer(row->tried));
    json_t *apart = json_array();
    for (int i = 0; i < f->n_apart; i++)
        page_json_add(&apart, page_json_text(f->apart[i]));
    page_json_set(&o, "apart", apart);
    return o;
}

static json_t *json_region(const blame_report *r, int end)
{
    json_t *list = json_array();
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        if (r->row[i].region == end)
            page_json_add(&list, page_json_text(r->device.graph->node[i].name));
    return list;
}

static json_t *json_row(const blame_report *r, const blame_row *row)
{
    const assay_graph *g = r->device.graph;
    const bool dumped = row->elements > 0;
    json_t *o = json_object();
    page_json_set(&o, "index", json_integer(r->device.index[row->value]));
    page_json_set(&o, "name", page_json_text(g->value[row->value].name));
    page_json_set(&o, "node", page_json_text(g->node[row->node].name));
    page_json_set(&o, "op", json_string(op_of(r, row->node)));
    page_json_set(&o, "verdict", json_string(blame_verdict_name(row->verdict)));
    page_json_set(&o, "differing_cumulative", dumped ? json_integer(row->cumulative) : json_null());
    page_json_set(&o, "differing_isolated", dumped ? json_integer(row->isolated) : json_null());
    page_json_set(&o, "cumulative_db", dumped ? page_json_number(row->sqnr) : json_null());
    page_json_set(&o, "isolated_db", dumped ? page_json_number(row->sqnr_isolated) : json_null());
    if (row->verdict == BLAME_SUSPECT)
        page_json_set(&o, "region", json_region(r, row->region));
    return o;
}

json_t *blame_json(const blame_report *r)
{
    json_t *faults = json_array(), *nodes = json_array(), *o = json_object();
    for (int i = 0; i < r->n_faults; i++)
        page_json_add(&faults, json_fault(r, &r->fault[i]));
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        page_json_add(&nodes, json_row(r, &r->row[i]));
    page_json_set(&o, "verdict", json_string(r->n_faults ? "fault" : "clean"));
    page_json_set(&o, "faults", faults);
    page_json_set(&o, "nodes", nodes);
    if (json_array_size(r->device.numbers) > 0)
        page_json_set(&o, "numbers", json_incref(r->device.numbers));
    if (r->device.extra)
        page_json_set(&o, "not_compared", json_incref(r->device.extra));
    if (json_array_size(r->device.unread) > 0)
        page_json_set(&o, "not_read", json_incref(r->device.unread));
    return o;
}

assay_status blame_write_json(const blame_report *r, const char *path, assay_error *err)
{
    json_t *o = blame_json(r);
    const assay_status status = page_json_write(path, o, err);
    json_decref(o);
    return status;
}
