/* Choices for quantizing, from their texts. */
#include "interp/api/choices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/kernel/kernel.h"

/* The next rule: nodes that match the first `length` characters of `pattern`. */
static assay_status add_rule(assay_choices *q, const char *pattern, size_t length, assay_elem elem,
                             assay_error *err)
{
    assay_precision_rule *grown =
        realloc(q->rule, ((size_t)q->options.n_precision + 1) * sizeof *grown);
    char *copy = strndup(pattern, length);

    q->rule = grown ? grown : q->rule;
    if (!grown || !copy) {
        free(copy);
        return assay_out_of_memory(err);
    }
    grown[q->options.n_precision++] = (assay_precision_rule){.pattern = copy, .elem = elem};
    return ASSAY_OK;
}

/* "PATTERN=KIND,PATTERN=KIND,...". */
static assay_status parse_precision(const char *text, assay_choices *q, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (const char *s = text; *s && !status;) {
        const size_t n = strcspn(s, ",");
        const char *equals = memrchr(s, '=', n);
        char kind[16] = "";
        assay_elem elem;
        assay_error why;
        if (equals && (size_t)(s + n - equals) <= sizeof kind)
            snprintf(kind, sizeof kind, "%.*s", (int)(s + n - equals - 1), equals + 1);
        if (!equals || equals == s || !kind[0])
            return assay_fail(
                err, ASSAY_ERR_INPUT,
                "precision takes PATTERN=KIND[,PATTERN=KIND...], such as conv1=i16 or "
                "'fc*=f32,*=i8', not '%.200s'",
                text);
        if (assay_elem_parse(kind, &elem, &why))
            return assay_fail(err, ASSAY_ERR_INPUT, "precision: %s", why.text);
        status = add_rule(q, s, (size_t)(equals - s), elem, err);
        s += n + (s[n] == ',');
    }
    return status;
}

/* "METHOD", for all values, or "PATTERN=METHOD". */
static assay_status parse_calibration(const char *text, assay_choices *q, assay_error *err)
{
    const char *equals = strrchr(text, '=');
    assay_calibrate_rule *rule = &q->calibrate[q->options.n_calibrate];
    assay_calibrate_how *how = equals ? &rule->how : &q->options.calibration;

    if (!calibrate_find(equals ? equals + 1 : text, how))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "calibration takes [PATTERN=]METHOD, with min-max, percentile, "
                          "percentile:99.9, kl, mse, headroom or headroom:1.5, not '%.200s'",
                          text);
    if (!equals)
        return ASSAY_OK;
    rule->pattern = strndup(text, (size_t)(equals - text));
    if (!rule->pattern)
        return assay_out_of_memory(err);
    q->options.n_calibrate++;
    return ASSAY_OK;
}

static assay_status parse_activations(const assay_quantizer_options *o, assay_choices *q,
                                      assay_error *err)
{
    const char *method = o->qparams_method ? o->qparams_method : "assay";
    if (o->symmetry) {
        q->options.has_symmetry = true;
        if (!calibrate_symmetry_find(o->symmetry, &q->options.activation))
            return assay_fail(err, ASSAY_ERR_INPUT, "symmetry is %s, not '%.100s'",
                              calibrate_symmetry_names, o->symmetry);
    }
    if (strcmp(method, "glow") == 0)
        q->options.activation.method = ASSAY_QPARAMS_GLOW;
    else if (strcmp(method, "fbgemm") == 0)
        q->options.activation.method = ASSAY_QPARAMS_FBGEMM;
    else if (strcmp(method, "assay") != 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "qparams method is assay, glow or fbgemm, not '%.100s'", method);
    return ASSAY_OK;
}

static assay_status parse_weights(const assay_quantizer_options *o, assay_choices *q,
                                  assay_error *err)
{
    const char *text = o->weights ? o->weights : "min-max";
    if (o->per_tensor)
        q->options.weights = ASSAY_WEIGHTS_PER_TENSOR;
    q->options.gptq = strcmp(text, "gptq") == 0;
    if (q->options.gptq)
        return ASSAY_OK;
    if (calibrate_find(text, &q->options.weight_calibration) &&
        q->options.weight_calibration.method != ASSAY_CALIBRATE_KL &&
        q->options.weight_calibration.method != ASSAY_CALIBRATE_HEADROOM)
        return ASSAY_OK;
    return assay_fail(
        err, ASSAY_ERR_INPUT,
        "calibrate-weights takes min-max, percentile, percentile:99.9, mse or "
        "gptq, not '%.100s'; a channel has too few weights for kl, and no others for headroom",
        text);
}

static assay_status parse_smooth(const char *text, assay_choices *q, assay_error *err)
{
    char *end;
    if (!text)
        return ASSAY_OK;
    q->options.smooth = strtod(text, &end);
    if (end != text && !*end && q->options.smooth > 0 && q->options.smooth <= 1)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "smooth takes alpha, above 0 and at most 1, such as 0.5, not '%.100s'", text);
}

assay_status assay_choices_make(const assay_quantizer_options *o, assay_choices *q,
                                assay_error *err)
{
    memset(q, 0, sizeof *q);
    q->calibrate = calloc(o->n_calibrations + 1, sizeof *q->calibrate);
    if (!q->calibrate)
        return assay_out_of_memory(err);
    q->options.has_kernel = run_has_integer_kernel;
    q->options.integer_io = o->integer_io;
    assay_status status = parse_activations(o, q, err);
    for (size_t k = 0; k < o->n_calibrations && !status; k++)
        status = parse_calibration(o->calibration[k], q, err);
    q->options.calibrate = q->calibrate;
    if (!status)
        status = parse_weights(o, q, err);
    if (!status)
        status = parse_smooth(o->smooth, q, err);
    for (size_t k = 0; k < o->n_keep_float && !status; k++)
        status = add_rule(q, o->keep_float[k], strlen(o->keep_float[k]), assay_f32(), err);
    for (size_t k = 0; k < o->n_precisions && !status; k++)
        status = parse_precision(o->precision[k], q, err);
    q->options.precision = q->rule;
    if (!status && o->target)
        status = target_read(o->target, &q->target, err);
    q->options.target = q->target;
    return status;
}

void assay_choices_free(assay_choices *q)
{
    for (int i = 0; i < q->options.n_precision; i++)
        free((char *)(uintptr_t)q->rule[i].pattern);
    for (int i = 0; i < q->options.n_calibrate; i++)
        free((char *)(uintptr_t)q->calibrate[i].pattern);
    target_free(q->target);
    free(q->calibrate);
    free(q->rule);
}
