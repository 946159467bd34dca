/* A scheme in words, tables that it fills itself, and its record. */
#include <stdlib.h>
#include <string.h>

#include "interp/api/options.h"
#include "interp/api/rows.h"
#include "interp/assay_arithmetic.h"
#include "schemes/explain/explain.h"
#include "schemes/record/data.h"

typedef struct showing {
    const assay_scheme *scheme;
    const char *op;
    bool wide;
    assay_status status;
    assay_error *err;
} showing;

static void print_indented(FILE *f, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        fprintf(f, "  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_contract(FILE *f, const assay_scheme_data *d)
{
    static const char *const names[] = {"exact", "approximate", "not modelled"};
    for (int i = 0; i < ASSAY_CONTRACTS; i++)
        if (d->contract[i]) {
            fprintf(f, "\n%s:\n", names[i]);
            print_indented(f, d->contract[i]);
        }
}

static void print_without_record(FILE *f, const assay_scheme *s)
{
    if (s->mac)
        fprintf(f, "digest %s\n%s", s->digest, s->text);
    else
        fprintf(f, "%s: a plugin; its arithmetic is code, not a record\n%s", s->name, s->text);
}

/* What is said before its tables. */
static void print_words(FILE *f, const assay_scheme *s, const char *op, bool wide)
{
    const assay_scheme_data *d = assay_data(s);
    assay_record rec;
    assay_effective_record(d, op, "", assay_scheme_own_variant(s, wide), &rec);
    fprintf(f, "%s%s%s\ndigest %s\n", s->name, s->description ? ": " : "",
            s->description ? s->description : "", s->digest);
    print_contract(f, d);
    if (d->n_from > 1)
        fprintf(f, "\ninherited:\n");
    assay_explain_inheritance(f, d);
    fprintf(f, "\nthe accumulator (%s%s):\n", op, wide ? ", wide codes" : "");
    assay_explain_sums(f, &rec);
    fprintf(f, "\na rescale (%s%s):\n", op, wide ? ", wide codes" : "");
    assay_explain_formula(f, &rec);
    if (rec.rescale.encoding == ASSAY_ENCODE_MULTIPLIER ||
        rec.rescale.encoding == ASSAY_ENCODE_SHIFT || rec.rescale.encoding == ASSAY_ENCODE_GLOW)
        fprintf(f, "  Shifts are written %s.\n", assay_explain_shift_sign(&rec.rescale));
}

static void print_record(FILE *f, showing *x)
{
    const assay_scheme *s = x->scheme;
    const char *op = x->op ? x->op : "conv";
    const bool wide = x->wide || assay_scheme_is_wide(s);
    const unsigned variant = assay_scheme_own_variant(s, wide);
    assay_single single;
    x->status = assay_single_start(&single, s, op, variant, x->err);
    if (x->status)
        return;
    print_words(f, s, op, wide);
    fprintf(
        f, "\nrounding, as the code does it ('.': no accumulator has this value; '-': refused):\n");
    x->status = assay_explain_rounding(f, s, op, variant, x->err);
    if (x->status)
        return;
    fprintf(f, "\nexamples, as the code does them:\n");
    x->status = assay_explain_examples(f, s, op, variant, x->err);
    fprintf(f, "\nrecord:\n%s", s->text);
}

static void print(FILE *f, const void *what)
{
    showing *x = (showing *)(uintptr_t)what;
    if (x->scheme->record)
        print_record(f, x);
    else
        print_without_record(f, x->scheme);
}

assay_status assay_scheme_show(const assay_scheme *s, const char *op, bool wide, char **text,
                               assay_error *err)
{
    char **const texts[] = {text};
    showing x = {.scheme = s, .op = op, .wide = wide, .err = err};
    char *said = NULL;

    assay_texts_begin(texts, 1);
    const assay_status status = assay_text_of(print, &x, &said, err);
    if (text)
        *text = said;
    else
        free(said);
    return assay_texts_end(status ? status : x.status, texts, 1);
}
