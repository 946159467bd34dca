/* A diff as text, JSON and JUnit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "interp/golden/diff.h"
#include "interp/golden/extra.h"
#include "interp/page/column.h"
#include "interp/page/json.h"
#include "interp/page/xml.h"

static void print_element(const assay_diff *d, const assay_diff_element *e, FILE *f)
{
    fprintf(f, "  %s[", d->row[e->row].name);
    for (int k = 0; k < e->rank; k++)
        fprintf(f, "%s%" PRId64, k ? "," : "", e->at[k]);
    if (e->codes)
        fprintf(f, "]  %" PRId64 " != %" PRId64 "\n", e->code_a, e->code_b);
    else
        fprintf(f, "]  %.9g != %.9g\n", e->real_a, e->real_b);
}

static void print_verdict(const assay_diff *d, FILE *f)
{
    const assay_diff_row *r = d->first >= 0 ? &d->row[d->first] : NULL;

    if (!r) {
        fprintf(f, "SAME: %d tensor%s compared, all within their thresholds", d->n_compared,
                page_plural(d->n_compared));
    } else {
        char number[16] = "";
        if (r->index >= 0)
            snprintf(number, sizeof number, "#%d ", r->index);
        fprintf(f, "DIFFERENT: %d of %d tensors; first at %s'%s'", d->n_failed, d->n_compared,
                number, r->name);
        if (r->op[0])
            fprintf(f, " (%s)", r->op);
        if (r->sample)
            fprintf(f, ", sample %" PRId64, r->sample);
    }
    if (d->n_rows > d->n_compared)
        fprintf(f, "; %d not in the second", d->n_rows - d->n_compared);
    fputc('\n', f);
}

static bool same_order(const assay_diff_row *a, const assay_diff_row *b)
{
    return a->permuted && b->permuted && a->order == b->order &&
           (a->order <= GOLDEN_OWN_ORDER || a->rank == b->rank);
}

/* A line for each order of axes in which tensors that differ are the first's. */
static void print_orders(const assay_diff *d, FILE *f)
{
    char room[64];
    for (int i = 0; i < d->n_rows; i++) {
        const assay_diff_row *r = &d->row[i];
        int before = 0, n = 0;
        for (int k = 0; k < d->n_rows; k++) {
            before += k < i && same_order(r, &d->row[k]);
            n += same_order(r, &d->row[k]);
        }
        if (!r->permuted || before > 0)
            continue;
        fprintf(f, "%d of these equal%s the first's %s%s\n", n, n == 1 ? "s" : "",
                golden_permuted_name(r->rank, r->order, room, sizeof room),
                golden_permuted_is_layout(r->order)
                    ? "; 'assay blame' compares dumps in this layout"
                    : "");
    }
}

void golden_diff_print(const assay_diff *d, FILE *f)
{
    int width = 44;
    print_verdict(d, f);
    print_orders(d, f);
    golden_extra_print(d->extra, d->unread, f);
    for (int i = 0; i < d->n_elements; i++)
        print_element(d, &d->element[i], f);
    for (int i = 0; i < d->n_rows; i++)
        width = page_column_widen(width, d->row[i].name);
    fprintf(f, "%-2s %5s  %-*s %-18s %10s %10s %8s %10s %9s %8s\n", "", "#", width, "tensor", "op",
            "elements", "mismatch", "max LSB", "max rel", "cosine", "SQNR dB");
    for (int i = 0; i < d->n_rows; i++) {
        const assay_diff_row *r = &d->row[i];
        char number[16] = "-";
        if (r->index >= 0)
            snprintf(number, sizeof number, "%d", r->index);
        fprintf(f, "%-2s %5s  ", i == d->first ? "=>" : "", number);
        page_column_put(f, 10, width, r->name);
        fprintf(f, " %-18s ", r->op);
        if (r->kind == ASSAY_DIFF_COMPARED)
            fprintf(f, "%10" PRId64 " %10" PRId64 " %8.0f %10.3g %9.6f %8.2f%s%s\n",
                    r->result.elements, r->result.mismatches, r->result.max_lsb, r->result.max_rel,
                    r->result.cosine, r->result.sqnr, *r->note ? "  " : "", r->note);
        else
            fprintf(f, "%s\n", r->note);
    }
}

static const char *kind_name(const assay_diff_row *r)
{
    if (r->kind == ASSAY_DIFF_MISSING)
        return "missing";
    return r->result.pass ? "same" : "different";
}

