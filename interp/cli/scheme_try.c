/* assay scheme try: one rescale, explained step by step. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/api/options.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/explain/explain.h"
#include "schemes/mac/mac.h"

#define WIDEST 9007199254740991.0 /* integers that a double holds */

typedef struct numbers {
    int64_t acc, multiplier, shift, pre, zero, in_zero, lo, hi;
    double scale, in, weight, out;
} numbers;

static bool read_numbers(const cli_args *a, numbers *n)
{
    const int64_t max = (int64_t)WIDEST;
    return cli_integer(a, "acc", 0, -max, max, &n->acc) &&
           cli_number(a, "scale", 0, -1e30, 1e30, &n->scale) &&
           cli_integer(a, "multiplier", 0, -4294967296, 4294967296, &n->multiplier) &&
           cli_integer(a, "shift", 0, -1100, 1100, &n->shift) &&
           cli_integer(a, "pre", 0, 0, 62, &n->pre) &&
           cli_integer(a, "zp", 0, INT32_MIN, INT32_MAX, &n->zero) &&
           cli_integer(a, "in-zp", 0, INT32_MIN, INT32_MAX, &n->in_zero) &&
           cli_integer(a, "min", 0, INT32_MIN, INT32_MAX, &n->lo) &&
           cli_integer(a, "max", 0, INT32_MIN, INT32_MAX, &n->hi) &&
           cli_number(a, "in-scale", 1, 1e-30, 1e30, &n->in) &&
           cli_number(a, "weight-scale", 1, 1e-30, 1e30, &n->weight) &&
           cli_number(a, "out-scale", 1, 1e-30, 1e30, &n->out);
}

/* The real scale and what the target makes of it. */
static void print_parameters(FILE *f, const assay_single *o, const numbers *n, bool formed)
{
    const assay_rule_rescale *k = &o->rec.rescale;
    if (formed)
        fprintf(f, "  scales                  %.9g * %.9g / %.9g, exactly %.17g\n",
                (double)(float)n->in, (double)(float)n->weight, (double)(float)n->out,
                (double)(float)n->in * (double)(float)n->weight / (double)(float)n->out);
    if (assay_single_is_float(o)) {
        double r = formed
                       ? derive_form_scale(k, (float)n->in, (float)n->weight, (float)n->out, true)
                       : assay_single_formed(o, n->scale);
        fprintf(f, "  R                       %.*g\n", k->encoding == ASSAY_ENCODE_F32 ? 9 : 17, r);
        return;
    }
    fprintf(f,
            "  R                       m = %" PRId64 ", shift = %" PRId64
            " as the target writes it\n",
            o->encoded.multiplier, derive_shift_to_target(k, o->encoded.shift) - o->encoded.pre);
    fprintf(f, "                          = %" PRId64 " / 2^%" PRId64 " = %.17g\n",
            o->encoded.multiplier, o->encoded.shift,
            ldexp((double)o->encoded.multiplier, -(int)o->encoded.shift));
    if (k->reduced_bits > 0)
        fprintf(f, "  reduced to %2d bits      %" PRId64 " / 2^%" PRId64 "\n", k->reduced_bits,
                o->multiplier, o->shift + o->pre);
}

/* Lines as explain.h prints them: [name, text] each. */
static json_t *steps_json(const char *text)
{
    json_t *list = json_array();
    for (const char *line = text; *line != '\0';) {
        const size_t n = strcspn(line, "\n"), head = 2 + ASSAY_EXPLAIN_NAME;
        size_t name = n < head ? n : head;
        json_t *step = json_array();
        const size_t from = name;
        while (name > 2 && line[name - 1] == ' ')
            name--;
        page_json_add(&step, json_stringn(line + 2, name > 2 ? name - 2 : 0));
        page_json_add(&step, json_stringn(line + from, n - from));
        page_json_add(&list, step);
        line += n + (line[n] == '\n');
    }
    return list;
}

/* One rescale. */
typedef struct trial {
    assay_single o;
    const numbers *n;
    bool formed;
} trial;

static void print_steps(FILE *f, const void *what)
{
    const trial *t = what;
    print_parameters(f, &t->o, t->n, t->formed);
    assay_explain_steps(f, &t->o, t->n->acc);
}

