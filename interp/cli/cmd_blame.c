/* assay blame: the nodes of a device that are at fault themselves, and the causes. */
#include <stdlib.h>
#include <unistd.h>

#include "interp/blame/page.h"
#include "interp/cli/cli.h"

typedef struct progress {
    cli_progress bar;
    bool begun;
} progress;

static void step(void *user, int done, int of)
{
    progress *p = user;
    (void)done;
    if (!p->begun)
        cli_progress_begin(&p->bar, "blame", of, !isatty(2));
    p->begun = true;
    cli_progress_step(&p->bar);
}

static int report(const cli_args *a, const blame_report *r)
{
    const char *json = cli_value(a, "json", NULL), *junit = cli_value(a, "junit", NULL);
    const char *html = cli_value(a, "html", NULL);
    assay_error err;
    if (!cli_has(a, "quiet"))
        blame_print(r, cli_notes_of(a));
    if ((json && blame_write_json(r, json, &err)) || (junit && blame_write_junit(r, junit, &err)) ||
        (html && blame_write_html(r, html, &err)))
        return cli_failed(&err);
    return r->n_faults ? CLI_DIFFERENT : CLI_OK;
}

static int run(const cli_args *a)
{
    progress p = {.begun = false};
    blame_options o = {.threads = 2, .step = step, .user = &p};
    const char **schemes = calloc((size_t)a->n_given + 1, sizeof *schemes);
    blame_report *r = NULL;
    assay_error err;
    int64_t hex_bits, threads;
    int status = CLI_TROUBLE;
    if (!schemes)
        return cli_trouble("out of memory");
    for (const char *s; (s = cli_value_at(a, "scheme", o.n_schemes));)
        schemes[o.n_schemes++] = s;
    o.schemes = schemes;
    if (cli_integer(a, "hex-bits", 0, 1, 1024, &hex_bits) &&
        cli_integer(a, "node-threads", 2, 1, ASSAY_MAX_THREADS, &threads) &&
        cli_number(a, "rel", -1, 0, 1, &o.rel) &&
        cli_number(a, "work", BLAME_WORK, 0, 1e6, &o.work)) {
        o.hex_bits = (unsigned)hex_bits;
        o.threads = (int)threads;
        const bool good = !blame_run(a->positional[0], a->positional[1], &o, &r, &err);
        if (p.begun)
            cli_progress_end(&p.bar);
        status = good ? report(a, r) : cli_failed(&err);
    }
    blame_free(r);
    free(schemes);
    return status;
}

static const cli_option options[] = {
    {"scheme", 's', "NAME|FILE", "tried in addition to the shipped ones; repeatable"},
    {"rel", 0, "R",
     "floats may differ by R times the reference, sums by what their order can make (default: not "
     "at all)"},
    {"hex-bits", 0, "N", "width in bits of a word in .hex dumps (default: as the files show)"},
    {"node-threads", 0, "N", "threads of the replay (default: 2)"},
    {"work", 0, "N",
     "10^9 steps (of four multiplications) that the search for two causes of a node may take; all "
     "nodes together have four times that (default: 10)"},
    {"json", 0, "FILE", "the report as JSON (- for standard output)"},
    {"junit", 0, "FILE", "the report as JUnit XML: a node at fault is a failure"},
    {"html", 0, "FILE", "the report as a page: nodes, tensors, one element of each worked through"},
    {"quiet", 'q', NULL, "no report, only the exit status"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_blame = {
    .name = "blame",
    .usage = "GOLDEN DEVICE [--scheme S] [--json FILE] [--junit FILE] [--html FILE]",
    .summary = "name the nodes of a device that are at fault, and the cause of each",
    .examples = "  assay blame golden-out/tflite golden-out/npu16\n"
                "  assay blame golden-cat device-dumps/ --json blame.json\n"
                "  assay blame golden-cat device-dumps/ --html blame.html --junit blame.xml\n",
    .options = options,
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
