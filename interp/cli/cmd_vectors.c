/* assay vectors lint: the mutants of a scheme that a suite of rows lets live. Exit status 0 when
 * none that differs anywhere lives, 1 when some do or the scheme gives other answers than the
 * suite, 2 for trouble. */
#include <string.h>

#include "interp/api/vectors.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"

static int lint_with(const cli_args *a, const assay_scheme *scheme)
{
    assay_vectors_options o;
    vectors_judgement j;
    assay_error err;
    if (!cli_vectors_options(a, &o))
        return CLI_TROUBLE;
    const assay_status status = assay_judge_rows(scheme, a->positional[1], &o, &j, &err);
    if (!status && strcmp(cli_value(a, "json", ""), "-") != 0)
        vectors_lint_print(stdout, &j);
    const bool trouble =
        !status && cli_has(a, "json") && cli_json_write(a, vectors_lint_json(&j)) != CLI_OK;
    const bool whole = !status && j.wrong + j.live == 0;
    vectors_lint_free(&j);
    return status ? cli_failed(&err) : trouble ? CLI_TROUBLE : whole ? CLI_OK : CLI_DIFFERENT;
}

static int lint(const cli_args *a)
{
    const char *name = cli_value(a, "scheme", NULL);
    assay_scheme *scheme;
    assay_error err;
    if (!name)
        return cli_trouble("vectors lint: --scheme S is needed, the scheme that the rows test");
    if (assay_scheme_open(name, &scheme, &err))
        return cli_failed(&err);
    const int status = lint_with(a, scheme);
    assay_scheme_free(scheme);
    return status;
}

static const cli_verb verbs[] = {
    {"lint", "DIR|FILE.csv -s SCHEME [--json FILE]",
     "which mutants of a scheme survive a suite of rows", " scheme kind op wide type acc json ", 1,
     1, lint},
    {NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const cli_option options[] = {
    {"scheme", 's', "NAME|FILE", "whose rows they are"},
    {"kind", 0, "multiplier|scale",
     "multiplier (acc, multiplier, shift, zp, out) or scale (acc, in_scale, "
     "weight_scale, out_scale, zp, out)"},
    {"op", 0, "NAME", "whose arithmetic it is (default: conv)"},
    {"wide", 0, NULL, "the arithmetic of codes of more than 8 bits"},
    {"type", 0, "TYPE", "of the output (default: the scheme's activations)"},
    {"acc", 'a', "LO:HI", "accumulators to consider (default: all of the scheme's)"},
    CLI_JSON_OPTION,
    {NULL, 0, NULL, NULL},
};

const cli_command cli_cmd_vectors = {
    .name = "vectors",
    .usage = "lint DIR|FILE.csv -s SCHEME",
    .summary = "judge a suite of test rows for a rescale unit",
    .examples = "  assay scheme vectors tflite --mutants -o rows\n"
                "  assay vectors lint rows -s tflite\n"
                "  assay vectors lint my-rows.csv -s ./my-npu.yaml --type i8\n",
    .options = options,
    .verbs = verbs,
};
