/* One rescale, explained step by step; see trial.h. */
#include "interp/api/trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/api/options.h"
#include "interp/api/rows.h"
#include "interp/assay_arithmetic.h"
#include "schemes/explain/explain.h"

assay_status assay_single_trial_start(assay_single_trial *t, const assay_scheme *s,
                                      const assay_batch *row, assay_error *err)
{
    char why[256];
    const assay_status status = assay_single_start(
        &t->single, s, row->op, assay_variant_of_codes(row->wide, row->type), err);
    t->scheme = s;
    t->row = row;
    if (!status && !assay_single_of_row(&t->single, row, 0, why, sizeof why))
        return assay_fail(err, ASSAY_ERR_SCHEME, "scheme %s: %s", s->name, why);
    return status;
}

static const char *op_of(const assay_single_trial *t)
{
    return t->row->op ? t->row->op : "conv";
}

/* ---- in words ---- */

/* The three scales of the row as float32. */
static void scales_of(const assay_batch *b, float out[3])
{
    out[0] = (float)b->in[0];
    out[1] = b->weight ? (float)b->weight[0] : 1;
    out[2] = b->out ? (float)b->out[0] : 1;
}

/* R of an encoding in float. */
static double real_of(const assay_single_trial *t)
{
    float s[3];
    if (!t->row->in)
        return assay_single_formed(&t->single, t->row->scale[0]);
    scales_of(t->row, s);
    return derive_form_scale(&t->single.rec.rescale, s[0], s[1], s[2], true);
}

/* The real scale and what the target makes of it. */
static void print_parameters(FILE *f, const assay_single_trial *t)
{
    const assay_rule_rescale *k = &t->single.rec.rescale;
    const assay_encoded *e = &t->single.encoded;
    float s[3];
    if (t->row->in) {
        scales_of(t->row, s);
        fprintf(f, "  scales                  %.9g * %.9g / %.9g, exactly %.17g\n", (double)s[0],
                (double)s[1], (double)s[2], (double)s[0] * (double)s[1] / (double)s[2]);
    }
    if (assay_single_is_float(&t->single)) {
        fprintf(f, "  R                       %.*g\n", k->encoding == ASSAY_ENCODE_F32 ? 9 : 17,
                real_of(t));
        return;
    }
    fprintf(f,
            "  R                       m = %" PRId64 ", shift = %" PRId64
            " as the target writes it\n",
            e->multiplier, derive_shift_to_target(k, e->shift) - e->pre);
    fprintf(f, "                          = %" PRId64 " / 2^%" PRId64 " = %.17g\n", e->multiplier,
            e->shift, ldexp((double)e->multiplier, -(int)e->shift));
    if (k->reduced_bits > 0)
        fprintf(f, "  reduced to %2d bits      %" PRId64 " / 2^%" PRId64 "\n", k->reduced_bits,
                t->single.multiplier, t->single.shift + t->single.pre);
}

static void print_steps(FILE *f, const void *trial)
{
    const assay_single_trial *t = trial;
    print_parameters(f, t);
    assay_explain_steps(f, &t->single, t->row->acc[0]);
}

void assay_single_trial_print(FILE *f, const void *trial)
{
    const assay_single_trial *t = trial;
    char elem[8];
    fprintf(f, "%s, %s to %s\n", t->scheme->name, op_of(t), assay_elem_print(t->row->type, elem));
    print_steps(f, t);
}

/* ---- for programs ---- */

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

json_t *assay_single_trial_json(const assay_single_trial *t)
{
    char *text, why[256], elem[8];
    int64_t code;
    json_t *row = json_object();
    const bool whole = !assay_text_of(print_steps, t, &text, NULL);
    const bool has_code =
        assay_single_code(&t->single, t->row->acc[0], true, &code, why, sizeof why);

    page_json_set(&row, "scheme", page_json_text(t->scheme->name));
    page_json_set(&row, "op", json_string(op_of(t)));
    page_json_set(&row, "type", json_string(assay_elem_print(t->row->type, elem)));
    page_json_set(&row, "acc", json_integer(t->row->acc[0]));
    page_json_set(&row, "code", has_code ? json_integer(code) : json_null());
    page_json_set(&row, "steps", whole ? steps_json(text) : NULL);
    free(text);
    return row;
}

assay_status assay_scheme_try(const assay_scheme *s, const assay_rescales *row, char **text,
                              char **json, assay_error *err)
{
    char **const texts[] = {text, json};
    assay_batch b;
    assay_single_trial t;
    assay_texts_begin(texts, 2);
    assay_status status = assay_rows_batch(s, row, &b, err);
    if (!status && b.n != 1)
        status =
            assay_fail(err, ASSAY_ERR_INPUT, "only a single row can be explained, not %zu", b.n);
    if (!status)
        status = assay_single_trial_start(&t, s, &b, err);
    if (!status)
        status = assay_text_of(assay_single_trial_print, &t, text, err);
    if (!status && json)
        status = assay_text_of_json(assay_single_trial_json(&t), json, err);
    return assay_texts_end(status, texts, 2);
}
