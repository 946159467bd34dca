/* assay verify: a bundle's files against its manifest, and against a fresh run. */
#include <inttypes.h>

#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/golden/bundle.h"
#include "interp/page/column.h"

/* What is said of one bundle, and of all. */
typedef struct telling {
    FILE *to;
    json_t *bundles, *faults;
} telling;

static void tell_fault(void *user, const char *line)
{
    telling *t = user;
    fprintf(t->to, "  %s\n", line);
    page_json_add(&t->faults, page_json_text(line));
}

static void tell_result(telling *t, const char *path, const assay_verify_result *r, bool bad)
{
    json_t *o = json_object();

    fprintf(t->to,
            "%s: %s: %" PRId64 " tensor%s, %" PRId64 " bad file%s, %" PRId64
            " tensor%s that a fresh run gives otherwise",
            path, bad ? "BAD" : "good", r->tensors, page_plural(r->tensors), r->files_bad,
            page_plural(r->files_bad), r->replay_bad, page_plural(r->replay_bad));
    if (r->entries_bad)
        fprintf(t->to, ", %" PRId64 " other entr%s of the manifest", r->entries_bad,
                r->entries_bad == 1 ? "y" : "ies");
    fputc('\n', t->to);
    page_json_set(&o, "bundle", page_json_text(path));
    page_json_set(&o, "good", json_boolean(!bad));
    page_json_set(&o, "tensors", json_integer(r->tensors));
    page_json_set(&o, "files_bad", json_integer(r->files_bad));
    page_json_set(&o, "replay_bad", json_integer(r->replay_bad));
    page_json_set(&o, "entries_bad", json_integer(r->entries_bad));
    page_json_set(&o, "faults", t->faults);
    t->faults = NULL;
    page_json_add(&t->bundles, o);
}

static int verify(const cli_args *a, const assay_program_options *engine, telling *t)
{
    int status = CLI_OK;

    for (int i = 0; i < a->n_positional; i++) {
        assay_verify_result r;
        assay_error err;
        t->faults = json_array();
        if (golden_bundle_verify(a->positional[i], cli_has(a, "files-only") ? NULL : engine,
                                 tell_fault, t, &r, &err))
            return cli_failed(&err);
        const bool bad = r.files_bad || r.replay_bad || r.entries_bad;
        if (bad)
            status = CLI_DIFFERENT;
        tell_result(t, a->positional[i], &r, bad);
    }
    return status;
}

static int run(const cli_args *a)
{
    assay_program_options engine = {0};
    telling t = {.to = cli_notes_of(a), .bundles = json_array()};
    int status = cli_engine_options(a, &engine);

    if (status == CLI_OK)
        status = verify(a, &engine, &t);
    if (status != CLI_TROUBLE && cli_has(a, "json")) {
        json_t *o = json_object();
        page_json_set(&o, "bundles", t.bundles);
        t.bundles = NULL;
        if (cli_json_write(a, o) != CLI_OK)
            status = CLI_TROUBLE;
    }
    json_decref(t.faults);
    json_decref(t.bundles);
    return status;
}

static const cli_option options[] = {
    CLI_ENGINE_OPTIONS,
    CLI_JSON_OPTION,
    {"files-only", 0, NULL, "check digests of files, do not run the network again"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_verify = {
    .name = "verify",
    .usage = "BUNDLE ... [--engine E] [--files-only] [--json FILE]",
    .summary = "check a golden bundle's files, and run its network again",
    .examples = "  assay verify golden-out/tflite\n"
                "  assay verify --engine both golden-out/onnxruntime\n"
                "  assay verify --files-only device-delivery/\n",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
