/* Findings in words, as JSON, and as a scheme file. */
#include <inttypes.h>
#include <string.h>

#include "interp/page/json.h"
#include "interp/probe/find.h"

enum { PROBE_FIELD = 192 };
static const char *const verdicts[] = {"class", "none"};

/* ---- words ---- */

/* "rescale.round: [half-up]", as the record has it. */
static void say_field(const probe_op_finding *o, const assay_field *field, char text[PROBE_FIELD])
{
    char value[96];
    assay_field_print(field, assay_record_get(&o->record, field), value, sizeof value);
    snprintf(text, PROBE_FIELD, "%s.%s: %s", field->section, field->name, value);
}

static void print_changes(FILE *f, const probe_op_finding *o)
{
    for (int i = 0; i < o->n_changes; i++) {
        char text[PROBE_FIELD];
        say_field(o, o->change[i], text);
        fprintf(f, "%s%s", i ? ", " : "", text);
    }
}

/* Adds a piece to a list that is broken into lines of WIDTH columns. */
static void add_piece(FILE *f, const char *text, int *column)
{
    enum { WIDTH = 110, INDENT = 13 };
    const int length = (int)strlen(text) + 2;
    if (*column > INDENT && *column + length > WIDTH) {
        fprintf(f, ",\n%*s", INDENT, "");
        *column = INDENT;
    } else if (*column > INDENT) {
        fprintf(f, ", ");
    }
    fprintf(f, "%s", text);
    *column += length;
}

static void print_schemes(FILE *f, const probe_findings *found, const bool *agrees)
{
    int column = 13;
    fprintf(f, "    as in:   ");
    for (int k = 0; k < found->schemes.n; k++)
        if (agrees[k])
            add_piece(f, found->schemes.scheme[k]->name, &column);
    fprintf(f, "\n");
}

static void print_settled(FILE *f, const probe_op_finding *o)
{
    int column = 13;
    if (o->n_settled > 0)
        fprintf(f, "    settled: ");
    for (int i = 0; i < o->n_settled; i++) {
        char text[PROBE_FIELD];
        say_field(o, o->settled[i], text);
        add_piece(f, text, &column);
    }
    fprintf(f, o->n_settled > 0 ? "\n" : "");
}

static void print_open(FILE *f, const probe_op_finding *o)
{
    enum { SHOWN = 12 };
    int column = 13, n = 0;
    for (int i = 0; i < o->n_open; i++)
        n += i == 0 || o->open[i].field != o->open[i - 1].field;
    if (n > SHOWN)
        fprintf(f, "    open:    %d fields, which --json lists\n", n);
    if (n == 0 || n > SHOWN)
        return;
    fprintf(f, "    open:    ");
    for (int i = 0; i < o->n_open; i++) {
        char text[PROBE_FIELD];
        if (i > 0 && o->open[i].field == o->open[i - 1].field)
            continue;
        snprintf(text, sizeof text, "%s.%s", o->open[i].field->section, o->open[i].field->name);
        add_piece(f, text, &column);
    }
    fprintf(f, "\n");
}

static void print_op(FILE *f, const probe_findings *found, const probe_op_finding *o)
{
    bool any = false;
    for (int k = 0; k < found->schemes.n; k++)
        any = any || o->agrees[k];
    fprintf(f, "  %s, %" PRId64 " elements of %d node%s\n", probe_op_name(o), o->elements,
            o->n_nodes, o->n_nodes == 1 ? "" : "s");
    if (any) {
        print_schemes(f, found, o->agrees);
    } else if (probe_is_float(found, o)) {
        fprintf(f, "    as in:   %s computes it in floats, of which nothing is said\n",
                found->schemes.scheme[probe_base(found)]->name);
        return;
    } else {
        fprintf(f, "    as in:   no scheme; %s%s", found->schemes.scheme[o->nearest]->name,
                o->n_changes ? " with " : "");
        print_changes(f, o);
        fprintf(f, ": %" PRId64 " of %" PRId64 " elements\n", o->given, o->elements);
    }
    print_settled(f, o);
    print_open(f, o);
    for (int i = 0; i < o->n_against; i++)
        fprintf(f, "    against: %s\n", o->against[i]);
}

/* Those that agree with most ops. */
static bool is_nearest(const probe_findings *found, int k)
{
    return probe_count_agreed(found, k) == probe_count_agreed(found, probe_base(found));
}

static void print_nearest(FILE *f, const probe_findings *found)
{
    int n = 0;
    fprintf(f, "no scheme agrees with every answer; ");
    for (int k = 0; k < found->schemes.n; k++)
        if (is_nearest(found, k))
            fprintf(f, "%s%s", n++ ? ", " : "", found->schemes.scheme[k]->name);
    fprintf(f, " with %d of %d ops\n", probe_count_agreed(found, probe_base(found)), found->n_ops);
}

void probe_print_report(FILE *f, const probe_findings *found, const char *path)
{
    int all = 0;
    for (int k = 0; k < found->schemes.n; k++)
        if (probe_agrees(found, k))
            fprintf(f, "%s%s", all++ ? ", " : "this is ", found->schemes.scheme[k]->name);
    if (all)
        fprintf(f, " (%s with every answer in integers)\n", all > 1 ? "they agree" : "it agrees");
    else
        print_nearest(f, found);
    fprintf(f, "%s\n", verdicts[!probe_is_explained(found)]);
    for (int i = 0; i < found->n_ops; i++)
        print_op(f, found, &found->op[i]);
    for (int i = 0; i < found->n_unanswered; i++)
        fprintf(f, "  %-16s not answered\n", found->unanswered[i]);
    if (path)
        fprintf(f, "%s: a scheme that gives %s\n", path,
                probe_is_explained(found) ? "these answers" : "most of these answers");
}

