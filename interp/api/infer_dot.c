/* The matrix unit that a device has: its dot products. */
#include "interp/api/listener.h"
#include "interp/api/options.h"
#include "interp/assay_arithmetic.h"
#include "interp/infer/dot/dot.h"

static assay_status take_format(const char *member, const char *name, const char *otherwise,
                                int64_t *out, assay_error *err)
{
    enum assay_mac_format f;
    name = name ? name : otherwise;
    if (!name || !mac_format_parse(name, &f))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s takes a format (f32, bf16, e4m3fn, ...), not '%.40s'", member,
                          name ? name : "");
    *out = (int64_t)f;
    return ASSAY_OK;
}

static assay_status take(const assay_infer_dot_options *o, infer_dot_options *own, assay_error *err)
{
    *own = (infer_dot_options){.device = {.oracle = o->oracle,
                                          .ask = o->ask,
                                          .user = o->user,
                                          .budget = o->budget ? o->budget : 20000,
                                          .timeout = o->timeout > 0 ? o->timeout : 60},
                               .scale_block = o->scale_block,
                               .k = o->k,
                               .seconds = o->seconds > 0 ? o->seconds : 60};
    if (!o->oracle == !o->ask)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "infer takes either oracle, a command, or ask, a function");
    if (!o->scale != !o->scale_block)
        return assay_fail(err, ASSAY_ERR_INPUT, "scale and scale_block must be given together");
    if (o->k < 1 || o->k > 4096 || o->scale_block > 4096 || o->budget > 100000000)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "infer takes k from 1 to 4096, blocks of at most 4096 and at most "
                          "100000000 rows");
    assay_status status = take_format("a", o->a, NULL, &own->a, err);
    if (!status)
        status = take_format("b", o->b, NULL, &own->b, err);
    if (!status)
        status = take_format("acc", o->acc, NULL, &own->acc, err);
    if (!status)
        status = take_format("out", o->out, o->acc, &own->out, err);
    return status ? status : take_format("scale", o->scale, "e8m0", &own->scale, err);
}

typedef struct inferred {
    const infer_dot_options *o;
    const infer_dot_result *r;
} inferred;

static void print_report(FILE *f, const void *what)
{
    const inferred *x = what;
    infer_dot_print_report(f, x->o, x->r, NULL);
}

assay_status assay_infer_dot(const assay_infer_dot_options *options, enum assay_inferred *verdict,
                             char **text, char **json, char **unit, assay_error *err)
{
    char **const texts[] = {text, json, unit};
    assay_infer_dot_options o;
    infer_dot_options own = {0};
    infer_dot_result r;
    const inferred x = {&own, &r};
    assay_row_listener listener;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    assay_texts_begin(texts, 3);
    if (!status)
        status = take(&o, &own, err);
    assay_listen_to_rows(&listener, o.progress, o.progress_user, &own.device);
    if (!status)
        status = infer_dot_run(&own, &r, err);
    if (!status)
        status = assay_text_of(print_report, &x, text, err);
    if (!status)
        status = assay_text_of(infer_dot_print_unit, &r, unit, err);
    if (!status && json)
        status = assay_text_of_json(infer_dot_json(&own, &r, NULL), json, err);
    if (!status)
        *verdict = r.verdict == INFER_NONE ? ASSAY_INFERRED_NONE : ASSAY_INFERRED_CLASS;
    return assay_texts_end(status, texts, 3);
}
