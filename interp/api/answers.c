/* Answers of a device, and the arithmetic that they show: outputs of probes, dumps of a network. */
#include "graph/memory.h"
#include "interp/api/capture.h"
#include "interp/api/data.h"
#include "interp/api/options.h"
#include "interp/api/samples.h"
#include "interp/assay_arithmetic.h"
#include "interp/probe/probe.h"

/* What print functions get: they take one pointer. */
typedef struct answers {
    const char *dir, *outputs, *next;
    const probe_ask *ask;
    const probe_findings *found;
    assay_status *status; /* of what follows */
    assay_error *err;
} answers;

static void print_report(FILE *f, const void *what)
{
    const answers *x = what;
    probe_print_report(f, x->found, NULL);
    if (x->next)
        *x->status = probe_next_print(f, x->dir, x->outputs, x->ask, x->found, x->next, x->err);
}

static void print_scheme(FILE *f, const void *what)
{
    const answers *x = what;
    probe_print_scheme(f, x->found);
}

static assay_status find(const char *dir, const char *outputs, const assay_answers_options *o,
                         bool *explained, char **const texts[3], assay_error *err)
{
    probe_findings *found = NULL;
    const probe_ask ask = {.among = o->schemes,
                           .n_among = (int)o->n_schemes,
                           .only_among = o->only,
                           .hex_bits = (int)o->hex_bits};
    char *text = NULL;
    assay_status next = ASSAY_OK, status = o->next ? probe_next_check(dir, o->next, err) : ASSAY_OK;
    if (!status)
        status = probe_find(dir, outputs, &ask, &found, err);
    const answers x = {dir, outputs, o->next, &ask, found, &next, err};
    if (!status) /* wanted or not: printing it makes the next probe */
        status = assay_text_of(print_report, &x, &text, err);
    status = status ? status : next;
    if (!status && texts[0])
        *texts[0] = text;
    else
        assay_free(text);
    if (!status)
        status = assay_text_of(print_scheme, &x, texts[2], err);
    if (!status && texts[1])
        status = assay_text_of_json(probe_json(found, NULL), texts[1], err);
    if (!status)
        *explained = probe_is_explained(found);
    probe_findings_free(found);
    return assay_texts_end(status, texts, 3);
}

assay_status assay_infer_answers(const char *dir, const char *outputs,
                                 const assay_answers_options *options, bool *explained, char **text,
                                 char **json, char **scheme, assay_error *err)
{
    char **const texts[] = {text, json, scheme};
    assay_answers_options o;
    const assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    assay_texts_begin(texts, 3);
    return status ? status : find(dir, outputs, &o, explained, texts, err);
}

/* ---- dumps of a network ---- */

static assay_status open_given(void *user, const assay_graph *g, int64_t *samples, assay_error *err)
{
    assay_arrays *x = user;
    if (x->of.count > UINT64_C(1) << 40 || (x->of.count > 0 && !x->of.input))
        return assay_fail(err, ASSAY_ERR_INPUT, "no samples, or more than 2^40");
    x->graph = g;
    *samples = (int64_t)x->of.count;
    return ASSAY_OK;
}

static assay_status read_given(void *user, const assay_graph *g, int64_t sample, int i, void *to,
                               assay_error *err)
{
    const assay_status status = assay_arrays_read(user, sample, i, to, err);
    return status ? status : assay_codes_check(&g->value[g->input[i]], to, "samples", err);
}

assay_status assay_infer_dumps(const char *model, const char *dumps, uint64_t count,
                               const void *const *input, const assay_answers_options *options,
                               bool *explained, char **text, char **json, char **scheme,
                               assay_error *err)
{
    char **const texts[] = {text, json, scheme};
    assay_arrays samples = {.of = {.count = count, .input = input}};
    assay_answers_options o;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    assay_texts_begin(texts, 3);
    if (!status && o.next)
        status =
            assay_fail(err, ASSAY_ERR_INPUT, "next applies to probes, not to a network's dumps");
    if (status)
        return status;
    assay_capture c = {.model = model,
                       .dumps = dumps,
                       .schemes = o.schemes,
                       .n_schemes = (int)o.n_schemes,
                       .open = open_given,
                       .read = read_given,
                       .user = &samples};
    status = assay_capture_make(&c, err);
    if (!status)
        status = find(c.golden, dumps, &o, explained, texts, err);
    assay_capture_end(&c);
    return status;
}