static json_t *json_axes(const assay_diff_row *r)
{
    int perm[ASSAY_MAX_RANK];
    json_t *axes = json_array();
    golden_permuted_axes(r->rank, r->order, perm);
    for (int i = 0; i < r->rank; i++)
        page_json_add(&axes, json_integer(perm[i]));
    return axes;
}

static json_t *json_row(const assay_diff_row *r)
{
    json_t *o = json_object();
    page_json_set(&o, "name", page_json_text(r->name));
    page_json_set(&o, "op", json_string(r->op));
    page_json_set(&o, "sample", json_integer(r->sample));
    page_json_set(&o, "index", json_integer(r->index));
    page_json_set(&o, "verdict", json_string(kind_name(r)));
    if (r->note[0])
        page_json_set(&o, "note", page_json_text(r->note));
    if (r->permuted)
        page_json_set(&o, "axes", json_axes(r));
    if (r->kind == ASSAY_DIFF_COMPARED) {
        page_json_set(&o, "elements", json_integer(r->result.elements));
        page_json_set(&o, "differing", json_integer(r->result.differing));
        page_json_set(&o, "mismatches", json_integer(r->result.mismatches));
        page_json_set(&o, "first", json_integer(r->result.first));
        page_json_set(&o, "max_lsb", page_json_number(r->result.max_lsb));
        page_json_set(&o, "max_abs", page_json_number(r->result.max_abs));
        page_json_set(&o, "max_rel", page_json_number(r->result.max_rel));
        page_json_set(&o, "cosine", page_json_number(r->result.cosine));
        page_json_set(&o, "sqnr_db", page_json_number(r->result.sqnr));
    }
    return o;
}

static json_t *json_element(const assay_diff *d, const assay_diff_element *e)
{
    json_t *o = json_object();
    json_t *at = json_array();

    for (int k = 0; k < e->rank; k++)
        page_json_add(&at, json_integer(e->at[k]));
    page_json_set(&o, "tensor", page_json_text(d->row[e->row].name));
    page_json_set(&o, "at", at);
    page_json_set(&o, "a", e->codes ? json_integer(e->code_a) : page_json_number(e->real_a));
    page_json_set(&o, "b", e->codes ? json_integer(e->code_b) : page_json_number(e->real_b));
    return o;
}

json_t *golden_diff_json(const assay_diff *d)
{
    json_t *o = json_pack("{s:s,s:i,s:i}", "verdict", d->n_failed ? "different" : "same",
                          "compared", d->n_compared, "different", d->n_failed);
    json_t *rows = json_array(), *elements = json_array();

    page_json_set(&o, "first", d->first >= 0 ? page_json_text(d->row[d->first].name) : json_null());
    for (int i = 0; i < d->n_rows; i++)
        page_json_add(&rows, json_row(&d->row[i]));
    for (int i = 0; i < d->n_elements; i++)
        page_json_add(&elements, json_element(d, &d->element[i]));
    page_json_set(&o, "elements", elements);
    page_json_set(&o, "tensors", rows);
    if (d->extra)
        page_json_set(&o, "not_compared", json_incref(d->extra));
    if (json_array_size(d->unread) > 0)
        page_json_set(&o, "not_read", json_incref(d->unread));
    return o;
}

assay_status golden_diff_write_json(const assay_diff *d, const char *path, assay_error *err)
{
    json_t *o = golden_diff_json(d);
    const assay_status status = page_json_write(path, o, err);
    json_decref(o);
    return status;
}

static void print_junit(FILE *f, const void *diff)
{
    const assay_diff *d = diff;

    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"assay diff\" tests=\"%d\" failures=\"%d\" skipped=\"%d\">\n",
            d->n_rows, d->n_failed, d->n_rows - d->n_compared);
    for (int i = 0; i < d->n_rows; i++) {
        const assay_diff_row *r = &d->row[i];
        fputs(" <testcase classname=\"", f);
        page_xml_text(f, r->op);
        fputs("\" name=\"", f);
        page_xml_text(f, r->name);
        if (r->kind == ASSAY_DIFF_MISSING)
            fputs("\"><skipped message=\"not in the second\"/></testcase>\n", f);
        else if (r->result.pass)
            fputs("\"/>\n", f);
        else
            fprintf(f,
                    "\"><failure message=\"%" PRId64 " of %" PRId64
                    " elements, max %.0f LSB\">%s</failure></testcase>\n",
                    r->result.mismatches, r->result.elements, r->result.max_lsb, r->note);
    }
    fputs("</testsuite>\n", f);
}

assay_status golden_diff_write_junit(const assay_diff *d, const char *path, assay_error *err)
{
    return file_print(path, print_junit, d, err);
}
