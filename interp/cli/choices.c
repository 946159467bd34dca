/* Choices of the command line for quantizing: types, calibrations, nodes that stay in float. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"
#include "interp/kernel/kernel.h"

/* The next rule: nodes that match the first `length` characters of `pattern`. */
static int add_rule(cli_quantize *q, const char *pattern, size_t length, assay_elem elem)
{
    assay_precision_rule *grown =
        realloc(q->rule, ((size_t)q->options.n_precision + 1) * sizeof *grown);
    char *copy = strndup(pattern, length);

    q->rule = grown ? grown : q->rule;
    if (!grown || !copy) {
        free(copy);
        return cli_out_of_memory();
    }
    grown[q->options.n_precision++] = (assay_precision_rule){.pattern = copy, .elem = elem};
    return CLI_OK;
}

/* "PATTERN=KIND,PATTERN=KIND,...". */
static int parse_precision(const char *text, cli_quantize *q)
{
    for (const char *s = text; *s;) {
        const size_t n = strcspn(s, ",");
        const char *equals = memrchr(s, '=', n);
        char kind[16] = "";
        assay_elem elem;
        assay_error err;
        if (equals && (size_t)(s + n - equals) <= sizeof kind)
            snprintf(kind, sizeof kind, "%.*s", (int)(s + n - equals - 1), equals + 1);
        if (!equals || equals == s || !kind[0])
            return cli_trouble("--precision takes PATTERN=KIND[,PATTERN=KIND...], such as "
                               "conv1=i16 or 'fc*=f32,*=i8', not '%s'",
                               text);
        if (assay_elem_parse(kind, &elem, &err))
            return cli_trouble("--precision: %s", err.text);
        if (add_rule(q, s, (size_t)(equals - s), elem) != CLI_OK)
            return CLI_TROUBLE;
        s += n + (s[n] == ',');
    }
    return CLI_OK;
}

/* "METHOD", for all values, or "PATTERN=METHOD". */
static int parse_calibration(const char *text, cli_quantize *q)
{
    const char *equals = strrchr(text, '=');
    assay_calibrate_rule *rule = &q->calibrate[q->options.n_calibrate];
    assay_calibrate_how *how = equals ? &rule->how : &q->options.calibration;

    if (!calibrate_find(equals ? equals + 1 : text, how))
        return cli_trouble("--calibration takes [PATTERN=]METHOD, with min-max, percentile, "
                           "percentile:99.9, kl or mse, not '%s'",
                           text);
    if (!equals)
        return CLI_OK;
    rule->pattern = strndup(text, (size_t)(equals - text));
    if (!rule->pattern)
        return cli_out_of_memory();
    q->options.n_calibrate++;
    return CLI_OK;
}

int cli_quantize_options(const cli_args *a, cli_quantize *q)
{
    const char *symmetry = cli_value(a, "symmetry", NULL),
               *chooser = cli_value(a, "chooser", "assay");
    const char *text;
    assay_error err;

    memset(q, 0, sizeof *q);
    q->calibrate = calloc((size_t)a->n_given + 1, sizeof *q->calibrate);
    if (!q->calibrate)
        return cli_out_of_memory();
    q->options.has_kernel = run_has_integer_kernel;
    q->options.integer_io = cli_has(a, "integer-io");
    if (cli_has(a, "per-tensor"))
        q->options.weights = ASSAY_WEIGHTS_PER_TENSOR;
    if (symmetry) {
        q->options.has_schema = true;
        if (!calibrate_schema_find(symmetry, &q->options.activation))
            return cli_trouble("--symmetry is %s, not '%s'", calibrate_schema_names, symmetry);
    }
    if (strcmp(chooser, "glow") == 0)
        q->options.activation.method = ASSAY_QPARAMS_GLOW;
    else if (strcmp(chooser, "fbgemm") == 0)
        q->options.activation.method = ASSAY_QPARAMS_FBGEMM;
    else if (strcmp(chooser, "assay") != 0)
        return cli_trouble("--chooser is assay, glow or fbgemm, not '%s'", chooser);
    for (int k = 0; (text = cli_value_at(a, "calibration", k)); k++)
        if (parse_calibration(text, q) != CLI_OK)
            return CLI_TROUBLE;
    q->options.calibrate = q->calibrate;
    text = cli_value(a, "calibrate-weights", "min-max");
    if (!calibrate_find(text, &q->options.weight_calibration) ||
        q->options.weight_calibration.method == ASSAY_CALIBRATE_KL)
        return cli_trouble("--calibrate-weights takes min-max, percentile, percentile:99.9 or mse, "
                           "not '%s'; a channel has too few weights for kl",
                           text);
    for (int k = 0; (text = cli_value_at(a, "keep-float", k)); k++)
        if (add_rule(q, text, strlen(text), assay_f32()) != CLI_OK)
            return CLI_TROUBLE;
    for (int k = 0; (text = cli_value_at(a, "precision", k)); k++)
        if (parse_precision(text, q) != CLI_OK)
            return CLI_TROUBLE;
    q->options.precision = q->rule;
    if (cli_has(a, "target") && target_read(cli_value(a, "target", ""), &q->target, &err))
        return cli_failed(&err);
    q->options.target = q->target;
    return CLI_OK;
}

void cli_quantize_free(cli_quantize *q)
{
    for (int i = 0; i < q->options.n_precision; i++)
        free((char *)(uintptr_t)q->rule[i].pattern);
    for (int i = 0; i < q->options.n_calibrate; i++)
        free((char *)(uintptr_t)q->calibrate[i].pattern);
    target_free(q->target);
    free(q->calibrate);
    free(q->rule);
}
