/* assay scheme vectors on two matrix units: a small dot product that tells them apart. Exit status
 * 0 when there is one, 1 when none was found. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/files/partial.h"
#include "graph/text/npy.h"
#include "interp/cli/scheme_unit.h"
#include "interp/vectors/units.h"

enum { SEED = 17 };

static int nibbles(int64_t f)
{
    return mac_layout_of((enum assay_mac_format)f)->bits / 4;
}

static void print_row(const assay_mac_unit *u, const vectors_dot *r)
{
    const assay_mac *m = &u[0].record;
    printf("%s and %s, k %zu; all other elements 0:\n", u[0].name, u[1].name, r->k);
    for (size_t i = 0; i < r->k; i++)
        if (r->a[i] != 0 || r->b[i] != 0)
            printf("  a[%zu] 0x%0*" PRIx64 "  b[%zu] 0x%0*" PRIx64 "\n", i, nibbles(m->a), r->a[i],
                   i, nibbles(m->b), r->b[i]);
    for (size_t i = 0; i < r->blocks; i++)
        printf("  scale-a[%zu] 0x%0*" PRIx64 "  scale-b[%zu] 0x%0*" PRIx64 "\n", i,
               nibbles(m->scale), r->scale_a[i], i, nibbles(m->scale), r->scale_b[i]);
    printf("  c 0x%0*" PRIx64 "\n", nibbles(m->acc), r->c);
    for (int i = 0; i < 2; i++)
        printf("  %s gives 0x%0*" PRIx64 "\n", u[i].name, nibbles(m->out), r->d[i]);
}

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

static bool is_same_record(const assay_mac *a, const assay_mac *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

assay_status cli_units_print_apart(const assay_mac_unit u[2], assay_error *err)
{
    const char *unlike = vectors_units_unlike(&u[0].record, &u[1].record);
    vectors_dot row;
    bool found;
    if (unlike) {
        printf("they take no common row: %s\n", unlike);
        return ASSAY_OK;
    }
    const assay_status s = vectors_units_apart(&u[0].record, &u[1].record, SEED, &row, &found, err);
    if (!s && found)
        print_row(u, &row);
    else if (!s)
        printf("no dot product of those drawn tells them apart\n");
    vectors_dot_free(&row);
    return s;
}

int cli_units_vectors(const cli_args *a)
{
    assay_mac_unit u[2];
    assay_error err;
    vectors_dot row;
    bool found;
    int64_t seed;
    if (a->n_positional != 3)
        return cli_trouble("scheme vectors: of matrix units two are compared");
    if (!cli_integer(a, "seed", SEED, 0, INT64_MAX, &seed))
        return CLI_TROUBLE;
    if (mac_open(a->positional[1], &u[0], &err) || mac_open(a->positional[2], &u[1], &err))
        return cli_failed(&err);
    const char *unlike = vectors_units_unlike(&u[0].record, &u[1].record);
    if (unlike)
        return cli_trouble("scheme vectors: %s and %s take no common row: %s", u[0].name, u[1].name,
                           unlike);
    assay_status s =
        vectors_units_apart(&u[0].record, &u[1].record, (uint64_t)seed, &row, &found, &err);
    if (!s && found) {
        print_row(u, &row);
        if (cli_has(a, "output"))
            s = write_row(cli_value(a, "output", ""), &u[0].record, &row, &err);
    } else if (!s && is_same_record(&u[0].record, &u[1].record))
        printf("%s and %s are equal: no parameter differs\n", u[0].name, u[1].name);
    else if (!s)
        printf("%s and %s: no dot product of those drawn tells them apart\n", u[0].name, u[1].name);
    vectors_dot_free(&row);
    return s ? cli_failed(&err) : found ? CLI_OK : CLI_DIFFERENT;
}
