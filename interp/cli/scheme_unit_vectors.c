/* assay scheme vectors on two matrix units: a small dot product that tells them apart. Exit status
 * 0 when there is one, 1 when none was found. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "graph/files/partial.h"
#include "graph/text/npy.h"
#include "interp/api/units.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme_unit.h"

/* n patterns of format f as DIR/NAME.npy, of rank 1 or [1,n]. */
static assay_status write_column(const char *dir, const char *name, int64_t f,
                                 const uint64_t *patterns, size_t n, int rank, assay_error *err)
{
    const int bits = mac_layout_of((enum assay_mac_format)f)->bits;
    char path[4096];
    assay_npy x = {.type = text_npy_unsigned(bits),
                   .rank = rank,
                   .shape = {rank == 1 ? (int64_t)n : 1, (int64_t)n}};
    uint64_t stored[4096];
    for (size_t i = 0; i < n; i++)
        mac_store(f, stored, i, patterns[i]);
    x.data = stored;
    snprintf(path, sizeof path, "%s/%s.npy", dir, name);
    return text_npy_write_file(path, &x, err);
}

static bool is_row(const char *folder)
{
    static const char *const names[] = {"a.npy",       "b.npy",       "c.npy",       "scale-a.npy",
                                        "scale-b.npy", "d-first.npy", "d-second.npy"};
    DIR *dir = opendir(folder);
    bool ours = dir;
    for (struct dirent *e; ours && (e = readdir(dir));) {
        ours = e->d_name[0] == '.';
        for (size_t i = 0; i < sizeof names / sizeof *names && !ours; i++)
            ours = strcmp(e->d_name, names[i]) == 0;
    }
    if (dir)
        closedir(dir);
    return ours;
}

static assay_status write_row(const char *dir, const assay_mac *m, const vectors_dot *r,
                              assay_error *err)
{
    assay_partial partial;
    assay_status s = file_new_folder(dir, is_row, &partial, err);
    if (s)
        return s;
    const char *to = partial.path;
    s = write_column(to, "a", m->a, r->a, r->k, 2, err);
    s = s ? s : write_column(to, "b", m->b, r->b, r->k, 2, err);
    s = s ? s : write_column(to, "c", m->acc, &r->c, 1, 1, err);
    if (r->blocks > 0) {
        s = s ? s : write_column(to, "scale-a", m->scale, r->scale_a, r->blocks, 2, err);
        s = s ? s : write_column(to, "scale-b", m->scale, r->scale_b, r->blocks, 2, err);
    }
    s = s ? s : write_column(to, "d-first", m->out, &r->d[0], 1, 1, err);
    s = s ? s : write_column(to, "d-second", m->out, &r->d[1], 1, 1, err);
    return file_new_folder_end(&partial, dir, s, err);
}

int cli_units_vectors(const cli_args *a)
{
    assay_mac_unit u[2];
    assay_error err;
    assay_units_pair p;
    int64_t seed;
    if (a->n_positional != 3)
        return cli_trouble("scheme vectors: matrix units are compared two at a time");
    if (!cli_integer(a, "seed", ASSAY_UNITS_SEED, 0, INT64_MAX, &seed))
        return CLI_TROUBLE;
    for (int i = 0; i < 2; i++)
        if (mac_open(a->positional[1 + i], &u[i], &err))
            return cli_failed(&err);
    assay_status s = assay_units_compare(&u[0], &u[1], (uint64_t)seed, &p, &err);
    if (!s && p.unlike)
        s = assay_fail(&err, ASSAY_ERR_INPUT, "scheme vectors: no row fits both %s and %s: %s",
                       u[0].name, u[1].name, p.unlike);
    if (!s)
        assay_units_print_row(cli_notes_of(a), &p);
    if (!s && p.found && cli_has(a, "output"))
        s = write_row(cli_value(a, "output", ""), &u[0].record, &p.row, &err);
    const bool trouble =
        !s && cli_has(a, "json") && cli_json_write(a, assay_units_json(&p)) != CLI_OK;
    assay_units_pair_free(&p);
    return s ? cli_failed(&err) : trouble ? CLI_TROUBLE : p.found ? CLI_OK : CLI_DIFFERENT;
}
