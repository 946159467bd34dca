/* assay infer DIR OUTPUTS, or --model NET --dumps DIR: what a device's answers to probes, or its
 * dumps of a network, say of it. */
#include <stdlib.h>
#include <string.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "interp/api/capture.h"
#include "interp/cli/infer.h"
#include "interp/cli/session.h"
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

/* The next probe, where one is asked for. */
static int write_next(const cli_args *a, const probe_ask *ask, const probe_findings *found,
                      int status)
{
    const char *dir = cli_value(a, "next", NULL), *json = cli_value(a, "json", "");
    FILE *f =
        strcmp(json, "-") == 0 || strcmp(cli_value(a, "output", ""), "-") == 0 ? stderr : stdout;
    assay_error err;
    if (!dir || status == CLI_TROUBLE)
        return status;
    return probe_next_print(f, a->positional[0], a->positional[1], ask, found, dir, &err)
               ? cli_failed(&err)
               : status;
}

static int find(const cli_args *a, const probe_ask *ask, const char *dir, const char *device)
{
    probe_findings *found = NULL;
    assay_error err;
    const char *next = cli_value(a, "next", NULL);
    if (next && probe_next_check(dir, next, &err))
        return cli_failed(&err);
    const int status = probe_find(dir, device, ask, &found, &err)
                           ? cli_failed(&err)
                           : write_next(a, ask, found, write_files(a, found));
    probe_findings_free(found);
    return status;
}

/* ---- dumps of a network ---- */

/* --input, where it is given. */
typedef struct files_given {
    const cli_args *args;
    cli_files files;
    bool told; /* what was wrong has been said */
} files_given;

static assay_status open_given(void *user, const assay_graph *g, int64_t *samples, assay_error *err)
{
    files_given *x = user;
    cli_files_close(&x->files);
    x->told = cli_files_open(&x->files, x->args, g) != CLI_OK;
    *samples = x->files.samples;
    return x->told ? assay_fail(err, ASSAY_ERR_INPUT, "--input") : ASSAY_OK;
}

static assay_status read_given(void *user, const assay_graph *g, int64_t sample, int i, void *to,
                               assay_error *err)
{
    const files_given *x = user;
    (void)g;
    return cli_files_read(&x->files, sample, i, to, err);
}

static int find_dumps(const cli_args *a, const probe_ask *ask)
{
    files_given x = {.args = a};
    assay_capture c = {.model = cli_value(a, "model", ""),
                       .dumps = cli_value(a, "dumps", ""),
                       .schemes = ask->among,
                       .n_schemes = ask->n_among,
                       .open = open_given,
                       .read = read_given,
                       .user = &x};
    assay_error err;
    const int status = !assay_capture_make(&c, &err) ? find(a, ask, c.golden, c.dumps)
                       : x.told                      ? CLI_TROUBLE
                                                     : cli_failed(&err);
    cli_files_close(&x.files);
    assay_capture_end(&c);
    return status;
}

/* --among, or what the probes were written with; NULL: all. To be freed. */
static assay_status read_among(const cli_args *a, char **list, assay_error *err)
{
    const char *given = cli_value(a, "among", NULL);
    *list = NULL;
    if (!given)
        return cli_has(a, "model") ? ASSAY_OK : probe_among(a->positional[0], list, err);
    if (strcmp(given, "all") != 0 && !(*list = strdup(given)))
        return assay_out_of_memory(err);
    return ASSAY_OK;
}

int cli_infer_probes(const cli_args *a)
{
    const char *name[MAX_AMONG];
    int64_t hex_bits;
    int status;
    char *list;
    assay_error err;
    if (read_among(a, &list, &err))
        return cli_failed(&err);
    probe_ask ask = {.among = name, .only_among = list != NULL};
    if (!cli_integer(a, "hex-bits", 0, 0, 1024, &hex_bits))
        status = CLI_TROUBLE;
    else if (list && (!split(list, name, &ask.n_among) || ask.n_among == 0))
        status =
            cli_trouble("infer: --among takes names of schemes separated by commas, %d at most, "
                        "not '%.60s'",
                        MAX_AMONG, cli_value(a, "among", "what probe.json has"));
    else {
        ask.hex_bits = (int)hex_bits;
        status = cli_has(a, "model") ? find_dumps(a, &ask)
                                     : find(a, &ask, a->positional[0], a->positional[1]);
    }
    free(list);
    return status;
}
