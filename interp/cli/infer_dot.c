/* assay infer --kind dot: a matrix unit, found by asking dot products. */
#include <string.h>
#include <unistd.h>

#include "graph/files/files.h"
#include "interp/cli/infer.h"
#include "interp/cli/json.h"
#include "interp/infer/dot/dot.h"

static bool read_format(const cli_args *a, const char *option, const char *otherwise, int64_t *out)
{
    enum assay_mac_format f;
    const char *name = cli_value(a, option, otherwise);
    if (!name) {
        cli_trouble("infer: --kind dot needs --a FORMAT, --b FORMAT, --acc FORMAT and --k N");
        return false;
    }
    if (!mac_format_parse(name, &f)) {
        cli_trouble("infer: --%s takes a format (f32, bf16, e4m3fn, ...: "
                    "schemes/mac/formats.def), not '%s'",
                    option, name);
        return false;
    }
    *out = (int64_t)f;
    return true;
}

static bool read_options(const cli_args *a, infer_dot_options *o)
{
    int64_t budget, block, k;
    if (cli_has(a, "scale") != cli_has(a, "scale-block")) {
        cli_trouble("infer: --scale FORMAT and --scale-block N must be given together");
        return false;
    }
    if (!read_format(a, "a", NULL, &o->a) || !read_format(a, "b", NULL, &o->b) ||
        !read_format(a, "acc", NULL, &o->acc) ||
        !read_format(a, "out", cli_value(a, "acc", ""), &o->out) ||
        !read_format(a, "scale", "e8m0", &o->scale) ||
        !cli_integer(a, "scale-block", 0, cli_has(a, "scale-block"), 4096, &block) ||
        !cli_integer(a, "k", 0, cli_has(a, "k"), 4096, &k) ||
        !cli_integer(a, "budget", 20000, 1, 100000000, &budget) ||
        !cli_number(a, "timeout", 60, 0.01, 1e6, &o->device.timeout) ||
        !cli_number(a, "seconds", 60, 0.01, 1e6, &o->seconds))
        return false;
    if (k == 0) {
        cli_trouble("infer: --kind dot needs --a FORMAT, --b FORMAT, --acc FORMAT and --k N");
        return false;
    }
    o->scale_block = (size_t)block;
    o->k = (size_t)k;
    o->device.budget = (size_t)budget;
    o->device.oracle = cli_value(a, "oracle", "");
    return true;
}

int cli_infer_dot(const cli_args *a)
{
    infer_dot_options o = {.k = 0};
    infer_dot_result r;
    assay_error err;
    const char *path = cli_value(a, "output", NULL), *json = cli_value(a, "json", NULL);
    cli_progress progress;
    if (!read_options(a, &o))
        return CLI_TROUBLE;
    o.device.told = cli_progress_to;
    o.device.listener = &progress;
    cli_progress_begin(&progress, "infer", (int64_t)o.device.budget, !isatty(STDERR_FILENO));
    const assay_status asked = infer_dot_run(&o, &r, &err);
    cli_progress_end(&progress);
    if (asked || (path && file_print(path, infer_dot_print_unit, &r, &err)))
        return cli_failed(&err);
    if (json && cli_json_write(a, infer_dot_json(&o, &r, path)) != CLI_OK)
        return CLI_TROUBLE;
    const bool taken = (json && strcmp(json, "-") == 0) || (path && strcmp(path, "-") == 0);
    infer_dot_print_report(taken ? stderr : stdout, &o, &r, path);
    return CLI_DIFFERENT;
}
