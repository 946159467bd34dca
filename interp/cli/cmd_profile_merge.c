/* assay profile merge: the profiles of shards into one. */
#include <inttypes.h>

#include "interp/cli/session.h"

void cli_profile_print(const char *path, const assay_profile *p, FILE *f)
{
    fprintf(f, "%s: %d values over %" PRIu64 " samples\n", path, profile_count(p),
            profile_samples(p));
    for (int i = 0; i < profile_count(p); i++) {
        const assay_profile_entry *e = profile_get(p, i);
        if (e->seen.nan || e->seen.inf)
            fprintf(f, "  '%s' held %" PRIu64 " NaN and %" PRIu64 " infinite elements\n", e->name,
                    e->seen.nan, e->seen.inf);
    }
}

/* Adds one file to what has been merged; errors name the file. */
static int add(assay_profile **into, const char *path)
{
    assay_profile *p;
    assay_error err;

    if (profile_load(path, &p, &err))
        return cli_failed(&err);
    if (!*into) {
        *into = p;
        return CLI_OK;
    }
    const assay_status status = profile_merge(*into, p, &err);
    profile_free(p);
    return !status ? CLI_OK : cli_trouble("%s: %s", path, err.text);
}

static int run(const cli_args *a)
{
    const char *out = cli_value(a, "output", NULL);
    assay_profile *p = NULL;
    assay_error err;
    int status = CLI_OK;

    if (!out)
        return cli_trouble("profile merge: -o FILE is needed");
    for (int i = 0; i < a->n_positional && status == CLI_OK; i++)
        status = add(&p, a->positional[i]);
    if (status == CLI_OK && !cli_has(a, "partial") && profile_complete(p, &err))
        status =
            cli_trouble("profile merge: %s; --partial merges some now, the rest later", err.text);
    if (status == CLI_OK && profile_save(p, out, &err))
        status = cli_failed(&err);
    if (status == CLI_OK)
        cli_profile_print(out, p, cli_notes(out));
    profile_free(p);
    return status;
}

static const cli_option options[] = {{"output", 'o', "FILE", "the merged profile"},
                                     {"partial", 0, NULL, "accept that some shards are missing"},
                                     {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_profile_merge = {
    .name = "profile merge",
    .usage = "PROFILE.yaml ... -o MERGED.yaml",
    .summary = "join the profiles of shards: the same bytes as one run, in any order and grouping",
    .examples = "  assay profile merge part1.yaml part2.yaml part3.yaml -o profile.yaml\n"
                "  assay profile merge part1.yaml part2.yaml --partial -o first.yaml\n",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