/* ---- a scheme file ---- */

static void print_record(FILE *f, const probe_op_finding *o, const assay_scheme *base,
                         const char **scope)
{
    assay_record theirs;
    const assay_field *field[64];
    const char *section = "";
    assay_effective_record(assay_data(base), assay_op_get(o->op)->name, "", o->form, &theirs);
    const int n = probe_changes(o->op, &theirs, &o->record, field, 64);
    if (n == 0)
        return;
    if (strcmp(*scope, probe_scope_name(o)) != 0)
        fprintf(f, "%s:\n", *scope = probe_scope_name(o));
    fprintf(f, "  %s:\n", probe_op_name(o));
    for (int i = 0; i < n; i++) {
        char text[96];
        assay_field_print(field[i], assay_record_get(&o->record, field[i]), text, sizeof text);
        if (strcmp(section, field[i]->section) != 0)
            fprintf(f, "    %s:\n", section = field[i]->section);
        fprintf(f, "      %s: %s\n", field[i]->name, text);
    }
}

void probe_print_scheme(FILE *f, const probe_findings *found)
{
    static const char *const scopes[] = {"ops", "wide_ops", "unsigned_ops"};
    const int base = probe_base(found);
    const assay_scheme *scheme = found->schemes.scheme[base];
    const char *scope = "";
    fprintf(f, "scheme: found\ndescription: of assay infer, %s\nextends: %s\n",
            probe_is_explained(found) ? "which gives every answer" : "the nearest", scheme->name);
    for (size_t s = 0; s < sizeof scopes / sizeof *scopes; s++)
        for (int i = 0; i < found->n_ops; i++)
            if (!found->op[i].agrees[base] && !probe_is_float(found, &found->op[i]) &&
                strcmp(probe_scope_name(&found->op[i]), scopes[s]) == 0)
                print_record(f, &found->op[i], scheme, &scope);
}

/* ---- JSON ---- */

static json_t *json_open(const probe_op_finding *o)
{
    json_t *open = json_object();
    for (int i = 0; i < o->n_open;) {
        const assay_field *field = o->open[i].field;
        json_t *values = json_array();
        char text[96], name[80];
        assay_field_print(field, assay_record_get(&o->record, field), text, sizeof text);
        page_json_add(&values, json_string(text));
        for (; i < o->n_open && o->open[i].field == field; i++) {
            assay_field_print(field, o->open[i].value, text, sizeof text);
            page_json_add(&values, json_string(text));
        }
        snprintf(name, sizeof name, "%s.%s", field->section, field->name);
        page_json_set(&open, name, values);
    }
    return open;
}

static json_t *json_op(const probe_findings *found, const probe_op_finding *o)
{
    json_t *j = json_object(), *presets = json_array(), *changes = json_object(),
           *against = json_array(), *settled = json_array();
    for (int k = 0; k < found->schemes.n; k++)
        if (o->agrees[k])
            page_json_add(&presets, json_string(found->schemes.scheme[k]->name));
    for (int i = 0; i < o->n_changes; i++) {
        char text[96], name[80];
        assay_field_print(o->change[i], assay_record_get(&o->record, o->change[i]), text,
                          sizeof text);
        snprintf(name, sizeof name, "%s.%s", o->change[i]->section, o->change[i]->name);
        page_json_set(&changes, name, json_string(text));
    }
    for (int i = 0; i < o->n_settled; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s.%s", o->settled[i]->section, o->settled[i]->name);
        page_json_add(&settled, json_string(name));
    }
    for (int i = 0; i < o->n_against; i++)
        page_json_add(&against, page_json_text(o->against[i]));
    page_json_set(&j, "op", json_string(probe_op_name(o)));
    page_json_set(&j, "verdict",
                  json_string(probe_is_float(found, o) ? "float" : verdicts[!probe_is_full(o)]));
    page_json_set(&j, "presets", presets);
    page_json_set(&j, "nearest", page_json_text(found->schemes.scheme[o->nearest]->name));
    page_json_set(&j, "changes", changes);
    page_json_set(&j, "open", json_open(o));
    page_json_set(&j, "settled", settled);
    page_json_set(&j, "nodes", json_integer(o->n_nodes));
    page_json_set(&j, "elements", json_integer(o->elements));
    page_json_set(&j, "given", json_integer(o->given));
    page_json_set(&j, "contradictions", against);
    return j;
}

assay_status probe_write_json(const char *file, const probe_findings *found, const char *path,
                              assay_error *err)
{
    json_t *j = json_object(), *presets = json_array(), *ops = json_array(), *not = json_array(),
           *nearest = json_array();
    for (int k = 0; k < found->schemes.n; k++)
        if (probe_agrees(found, k))
            page_json_add(&presets, page_json_text(found->schemes.scheme[k]->name));
    for (int k = 0; k < found->schemes.n; k++)
        if (is_nearest(found, k))
            page_json_add(&nearest, page_json_text(found->schemes.scheme[k]->name));
    for (int i = 0; i < found->n_ops; i++)
        page_json_add(&ops, json_op(found, &found->op[i]));
    for (int i = 0; i < found->n_unanswered; i++)
        page_json_add(&not, json_string(found->unanswered[i]));
    page_json_set(&j, "verdict", json_string(verdicts[!probe_is_explained(found)]));
    page_json_set(&j, "presets", presets);
    page_json_set(&j, "nearest", nearest);
    page_json_set(&j, "found", path ? page_json_text(path) : json_null());
    page_json_set(&j, "ops", ops);
    page_json_set(&j, "not_answered", not );
    const assay_status status = page_json_write(file, j, err);
    json_decref(j);
    return status;
}
