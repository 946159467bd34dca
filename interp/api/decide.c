/* Schemes compared over scales and networks; see decide.h. */
#include "interp/api/decide.h"

#include <stdlib.h>
#include <string.h>

#include "interp/api/options.h"
#include "interp/api/rows.h"

/* ---- what is asked ---- */

static assay_status check_numbers(const assay_scheme_question *o, assay_error *err)
{
    if (o->scales < 0 || o->scales > 1000000 ||
        (o->scales > 0 && !(o->scale[0] >= 1e-30 && o->scale[0] <= 1e30)) ||
        (o->scales > 1 && !(o->scale[1] >= o->scale[0] && o->scale[1] <= 1e30)))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "scale takes at most 1000000 scales from low to high, 1e-30 to 1e30");
    if (o->zero_point != (int32_t)o->zero_point || o->in_zero_point != (int32_t)o->in_zero_point)
        return assay_fail(err, ASSAY_ERR_INPUT, "zero points have 32 bits");
    return o->has_acc ? assay_rows_range(o->acc, err) : ASSAY_OK;
}

assay_status assay_decide_question(const assay_scheme *const *s, int n,
                                   const assay_scheme_question *o, decide_question *out,
                                   assay_error *err)
{
    *out = (decide_question){.op = o->op,
                             .wide = o->wide,
                             .zero = o->zero_point,
                             .in_zero = o->in_zero_point,
                             .lo = o->has_acc ? o->acc[0] : -(1 << 20),
                             .hi = o->has_acc ? o->acc[1] : 1 << 20,
                             .scale = {o->scale[0], o->scale[1]},
                             .scales = o->scales,
                             .graph = o->graph};
    assay_status status = assay_schemes_differ(s, (size_t)n, false, err);
    for (int i = 0; i < n && !status; i++)
        status = assay_scheme_has(s[i], o->op, err);
    if (!status)
        status = check_numbers(o, err);
    return status ? status : assay_rows_type(s[0], o->type, &out->type, err);
}

/* ---- two ---- */

/* A job that prints: what it came to beside its text. */
typedef struct job {
    const assay_scheme *const *scheme;
    int n;
    decide_question question;
    bool as_is;
    bool *differ;
    int *undecided;
    json_t *json;
    assay_status status;
    assay_error *err;
} job;

static void compare(FILE *f, const void *what)
{
    job *j = (job *)(uintptr_t)what;
    decide_pair p;
    decide_pair_open(&p, j->scheme[0], j->scheme[1], f);
    p.as_is = j->as_is;
    j->status = decide_compare(&p, &j->question, j->err);
    j->json = decide_pair_json(&p, &j->question);
    *j->differ = p.differ;
    *j->undecided = decide_undecided(&p);
    decide_pair_close(&p);
}

static void beside(FILE *f, const void *what)
{
    job *j = (job *)(uintptr_t)what;
    j->status = decide_matrix(j->scheme, j->n, &j->question, j->as_is, f, &j->json, j->err);
}

/* Does the job; texts that are wanted are given. */
static assay_status run(job *j, void (*print)(FILE *f, const void *what), char **text, char **json)
{
    char *said = NULL;
    assay_status status = assay_text_of(print, j, &said, j->err);
    if (!status)
        status = j->status;
    if (!status && json)
        status = assay_text_of_json(json_incref(j->json), json, j->err);
    json_decref(j->json);
    if (text && !status)
        *text = said;
    else
        free(said);
    return status;
}

assay_status assay_scheme_compare(const assay_scheme *a, const assay_scheme *b,
                                  const assay_scheme_question *question, bool *differ,
                                  int *undecided, char **text, char **json, assay_error *err)
{
    char **const texts[] = {text, json};
    const assay_scheme *const both[] = {a, b};
    bool differs = false;
    int open = 0;
    job j = {.scheme = both, .n = 2, .differ = &differs, .undecided = &open, .err = err};
    assay_scheme_question o;
    assay_status status = ASSAY_OPTIONS_TAKE(question, &o, err);

    assay_texts_begin(texts, 2);
    j.as_is = o.as_is;
    if (!status)
        status = assay_decide_question(both, 2, &o, &j.question, err);
    if (!status)
        status = run(&j, compare, text, json);
    if (!status) {
        *differ = differs;
        *undecided = open;
    }
    return assay_texts_end(status, texts, 2);
}

/* ---- many ---- */

assay_status assay_scheme_matrix(const assay_scheme *const *s, size_t n,
                                 const assay_scheme_question *question, char **text, char **json,
                                 assay_error *err)
{
    char **const texts[] = {text, json};
    job j = {.scheme = s, .n = n > DECIDE_MATRIX_SCHEMES ? DECIDE_MATRIX_SCHEMES + 1 : (int)n};
    assay_scheme_question o;
    assay_status status = ASSAY_OPTIONS_TAKE(question, &o, err);

    assay_texts_begin(texts, 2);
    j.err = err;
    j.as_is = o.as_is;
    if (!status && (n == 0 || (o.scales == 0 && !o.graph)))
        status =
            assay_fail(err, ASSAY_ERR_INPUT, "a matrix needs schemes, and scales or a network");
    if (!status)
        status =
            assay_decide_question(s, j.n > DECIDE_MATRIX_SCHEMES ? 1 : j.n, &o, &j.question, err);
    if (!status)
        status = run(&j, beside, text, json);
    return assay_texts_end(status, texts, 2);
}
