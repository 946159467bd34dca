/* assay scheme: which arithmetics there are, what one says, whether a file is right. */
#include <string.h>

#include "interp/cli/cli.h"
#include "schemes/scheme.h"

static int list(void)
{
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assay_error err;
        if (assay_scheme_open(*name, &s, &err) != ASSAY_OK)
            return cli_failed(&err);
        printf("%-18s %s\n", *name, s->description);
        assay_scheme_free(s);
    }
    return CLI_OK;
}

static int show(const char *name)
{
    assay_scheme *s;
    assay_error err;

    if (assay_scheme_open(name, &s, &err) != ASSAY_OK)
        return cli_failed(&err);
    printf("# %s: %s\n# digest %s\n%s", s->name, s->description, s->digest, s->text);
    assay_scheme_free(s);
    return CLI_OK;
}

static int check(const char *file)
{
    assay_scheme *s;
    assay_error err;

    if (assay_scheme_open(file, &s, &err) != ASSAY_OK)
        return cli_failed(&err);
    printf("%s: good; scheme '%s', digest %s\n", file, s->name, s->digest);
    assay_scheme_free(s);
    return CLI_OK;
}

static int run(const cli_args *a)
{
    const char *verb = a->positional[0];
    const char *what = a->n_positional > 1 ? a->positional[1] : NULL;

    if (strcmp(verb, "list") == 0 && !what)
        return list();
    if (strcmp(verb, "show") == 0 && what)
        return show(what);
    if (strcmp(verb, "check") == 0 && what)
        return check(what);
    return cli_trouble("usage: assay scheme %s", a->command->usage);
}

static const cli_option options[] = {{NULL, 0, NULL, NULL}};

const cli_command cli_scheme = {
    .name = "scheme",
    .usage = "list | show NAME|FILE | check FILE",
    .summary = "list the presets, show a scheme's effective parameters, check a scheme file",
    .examples = "  assay scheme list\n"
                "  assay scheme show tflite\n"
                "  assay scheme check ./my-npu.yaml\n",
    .options = options,
    .min_args = 1,
    .max_args = 2,
    .run = run,
};
