/* Findings in words and as a scheme file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interp/page/column.h"
#include "interp/probe/find.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/reads.h"

enum { PROBE_FIELD = 192 };

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

/* Fields of one state, each as the record has it, or by its name alone. */
static void print_fields(FILE *f, const probe_op_finding *o, const char *what,
                         enum probe_state state)
{
    size_t n;
    const assay_field *field = assay_record_fields(&n);
    int column = 13;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        char text[PROBE_FIELD];
        if (o->state[i] != state)
            continue;
        if (!any)
            fprintf(f, "    %-9s", what);
        any = true;
        say_field(o, &field[i], text);
        add_piece(f, text, &column);
    }
    fprintf(f, any ? "\n" : "");
}

/* "rescale.sum_bits: 8, 0, ...": values of a field that is open. */
static void say_open(const probe_op_finding *o, const assay_field *field, enum probe_state state,
                     char *text, size_t size)
{
    enum { SHOWN = 6 };
    int n = 0;
    size_t used = (size_t)snprintf(text, size, "%s.%s", field->section, field->name);
    for (int i = 0; i < o->n_open; i++) {
        char value[96];
        if (o->open[i].field != field || n++ >= SHOWN)
            continue;
        assay_field_print(field, o->open[i].value, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%s%s", n == 1 ? " (or " : " ", value);
    }
    if (n > SHOWN || state == PROBE_OPEN_MORE)
        used += (size_t)snprintf(text + used, size - used, " ...");
    snprintf(text + used, size - used, "%s", n > 0 ? ")" : "");
}

static void print_open(FILE *f, const probe_op_finding *o)
{
    enum { SHOWN = 8 };
    size_t n;
    const assay_field *field = assay_record_fields(&n);
    int open = 0, column = 13;
    for (size_t i = 0; i < n; i++) {
        char text[800];
        if (!probe_is_open(o->state[i]) || open++ >= SHOWN)
            continue;
        if (open == 1)
            fprintf(f, "    open:    ");
        say_open(o, &field[i], o->state[i], text, sizeof text);
        add_piece(f, text, &column);
    }
    if (open > SHOWN)
        fprintf(f, ", and %d more, which the report as JSON lists", open - SHOWN);
    fprintf(f, open > 0 ? "\n" : "");
}

static void print_op(FILE *f, const probe_findings *found, const probe_op_finding *o)
{
    bool any = false;
    for (int k = 0; k < found->schemes.n; k++)
        any = any || o->agrees[k];
    fprintf(f, "  %s, %" PRId64 " element%s of %d node%s\n", probe_op_name(o), o->elements,
            page_plural(o->elements), o->n_nodes, page_plural(o->n_nodes));
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
    if (o->state) {
        print_fields(f, o, "settled:", PROBE_HELD);
        print_fields(f, o, "unseen:", PROBE_UNSEEN);
        print_open(f, o);
    }
    for (int i = 0; i < o->n_against; i++)
        fprintf(f, "    against: %s\n", o->against[i]);
}

static void print_stretch(FILE *f, const probe_findings *found, const probe_stretch *s)
{
    bool any = false;
    for (int k = 0; k < found->schemes.n; k++)
        any = any || s->agrees[k];
    fprintf(f, "  to %s, %" PRId64 " elements behind %d nodes of which some were not dumped\n",
            s->end, s->elements, s->n_nodes);
    if (any)
        print_schemes(f, found, s->agrees);
    else if (s->as_found)
        fprintf(f, "    as in:   no scheme, but what was found op by op\n");
    else
        fprintf(f,
                "    as in:   no scheme, nor what was found op by op: %" PRId64 " of %" PRId64
                " elements\n",
                s->given, s->elements);
    for (int i = 0; i < s->n_against; i++)
        fprintf(f, "    against: %s\n", s->against[i]);
}

static void print_nearest(FILE *f, const probe_findings *found)
{
    int n = 0;
    fprintf(f, "no scheme agrees with every answer; ");
    for (int k = 0; k < found->schemes.n; k++)
        if (probe_is_nearest(found, k))
            fprintf(f, "%s%s", n++ ? ", " : "", found->schemes.scheme[k]->name);
    fprintf(f, " with %d of %d %s\n", probe_count_agreed(found, probe_base(found)),
            found->n_ops + found->n_stretches, found->n_stretches ? "ops and stretches" : "ops");
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
    fprintf(f, "%s\n", probe_verdict(probe_is_explained(found)));
    for (int i = 0; i < found->n_ops; i++)
        print_op(f, found, &found->op[i]);
    for (int i = 0; i < found->n_stretches; i++)
        print_stretch(f, found, &found->stretch[i]);
    for (int i = 0; i < found->n_unanswered; i++)
        fprintf(f, "  %-16s not answered\n", found->unanswered[i]);
    if (found->not_of_network > 0)
        fprintf(f, "  %" PRId64 " dumps are of no tensor that is known by that name\n",
                found->not_of_network);
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
    assay_effective_record(assay_data(base), assay_op_get(o->op)->name, "", o->variant, &theirs);
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

/* Where a scheme was read from, as a path that holds from any folder; NULL: it is a shipped one,
 * known by its name. To be freed. */
static char *file_of(const assay_scheme *scheme)
{
    const assay_scheme_data *d = assay_data(scheme);
    const char *last = d->n_from > 0 ? d->from[d->n_from - 1] : "";
    return strchr(last, '/') ? realpath(last, NULL) : NULL;
}

/* A YAML scalar that may hold anything (double quotes, YAML 1.2 5.7). */
static void print_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++)
        fprintf(f, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputs("\"\n", f);
}

void probe_print_scheme(FILE *f, const probe_findings *found)
{
    static const char *const scopes[] = {"ops", "wide_ops", "unsigned_ops"};
    const int base = probe_base(found);
    const assay_scheme *scheme = found->schemes.scheme[base];
    const char *scope = "";
    char *file = file_of(scheme);
    fprintf(f, "scheme: found\ndescription: of assay infer, %s\nextends: ",
            probe_is_explained(found) ? "which gives every answer" : "the nearest");
    if (file)
        print_quoted(f, file);
    else
        fprintf(f, "%s\n", scheme->name);
    free(file);
    for (size_t s = 0; s < sizeof scopes / sizeof *scopes; s++)
        for (int i = 0; i < found->n_ops; i++)
            if (!found->op[i].agrees[base] && !probe_is_float(found, &found->op[i]) &&
                strcmp(probe_scope_name(&found->op[i]), scopes[s]) == 0)
                print_record(f, &found->op[i], scheme, &scope);
}
