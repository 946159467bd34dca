/* assay check-proof: does a certificate hold? */
#include <stdlib.h>

#include "graph/slurp.h"
#include "interp/cli/cli.h"
#include "opt/optimize.h"

static int run(const cli_args *a)
{
    const char *path = a->positional[0];
    assay_proof_report r;
    assay_error err;
    unsigned char *text = NULL;
    size_t length = 0;
    assay_status status = assay_slurp(path, &text, &length, &err);

    if (status)
        return cli_failed(&err);
    status = assay_check_proof((const char *)text, length, path, &r, &err);
    free(text);
    if (status == ASSAY_ERR_INPUT) {
        printf("%s: BAD: %s\n", path, err.text);
        return CLI_DIFFERENT;
    }
    if (status)
        return cli_failed(&err);
    printf("%s: good: %d steps, %d proved exact\n", path, r.steps, r.proved);
    return CLI_OK;
}

static const cli_option options[] = {{NULL, 0, NULL, NULL}};

const cli_command cli_check_proof = {
    .name = "check-proof",
    .usage = "CERTIFICATE.json",
    .summary = "check an optimizer's certificate with an evaluator of its own",
    .examples = "  assay check-proof cert.json\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
