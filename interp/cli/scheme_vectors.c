/* assay scheme vectors: the least rows, or the nodes of a small network, on which each two schemes
 * differ, or rows that tell a scheme from all its mutants. Exit status 0 when all are told apart
 * (of mutants: all that differ anywhere), 1 when some cannot be, 2 for trouble. */
#include <stdlib.h>
#include <string.h>

#include "interp/api/vectors.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/mac/mac.h"

bool cli_vectors_options(const cli_args *a, assay_vectors_options *out)
{
    double acc[3] = {0};
    *out = (assay_vectors_options){.size = sizeof *out,
                                   .op = cli_value(a, "op", NULL),
                                   .kind = cli_value(a, "kind", NULL),
                                   .type = cli_value(a, "type", NULL),
                                   .wide = cli_has(a, "wide"),
                                   .has_acc = cli_has(a, "acc")};
    if (out->has_acc && !cli_scheme_range(a, "acc", -140737488355328.0, 140737488355328.0, acc))
        return false;
    out->acc[0] = (int64_t)acc[0];
    out->acc[1] = (int64_t)acc[1];
    return true;
}

static assay_status write(const cli_args *a, const vectors_telling *t, const char *dir,
                          assay_error *err)
{
    const assay_status status = dir ? vectors_tell_write(t, dir, err) : ASSAY_OK;
    if (dir && !status && t->suite.rows.n > 0)
        fprintf(cli_notes_of(a),
                "  %s: columns as .npy, .hex ($readmemh) and .h, and vectors.json\n", dir);
    if (dir && !status && t->apart.n > 0)
        fprintf(cli_notes_of(a), "  %s: networks, and in expected what each scheme gives\n", dir);
    return status;
}

static int with_schemes(const cli_args *a, const assay_scheme *const *scheme, size_t n)
{
    assay_vectors_options o;
    vectors_telling t;
    int64_t seed;
    assay_error err;
    if (!cli_integer(a, "seed", 17, 0, INT64_MAX, &seed) || !cli_vectors_options(a, &o))
        return CLI_TROUBLE;
    o.has_seed = true;
    o.seed = (uint64_t)seed;
    o.dir = cli_value(a, "output", NULL);
    assay_status status = assay_tell_schemes(scheme, n, &o, &t, &err);
    if (!status && strcmp(cli_value(a, "json", ""), "-") != 0)
        vectors_tell_print(stdout, &t);
    if (!status)
        status = write(a, &t, o.dir, &err);
    const bool trouble =
        !status && cli_has(a, "json") && cli_json_write(a, vectors_tell_json(&t)) != CLI_OK;
    const bool all = !status && vectors_tell_all(&t);
    vectors_tell_free(&t);
    return status ? cli_failed(&err) : trouble ? CLI_TROUBLE : all ? CLI_OK : CLI_DIFFERENT;
}

int cli_scheme_vectors(const cli_args *a)
{
    const size_t n = (size_t)a->n_positional - 1;
    assay_scheme **schemes;
    assay_error err;
    int status = CLI_OK;
    if (mac_is_unit(a->positional[1]))
        return cli_units_vectors(a);
    if (cli_has(a, "mutants") != (n == 1))
        return cli_trouble("scheme vectors: two schemes or more, or one with --mutants");
    schemes = calloc(n, sizeof *schemes);
    if (!schemes)
        return cli_out_of_memory();
    for (size_t i = 0; i < n && status == CLI_OK; i++)
        if (assay_scheme_open(a->positional[i + 1], &schemes[i], &err))
            status = cli_failed(&err);
    if (status == CLI_OK)
        status = with_schemes(a, (const assay_scheme *const *)schemes, n);
    for (size_t i = 0; i < n; i++)
        assay_scheme_free(schemes[i]);
    free(schemes);
    return status;
}
