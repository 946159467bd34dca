/* Shards of data sets: --shard K/N. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"

int cli_take_shard(const cli_args *a, assay_samples *s)
{
    const char *text = cli_value(a, "shard", NULL), *name = a->command->name;
    long long k, n;
    char rest;

    if (!text)
        return CLI_OK;
    if (s->sequence)
        return cli_trouble("%s: --shard splits the samples, but each step of a sequence continues "
                           "from the one before",
                           name);
    if (sscanf(text, "%lld/%lld%c", &k, &n, &rest) != 2 || n < 1 || n > 1000000 || k < 1 || k > n)
        return cli_trouble("%s: --shard takes K/N with 1 <= K <= N, such as 3/16, not '%s'", name,
                           text);
    if (n > s->count)
        return cli_trouble("%s: --shard %s: there are only %lld samples", name, text,
                           (long long)s->count);
    const int64_t begin = s->count * (k - 1) / n, end = s->count * k / n;
    s->first += begin;
    s->count = end - begin;
    return CLI_OK;
}

int cli_data_shard(cli_data *d, const cli_args *a)
{
    const int status = cli_take_shard(a, &d->samples);

    d->progress.total = d->samples.count;
    return status;
}

/* The last part of a path, without slashes behind it. */
static void put_base_name(FILE *f, const char *path)
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        ;
    fprintf(f, "%.*s", (int)(end - begin), path + begin);
}

char *cli_data_names(const cli_data *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    for (int k = 0, n = 0; f && k < d->graph->n_inputs; k++) {
        if (!d->source[k].path)
            continue;
        fputs(n++ ? ", " : "", f);
        put_base_name(f, d->source[k].path);
    }
    if (f && !fclose(f))
        return text;
    free(text);
    return NULL;
}
