/* Shards of an evaluation; see eval.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "interp/api/shard.h"
#include "interp/cli/eval.h"

int cli_shard_save(const cli_evaluation *e, const cli_session *s, const assay_graph *twin,
                   const cli_data *d, const assay_samples *whole, const assay_part *part)
{
    char *const names = cli_data_names(d);
    const assay_shard_of of = {.program = s->program,
                               .twin = twin,
                               .dataset = names,
                               .preprocessing = d->preprocessing,
                               .samples = whole,
                               .first = whole->first,
                               .count = whole->count,
                               .labelled = e->labelled,
                               .maps = e->judge.maps,
                               .ignored = d->ignored};
    const assay_part_file f = {.path = cli_value(e->args, "output", NULL),
                               .of = names ? assay_shard_describe(&of) : NULL,
                               .part = *part};
    assay_error err;
    const assay_status status = names ? measure_part_save(&f, &err) : ASSAY_OK;

    json_decref(f.of);
    free(names);
    if (!names)
        return cli_out_of_memory();
    if (status)
        return cli_failed(&err);
    fprintf(cli_notes(f.path),
            "%s: samples %" PRId64 " to %" PRId64 " of [%" PRId64 ", %" PRId64 ")\n", f.path,
            part->first, part->first + part->count - 1, whole->first, whole->first + whole->count);
    return CLI_OK;
}