static int write_json(const cli_args *a, const trial *t, const char *scheme, const char *elem)
{
    char *text, why[256];
    int64_t code;
    json_t *row = json_object();
    const bool whole = !assay_text_of(print_steps, t, &text, NULL);

    page_json_set(&row, "scheme", page_json_text(scheme));
    page_json_set(&row, "op", json_string(cli_value(a, "op", "conv")));
    page_json_set(&row, "type", json_string(elem));
    page_json_set(&row, "acc", json_integer(t->n->acc));
    page_json_set(&row, "code",
                  assay_single_code(&t->o, t->n->acc, true, &code, why, sizeof why)
                      ? json_integer(code)
                      : json_null());
    page_json_set(&row, "steps", whole ? steps_json(text) : NULL);
    free(text);
    return cli_json_write(a, row);
}

static int explain(const cli_args *a, const assay_scheme *s, const numbers *n, assay_elem type)
{
    assay_error err;
    trial t = {.n = n,
               .formed =
                   cli_has(a, "in-scale") || cli_has(a, "weight-scale") || cli_has(a, "out-scale")};
    char why[256];
    const assay_batch b = {.n = 1,
                           .type = type,
                           .scale = cli_has(a, "scale") ? &n->scale : NULL,
                           .per_tensor = cli_has(a, "per-tensor"),
                           .multiplier = &n->multiplier,
                           .shift = &n->shift,
                           .pre = &n->pre,
                           .zero_point = &n->zero,
                           .in_zero = &n->in_zero,
                           .lo = cli_has(a, "min") ? &n->lo : NULL,
                           .hi = cli_has(a, "max") ? &n->hi : NULL};
    if (assay_single_start(&t.o, s, cli_value(a, "op", NULL), cli_scheme_form(a, s, type), &err))
        return cli_failed(&err);
    bool ok = t.formed ? assay_single_form(&t.o, &b, 0, (float)n->in, (float)n->weight,
                                           (float)n->out, why, sizeof why)
                       : assay_single_set(&t.o, &b, 0, why, sizeof why);
    if (!ok)
        return cli_trouble("scheme %s: %s", s->name, why);
    char elem[8];
    assay_elem_print(type, elem);
    fprintf(cli_notes_of(a), "%s, %s to %s\n", s->name, cli_value(a, "op", "conv"), elem);
    print_steps(cli_notes_of(a), &t);
    return cli_has(a, "json") ? write_json(a, &t, s->name, elem) : CLI_OK;
}

/* A zero point tells signed from unsigned codes when no type is asked for. */
static bool fit_type(const cli_args *a, const numbers *n, assay_elem *type)
{
    char elem[8];
    assay_elem other = *type;
    other.is_signed = !other.is_signed;
    bool fits = n->zero >= assay_elem_min(*type) && n->zero <= assay_elem_max(*type);
    if (!fits && !cli_has(a, "type") && n->zero >= assay_elem_min(other) &&
        n->zero <= assay_elem_max(other)) {
        *type = other;
        fits = true;
    }
    if (fits)
        return true;
    cli_trouble("scheme try: --zp %" PRId64 " is outside %s, %" PRId64 "..%" PRId64, n->zero,
                assay_elem_print(*type, elem), assay_elem_min(*type), assay_elem_max(*type));
    return false;
}

int cli_scheme_try(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;
    assay_elem type;
    numbers n;
    bool scales = cli_has(a, "in-scale") || cli_has(a, "weight-scale") || cli_has(a, "out-scale");
    bool given = cli_has(a, "multiplier") && cli_has(a, "shift");

    if (mac_is_unit(a->positional[1]))
        return cli_has(a, "json")
                   ? cli_trouble("scheme try: --json applies to schemes, not to units")
                   : cli_unit_try(a);
    if (!cli_has(a, "acc") || cli_has(a, "scale") + given + scales != 1 ||
        (cli_has(a, "multiplier") || cli_has(a, "shift") || cli_has(a, "pre")) != given)
        return cli_trouble("scheme try: needs --acc and one of --scale, --multiplier with --shift, "
                           "or --in-scale with --weight-scale and --out-scale");
    if (!read_numbers(a, &n))
        return CLI_TROUBLE;
    if (cli_has(a, "scale") && fabs(n.scale) < (double)FLT_MIN)
        return cli_trouble("scheme try: --scale %g is %s; expected a normal float32", n.scale,
                           n.scale == 0 ? "zero" : "subnormal");
    if (assay_scheme_open(a->positional[1], &s, &err))
        return cli_failed(&err);
    int status = cli_scheme_type(a, s, &type) && fit_type(a, &n, &type) ? explain(a, s, &n, type)
                                                                        : CLI_TROUBLE;
    assay_scheme_free(s);
    return status;
}
