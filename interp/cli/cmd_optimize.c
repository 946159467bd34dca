/* assay optimize: rewrites of an integer network, each with its proof. */
#include <unistd.h>

#include "graph/files/files.h"
#include "interp/api/rewrite.h"
#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/kernel/kernel.h"
#include "interp/page/column.h"
#include "interp/run/model.h"
#include "opt/quantize/qdq.h"
#include "opt/target/target.h"

typedef struct listener {
    FILE *notes;
    cli_progress progress;
} listener;

static void print_line(void *user, const char *line)
{
    listener *l = user;
    cli_progress_end(&l->progress); /* the next step draws it below */
    fprintf(l->notes, "%s\n", line);
}

static void step(void *user, int64_t done, int64_t of)
{
    cli_progress *p = &((listener *)user)->progress;
    if (done == 0)
        cli_progress_begin(p, "optimize", of, !isatty(STDERR_FILENO));
    p->total = of; /* nodes go while a sweep is under way */
    if (done > 0)
        cli_progress_to(p, (size_t)done);
}

static int optimize(const cli_args *a, assay_graph *g, const assay_scheme *s,
                    assay_optimize_options *o)
{
    listener l = {.notes = cli_notes_of(a), .progress = {.quiet = true}};
    const char *out = cli_value(a, "output", NULL), *cert = cli_value(a, "prove-to", NULL);
    assay_rewritten w = {0};
    const assay_optimize_report *r = &w.report;
    assay_error err;
    assay_status status = ASSAY_OK;
    if (run_model_is_onnx(a->positional[0])) /* dequantize -> op -> quantize is an integer op */
        status = quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err);
    if (!status && !cli_has(a, "as-is"))
        status = cli_admits(a, g, s, &err);
    o->user = &l;
    if (!status)
        status = assay_rewrite(g, s, true, o, &w, &err);
    cli_progress_end(&l.progress);
    if (!status && out)
        status = run_model_save(g, out, &err);
    if (!status && cert)
        status = file_write_file(cert, r->certificate.text, r->certificate.length, &err);
    assay_buf_free(&w.report.certificate);
    if (status)
        return cli_failed(&err);
    fprintf(l.notes, "%d applied, %d refused; %d node%s, were %d\n", r->applied, r->refused,
            w.after, page_plural(w.after), w.before);
    if (r->unproved)
        fprintf(l.notes, "%d applied without a proof: nothing is known of the outputs\n",
                r->unproved);
    else if (r->bounded)
        fprintf(l.notes, "%d applied are bounded: outputs differ by at most %lld codes\n",
                r->bounded, (long long)r->output_bound);
    return cli_has(a, "json") ? cli_json_write(a, assay_rewritten_json(&w)) : CLI_OK;
}

static int run(const cli_args *a)
{
    assay_optimize_options o = {
        .passes = cli_value(a, "passes", NULL), .log = print_line, .step = step};
    assay_graph *g = NULL;
    assay_scheme *s = NULL;
    assay_error err;
    assay_target *target = NULL;
    int status =
        assay_rewrite_allow(cli_value(a, "allow", "none"), &o, &err) ? cli_failed(&err) : CLI_OK;

    if (status == CLI_OK && !cli_has(a, "scheme"))
        status = cli_trouble("optimize: --scheme is needed");
    if (status == CLI_OK)
        status = cli_check_output(a);
    if (status == CLI_OK && assay_scheme_open(cli_value(a, "scheme", ""), &s, &err))
        status = cli_failed(&err);
    if (status == CLI_OK && cli_has(a, "target") &&
        target_read(cli_value(a, "target", ""), &target, &err))
        status = cli_failed(&err);
    o.target = target;
    if (status == CLI_OK)
        status = cli_model_load(a, a->positional[0], true, &g);
    if (status == CLI_OK)
        status = optimize(a, g, s, &o);
    assay_graph_free(g);
    target_free(target);
    assay_scheme_free(s);
    return status;
}

static const cli_option options[] = {
    CLI_MODEL_OPTIONS,
    CLI_AS_IS_OPTION,
    {"scheme", 's', "NAME|FILE", "the target's arithmetic: a preset, a .yaml or a .so"},
    {"allow", 0, "WHAT", "none (default: exact only), bounded:N codes per application, any"},
    {"target", 0, "FILE", "what the device offers, which rewrites respect, and what it prefers"},
    {"passes", 0, "LIST", "only these, separated by commas"},
    {"json", 0, "FILE", "what was done as JSON (- for standard output)"},
    {"prove-to", 0, "FILE.json", "write the certificate of all applications"},
    {"output", 'o', "FILE.assay", "the network in text form (default: report only)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_optimize = {
    .name = "optimize",
    .usage = "MODEL --scheme S [--allow none|bounded:N|any] [-o FILE.assay]",
    .summary = "rewrite an integer network; every application is proved exact, or refused",
    .examples = "  assay optimize net-int8.assay -s tflite -o net-opt.assay --prove-to cert.json\n"
                "  assay optimize net-int8.assay -s tflite-single --allow bounded:1\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
