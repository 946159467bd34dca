/* assay profile merge: the profiles of shards into one. */
#include <inttypes.h>

#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/page/column.h"

/* Values that were not finite, a line and an object each. */
static json_t *report_not_finite(FILE *f, const assay_profile *p)
{
    json_t *list = json_array();
    for (int i = 0; i < profile_count(p); i++) {
        const assay_profile_entry *e = profile_get(p, i);
        json_t *o;
        if (!e->seen.nan && !e->seen.inf)
            continue;
        fprintf(f, "  '%s' held %" PRIu64 " NaN and %" PRIu64 " infinite elements\n", e->name,
                e->seen.nan, e->seen.inf);
        o = json_object();
        page_json_set(&o, "value", page_json_text(e->name));
        page_json_set(&o, "nan", json_integer((json_int_t)e->seen.nan));
        page_json_set(&o, "inf", json_integer((json_int_t)e->seen.inf));
        page_json_add(&list, o);
    }
    return list;
}

int cli_profile_report(const cli_args *a, const char *path, const assay_profile *p)
{
    FILE *f = cli_notes_of(a);
    json_t *o = json_object();
    fprintf(f, "%s: %d value%s over %" PRIu64 " sample%s\n", path, profile_count(p),
            page_plural(profile_count(p)), profile_samples(p),
            page_plural((int64_t)profile_samples(p)));
    page_json_set(&o, "profile", page_json_text(path));
    page_json_set(&o, "values", json_integer(profile_count(p)));
    page_json_set(&o, "samples", json_integer((json_int_t)profile_samples(p)));
    page_json_set(&o, "not_finite", report_not_finite(f, p));
    if (cli_has(a, "json"))
        return cli_json_write(a, o);
    json_decref(o);
    return CLI_OK;
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
        status = cli_profile_report(a, out, p);
    profile_free(p);
    return status;
}

static const cli_option options[] = {
    {"json", 0, "FILE", "how much was seen, as JSON (- for standard output)"},
    {"output", 'o', "FILE", "the merged profile"},
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
