/* Rows and networks that tell schemes apart; see vectors.h. */
#include "interp/api/vectors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/partial.h"
#include "interp/api/options.h"
#include "interp/api/rows.h"
#include "schemes/record/data.h"

enum { SEED = 17 };

/* ---- what is asked ---- */

/* Accumulators: those of the record's own width, where they are not too many to decide. */
static void own_accumulators(const assay_scheme *s, vectors_space *out)
{
    enum { MAX_BITS = 48 };
    const unsigned bits = assay_scheme_accumulator_bits(s, out->op, out->wide);
    assert(bits >= 1);
    out->hi = (INT64_C(1) << ((bits < MAX_BITS ? bits : MAX_BITS) - 1)) - 1;
    out->lo = -out->hi - 1;
}

static bool is_kind(const char *kind)
{
    return !kind || strcmp(kind, "multiplier") == 0 || strcmp(kind, "scale") == 0;
}

static assay_status check(const assay_scheme *s, const assay_vectors_options *o, assay_error *err)
{
    const assay_status status = assay_scheme_has(s, o->op, err);
    if (status)
        return status;
    if (!is_kind(o->kind))
        return assay_fail(err, ASSAY_ERR_INPUT, "kind takes multiplier or scale, not '%.40s'",
                          o->kind);
    return o->has_acc ? assay_rows_range(o->acc, err) : ASSAY_OK;
}

/* What rows of this scheme are asked. */
static assay_status find_space(const assay_scheme *s, const assay_vectors_options *o,
                               vectors_space *out, assay_error *err)
{
    assay_record r;
    assay_status status = check(s, o, err);
    if (status)
        return status;
    *out =
        (vectors_space){.op = o->op ? o->op : "conv", .wide = o->wide || assay_scheme_is_wide(s)};
    status = assay_rows_type(s, o->type, &out->type, err);
    if (status)
        return status;
    assay_effective_record(assay_data(s), out->op, "", vectors_form(out), &r);
    const int32_t e = r.rescale.encoding;
    out->scales = o->kind ? strcmp(o->kind, "scale") == 0
                          : e != ASSAY_ENCODE_MULTIPLIER && e != ASSAY_ENCODE_SHIFT;
    own_accumulators(s, out);
    if (o->has_acc) {
        out->lo = o->acc[0];
        out->hi = o->acc[1];
    }
    return ASSAY_OK;
}

/* What all are asked: rows of scales where one takes no multipliers. */
static assay_status find_common_space(const assay_scheme *const *s, size_t n,
                                      const assay_vectors_options *o, vectors_telling *out,
                                      assay_error *err)
{
    assay_status status = find_space(s[0], o, &out->space, err);
    out->rows = true;
    for (size_t i = 0; i < n && !status; i++) {
        vectors_space other;
        assay_single single;
        assay_error why;
        status = find_space(s[i], o, &other, err);
        if (status)
            break;
        out->space.scales = out->space.scales || other.scales;
        out->rows = out->rows && !assay_single_start(&single, s[i], out->space.op,
                                                     vectors_form(&out->space), &why);
    }
    if (status || out->rows || n == 1)
        return status;
    if (!o->kind && !o->has_acc)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s applies to rows, but %s is not a single rescale of an accumulator under "
                      "all of these schemes",
                      o->kind ? "kind" : "acc", out->space.op);
}

/* ---- asking it ---- */

static uint64_t seed_of(const assay_vectors_options *o)
{
    return o->has_seed ? o->seed : SEED;
}

assay_status assay_tell_schemes(const assay_scheme *const *s, size_t n,
                                const assay_vectors_options *o, vectors_telling *out,
                                assay_error *err)
{
    *out = (vectors_telling){.scheme = s, .n = n, .seed = seed_of(o)};
    if (n == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "no scheme");
    assay_status status = assay_check_seed(out->seed, err);
    if (!status && o->dir)
        status = file_check_new_folder(o->dir, err);
    if (!status)
        status = find_common_space(s, n, o, out, err);
    if (!status)
        status = assay_schemes_differ(s, n, true, err);
    return status ? status : vectors_tell_run(out, err);
}

assay_status assay_judge_rows(const assay_scheme *s, const char *path,
                              const assay_vectors_options *o, vectors_judgement *out,
                              assay_error *err)
{
    vectors_space space;
    *out = (vectors_judgement){.wrong = 0};
    assay_status status = assay_check_seed(seed_of(o), err);
    if (!status)
        status = find_space(s, o, &space, err);
    return status ? status : vectors_lint(s, &space, path, seed_of(o), out, err);
}

/* ---- for programs ---- */

assay_status assay_scheme_vectors(const assay_scheme *const *s, size_t n,
                                  const assay_vectors_options *options, bool *told, char **text,
                                  char **json, assay_error *err)
{
    char **const texts[] = {text, json};
    assay_vectors_options o;
    vectors_telling t = {.n = 0};
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    assay_texts_begin(texts, 2);
    if (!status)
        status = assay_tell_schemes(s, n, &o, &t, err);
    if (!status)
        status = assay_text_of(vectors_tell_print, &t, text, err);
    if (!status && json)
        status = assay_text_of_json(vectors_tell_json(&t), json, err);
    if (!status && o.dir)
        status = vectors_tell_write(&t, o.dir, err);
    if (!status)
        *told = vectors_tell_all(&t);
    vectors_tell_free(&t);
    return assay_texts_end(status, texts, 2);
}

assay_status assay_vectors_lint(const assay_scheme *s, const char *path,
                                const assay_vectors_options *options, bool *whole, char **text,
                                char **json, assay_error *err)
{
    char **const texts[] = {text, json};
    assay_vectors_options o;
    vectors_judgement j = {.wrong = 0};
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    assay_texts_begin(texts, 2);
    if (!status)
        status = assay_judge_rows(s, path, &o, &j, err);
    if (!status)
        status = assay_text_of(vectors_lint_print, &j, text, err);
    if (!status && json)
        status = assay_text_of_json(vectors_lint_json(&j), json, err);
    if (!status)
        *whole = j.wrong + j.live == 0;
    vectors_lint_free(&j);
    return assay_texts_end(status, texts, 2);
}
