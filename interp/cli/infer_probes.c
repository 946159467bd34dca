/* assay infer DIR OUTPUTS, or --model NET --dumps DIR: what a device's answers to probes, or its
 * dumps of a network, say of it. */
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "interp/cli/infer.h"
#include "interp/probe/probe.h"

enum { MAX_AMONG = 64 };

static void print_found(FILE *f, const void *what)
{
    probe_print_scheme(f, what);
}

static int write_files(const cli_args *a, const probe_findings *found)
{
    const char *path = cli_value(a, "output", NULL), *json = cli_value(a, "json", NULL);
    assay_error err;
    if (path && file_print(path, print_found, found, &err))
        return cli_failed(&err);
    if (json && probe_write_json(json, found, path, &err))
        return cli_failed(&err);
    const bool taken = (json && strcmp(json, "-") == 0) || (path && strcmp(path, "-") == 0);
    probe_print_report(taken ? stderr : stdout, found, path);
    return CLI_DIFFERENT; /* that nothing else agrees is not claimed */
}

/* "A,B": cut in place; false: too many. */
static bool split(char *list, const char **name, int *n)
{
    char *rest = NULL;
    for (char *at = strtok_r(list, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        if (*n == MAX_AMONG)
            return false;
        name[(*n)++] = at;
    }
    return true;
}

static void tell_next(void *user, const probe_next_said *said)
{
    FILE *f = user;
    if (said->nodes == 0)
        fprintf(f,
                "  %s: nothing that was tried (%lld networks) parts the %d records that are left\n",
                said->op, (long long)said->tried, said->records);
    else
        fprintf(f, "  %s: %d %s with %lld elements part %d records into %d\n", said->op,
                said->nodes, said->nodes == 1 ? "node" : "nodes", (long long)said->elements,
                said->records, said->classes);
}

/* The next probe, where one is asked for. */
static int write_next(const cli_args *a, const probe_ask *ask, const probe_findings *found,
                      int status)
{
    const char *dir = cli_value(a, "next", NULL), *json = cli_value(a, "json", "");
    FILE *f =
        strcmp(json, "-") == 0 || strcmp(cli_value(a, "output", ""), "-") == 0 ? stderr : stdout;
    assay_error err;
    int asked;
    if (!dir || status == CLI_TROUBLE)
        return status;
    fprintf(f, "next:\n");
    if (probe_next(a->positional[0], a->positional[1], ask, found, dir, tell_next, f, &asked, &err))
        return cli_failed(&err);
    if (asked > 0)
        fprintf(f,
                "  run %s/OP/OP.onnx (.tflite, .assay) as before, then\n"
                "  assay infer '%s' OUTPUTS2, which goes by these answers, too\n",
                dir, dir);
    else
        fprintf(f, "  nothing is asked; %s is not made\n", dir);
    return status;
}

static int find(const cli_args *a, const probe_ask *ask)
{
    char folder[CLI_INFER_FOLDER] = "", golden[CLI_INFER_FOLDER + 16];
    const bool model = cli_has(a, "model");
    const char *device = model ? cli_value(a, "dumps", "") : a->positional[1];
    probe_findings *found = NULL;
    assay_error err;
    int status = model ? cli_infer_capture(a, ask->among, ask->n_among, folder, golden) : CLI_OK;
    if (status == CLI_OK)
        status = probe_find(model ? golden : a->positional[0], device, ask, &found, &err)
                     ? cli_failed(&err)
                     : write_next(a, ask, found, write_files(a, found));
    if (folder[0])
        file_remove_tree(folder);
    probe_findings_free(found);
    return status;
}

int cli_infer_probes(const cli_args *a)
{
    const char *given = cli_value(a, "among", "all"), *name[MAX_AMONG];
    const bool all = strcmp(given, "all") == 0;
    probe_ask ask = {.among = name, .only_among = !all};
    int64_t hex_bits;
    int status;
    char *list = strdup(all ? "" : given);
    if (!list)
        return cli_out_of_memory();
    if (!cli_integer(a, "hex-bits", 0, 0, 1024, &hex_bits))
        status = CLI_TROUBLE;
    else if (!split(list, name, &ask.n_among) || (!all && ask.n_among == 0))
        status =
            cli_trouble("infer: --among takes names of schemes separated by commas, %d at most, "
                        "not '%.60s'",
                        MAX_AMONG, given);
    else {
        ask.hex_bits = (int)hex_bits;
        status = find(a, &ask);
    }
    free(list);
    return status;
}
