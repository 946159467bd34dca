/* A worked element as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "interp/blame/worked.h"
#include "interp/golden/bundle.h"
#include "interp/page/json.h"

enum { NAME = 26, TEXT = 48, MAX_OTHERS = 24 };

static const assay_type *type_of(const blame_report *r, const blame_worked *w)
{
    return &r->device.graph->value[r->row[w->row].value].type;
}

static const char *say_value(const blame_report *r, const blame_worked *w, int64_t value,
                             char text[32])
{
    const uint32_t bits = (uint32_t)value;
    float f;
    memcpy(&f, &bits, sizeof f);
    if (type_of(r, w)->elem.kind == ASSAY_KIND_F32)
        snprintf(text, 32, "%.9g", (double)f);
    else
        snprintf(text, 32, "%" PRId64, value);
    return text;
}

static void print_head(const blame_report *r, const blame_worked *w, FILE *f)
{
    const blame_device *d = &r->device;
    const assay_node *n = &d->graph->node[r->row[w->row].node];
    char place[96], text[32];
    fprintf(f, "%s%s (%s%s%s), sample %" PRId64 ": golden %s", n->name,
            explain_place(type_of(r, w), w->element, place, sizeof place),
            assay_op_get(n->op)->name, d->scheme ? ", scheme " : "",
            d->scheme ? d->scheme->name : "", d->number[w->sample],
            say_value(r, w, w->golden, text));
    if (d->dumped > 0 && w->trace.value != w->golden)
        fprintf(f, ", from the device's inputs %s", say_value(r, w, w->trace.value, text));
    if (w->observed)
        fprintf(f, ", device %s", say_value(r, w, w->device, text));
    fputc('\n', f);
}

static void print_pairs(const blame_worked *w, FILE *f)
{
    fprintf(f, "under the cause: %s: %s\n", w->fault->class, w->fault->detail);
    fprintf(f, "  %-*s %-*s %s\n", NAME, "", TEXT, "golden scheme", "under the cause");
    for (int i = 0; i < w->n_pairs; i++) {
        const explain_step *a = w->pair[i].a >= 0 ? &w->trace.step[w->pair[i].a] : NULL;
        const explain_step *b = w->pair[i].b >= 0 ? &w->under.step[w->pair[i].b] : NULL;
        const bool same = a && b && strcmp(a->text, b->text) == 0;
        fprintf(f, "%s%-*s %-*s %s\n", i == w->parts ? "=>" : "  ", NAME, a ? a->name : b->name,
                TEXT, a ? a->text : "-",
                same ? "="
                : b  ? b->text
                     : "-");
    }
    if (w->parts < 0)
        fprintf(f, "no step differs in this element\n");
    else
        fprintf(f, "they part at \"%s\"\n",
                w->pair[w->parts].a >= 0 ? w->trace.step[w->pair[w->parts].a].name
                                         : w->under.step[w->pair[w->parts].b].name);
}

/* One of several causes in a node need not reach the device's code alone. */
static void print_reach(const blame_report *r, const blame_worked *w, FILE *f)
{
    char text[32];
    if (w->fault && w->observed && w->under.value != w->device)
        fprintf(f, "this cause alone gives %s here\n", say_value(r, w, w->under.value, text));
}

static void print_others(const blame_worked *w, FILE *f)
{
    if (w->tried == 0)
        return;
    fprintf(f, "%d of %d other values of the record's parameters give the device's code here%s\n",
            w->n_other, w->tried, w->n_other > 0 ? ":" : "");
    for (int i = 0; i < w->n_other && i < MAX_OTHERS; i++)
        fprintf(f, "  %-20s %s\n", w->other[i].class, w->other[i].detail);
    if (w->n_other > MAX_OTHERS)
        fprintf(f, "  ... and %d more (the report as JSON has all)\n", w->n_other - MAX_OTHERS);
}

void blame_worked_print(const blame_report *r, const blame_worked *w, FILE *f)
{
    print_head(r, w, f);
    if (w->fault)
        print_pairs(w, f);
    for (int i = 0; i < w->trace.n && !w->fault; i++)
        fprintf(f, "  %-*s %s\n", NAME, w->trace.step[i].name, w->trace.step[i].text);
    if (w->trace.honest)
        fprintf(f, "  (%s)\n", w->trace.honest);
    print_reach(r, w, f);
    print_others(w, f);
}

/* ---- JSON ---- */

static json_t *json_value(const blame_report *r, const blame_worked *w, int64_t value)
{
    const uint32_t bits = (uint32_t)value;
    float f;
    memcpy(&f, &bits, sizeof f);
    if (type_of(r, w)->elem.kind != ASSAY_KIND_F32)
        return json_integer(value);
    return page_json_number((double)f);
}

static json_t *json_cause(const blame_worked *w)
{
    json_t *o = json_object();
    page_json_set(&o, "class", json_string(w->fault->class));
    page_json_set(&o, "detail", page_json_text(w->fault->detail));
    page_json_set(&o, "trace", explain_json(&w->under));
    page_json_set(&o, "parts",
                  w->parts < 0 ? json_null()
                               : json_string(w->pair[w->parts].a >= 0
                                                 ? w->trace.step[w->pair[w->parts].a].name
                                                 : w->under.step[w->pair[w->parts].b].name));
    return o;
}

json_t *blame_worked_json(const blame_report *r, const blame_worked *w)
{
    const blame_device *d = &r->device;
    const assay_node *n = &d->graph->node[r->row[w->row].node];
    json_t *o = json_object(), *others = json_array();
    char place[96];
    page_json_set(&o, "node", page_json_text(n->name));
    page_json_set(&o, "name", page_json_text(d->graph->value[n->out[0]].name));
    page_json_set(&o, "op", json_string(assay_op_get(n->op)->name));
    page_json_set(&o, "element",
                  json_string(explain_place(type_of(r, w), w->element, place, sizeof place)));
    page_json_set(&o, "sample", json_integer(d->number[w->sample]));
    page_json_set(&o, "golden", json_value(r, w, w->golden));
    page_json_set(&o, "replayed", json_value(r, w, w->trace.value));
    page_json_set(&o, "device", w->observed ? json_value(r, w, w->device) : json_null());
    page_json_set(&o, "trace", explain_json(&w->trace));
    page_json_set(&o, "cause", w->fault ? json_cause(w) : json_null());
    for (int i = 0; i < w->n_other; i++)
        page_json_add(&others, json_pack("{s:s, s:o}", "class", w->other[i].class, "detail",
                                         page_json_text(w->other[i].detail)));
    page_json_set(&o, "counterfactuals", others);
    return o;
}
