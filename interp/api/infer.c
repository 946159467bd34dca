/* The arithmetic that a device has: probes for it, its rows. */
#include <string.h>

#include "graph/core/type.h"
#include "interp/api/listener.h"
#include "interp/api/options.h"
#include "interp/assay_arithmetic.h"
#include "interp/infer/infer.h"
#include "interp/infer/window.h"
#include "interp/probe/probe.h"

/* ---- questions ---- */

static assay_status parse_forms(const char *list, probe_options *o, assay_error *err)
{
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t length = strcspn(at, ",");
        bool *form = length == 4 && strncmp(at, "text", 4) == 0     ? &o->text
                     : length == 4 && strncmp(at, "onnx", 4) == 0   ? &o->onnx
                     : length == 6 && strncmp(at, "tflite", 6) == 0 ? &o->tflite
                                                                    : NULL;
        if (!form)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "format takes text, onnx or tflite, separated by commas, not '%.40s'",
                              at);
        *form = true;
    }
    return ASSAY_OK;
}

static void tell_nobody(void *user, const char *op, const char *missing, const char *scheme)
{
    (void)user;
    (void)op;
    (void)missing;
    (void)scheme;
}

assay_status assay_probe(const char *dir, const assay_probe_options *options, assay_error *err)
{
    assay_probe_options o;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    probe_options own = {.types = o.types ? o.types : "s8s8",
                         .ops = o.ops,
                         .scheme = o.scheme,
                         .seed = o.seed ? o.seed : 1};
    if (!status)
        status = assay_check_seed(own.seed, err);
    if (!status)
        status = parse_forms(o.formats, &own, err);
    return status ? status : probe_write(dir, &own, tell_nobody, NULL, err);
}

/* ---- rows ---- */

static assay_status take_kind(const assay_infer_options *o, infer_options *own, assay_error *err)
{
    assay_elem e = {.kind = ASSAY_KIND_NONE};
    const bool scale = o->kind && strcmp(o->kind, "scale") == 0;

    own->kind = scale ? INFER_SCALE : INFER_MULTIPLIER;
    if (!o->oracle == !o->ask)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "infer takes either oracle, a command, or ask, a function");
    if (!scale && !(o->kind && strcmp(o->kind, "multiplier") == 0))
        return assay_fail(err, ASSAY_ERR_INPUT, "kind takes multiplier or scale");
    if (o->type && (strcmp(o->type, "i8") == 0 || strcmp(o->type, "i16") == 0))
        e = assay_int(o->type[1] == '8' ? 8 : 16, true);
    else if (o->type && strcmp(o->type, "u8") == 0)
        e = assay_int(8, false);
    own->type = e;
    return e.bits ? ASSAY_OK : assay_fail(err, ASSAY_ERR_INPUT, "type takes i8, u8 or i16");
}

static bool within(int64_t lo, int64_t hi, int64_t max)
{
    return lo <= hi && lo >= -max && hi <= max;
}

static assay_status take(const assay_infer_options *o, infer_options *own, assay_error *err)
{
    *own =
        (infer_options){.oracle = o->oracle,
                        .ask = o->ask,
                        .user = o->user,
                        .acc_bits = o->acc_bits ? o->acc_bits : 32,
                        .budget = o->budget ? o->budget : INFER_BUDGET,
                        .timeout = o->timeout > 0 ? o->timeout : 60,
                        .multiplier_lo = o->has_domain ? o->multiplier[0] : -INFER_MAX_MULTIPLIER,
                        .multiplier_hi = o->has_domain ? o->multiplier[1] : INFER_MAX_MULTIPLIER,
                        .shift_lo = o->has_domain ? o->shift[0] : -INFER_MAX_SHIFT,
                        .shift_hi = o->has_domain ? o->shift[1] : INFER_MAX_SHIFT};
    if (!within(own->multiplier_lo, own->multiplier_hi, INFER_MAX_MULTIPLIER) ||
        !within(own->shift_lo, own->shift_hi, INFER_MAX_SHIFT) || own->acc_bits < 2 ||
        own->acc_bits > 64 || own->budget > 100000000)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "infer takes multipliers and shifts from low to high, acc_bits from 2 to "
                          "64, and at most 100000000 rows");
    return take_kind(o, own, err);
}

static void tell_rows(void *listener, size_t rows)
{
    const assay_row_listener *l = listener;
    l->progress(l->user, (int64_t)rows, (int64_t)l->budget);
}

void assay_listen_to_rows(assay_row_listener *l, assay_progress progress, void *user,
                          infer_options *o)
{
    *l = (assay_row_listener){progress, user, o->budget};
    o->told = progress ? tell_rows : NULL;
    o->listener = l;
}

static void print_rows(FILE *f, const void *what)
{
    const infer_asked *x = what;
    infer_print_report(f, x->o, x->r, NULL);
}

assay_status assay_infer_oracle(const assay_infer_options *options, enum assay_inferred *verdict,
                                char **text, char **json, char **scheme, assay_error *err)
{
    char **const texts[] = {text, json, scheme};
    assay_infer_options o;
    infer_options own = {0};
    infer_result r = {0};
    const infer_asked x = {&own, &r};
    assay_row_listener listener;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    assay_texts_begin(texts, 3);
    if (!status)
        status = take(&o, &own, err);
    assay_listen_to_rows(&listener, o.progress, o.progress_user, &own);
    if (!status)
        status = infer_run(&own, &r, err);
    if (!status)
        status = assay_text_of(print_rows, &x, text, err);
    if (!status)
        status = assay_text_of(infer_print_scheme, &x, scheme, err);
    if (!status && json)
        status = assay_text_of_json(infer_json(&own, &r, NULL), json, err);
    if (!status)
        *verdict = r.verdict == INFER_UNIQUE  ? ASSAY_INFERRED_UNIQUE
                   : r.verdict == INFER_CLASS ? ASSAY_INFERRED_CLASS
                                              : ASSAY_INFERRED_NONE;
    infer_result_free(&r);
    return assay_texts_end(status, texts, 3);
}
