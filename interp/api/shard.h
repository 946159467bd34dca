/* The entries that all shards of an evaluation have in common, for the library and the command. */
#ifndef ASSAY_INTERP_API_SHARD_H
#define ASSAY_INTERP_API_SHARD_H

#include "interp/measure/part_file.h"

/* What all shards of an evaluation have in common. */
typedef struct assay_shard_of {
    const assay_program *program;
    const assay_graph *twin; /* or NULL */
    const char *dataset, *preprocessing;
    const assay_samples *samples; /* of it the judge's options alone */
    int64_t first, count;         /* of all shards together */
    bool labelled, maps;
    int64_t ignored; /* label of positions without one */
} assay_shard_of;
/* The contract in words, malloc'd, as golden_contract_print prints it. */
assay_status assay_shard_contract(const assay_program *p, char **text, assay_error *err);
/* A new reference; NULL when out of memory. */
json_t *assay_shard_describe(const assay_shard_of *s);

/* The same read; texts are the file's. */
typedef struct assay_shard_said {
    const char *scheme, *contract; /* its name; in words */
    int64_t first, count;
    bool labelled, by_agreement;
    assay_judge judge; /* of it `maps` and `tokens` alone */
} assay_shard_said;
/* ASSAY_ERR_INPUT: not a shard. */
assay_status assay_shard_read(const assay_part_file *f, assay_shard_said *out, assay_error *err);

#endif
