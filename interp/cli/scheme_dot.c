/* assay scheme dot: dot products of a matrix unit, raw patterns in .npy files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/text/npy.h"
#include "interp/api/units.h"
#include "interp/cli/scheme.h"

enum { A, B, C, SCALE_A, SCALE_B, N_FILES };
static const char *const names[N_FILES] = {"a", "b", "c", "scale-a", "scale-b"};

typedef struct dots {
    size_t n, k;
    assay_npy npy[N_FILES]; /* data NULL: not given */
    assay_dots rows;
} dots;

/* Reads the file of option `which`: unsigned, as wide as format f, [n,k] or (C) [n]. */
static bool open_file(const cli_args *a, int which, enum assay_mac_format f, dots *d)
{
    assay_error err;
    assay_npy *x = &d->npy[which];
    const assay_mac_layout *l = mac_layout_of(f);
    const int rank = which == C ? 1 : 2;
    if (text_npy_read_file(cli_value(a, names[which], ""), x, &err))
        return cli_failed(&err) == CLI_OK;
    if (x->type != text_npy_unsigned(l->bits) || x->rank != rank) {
        cli_trouble("scheme dot: --%s holds %s of rank %d; expected %s of rank %d (patterns of %s)",
                    names[which], text_npy_type_name(x->type), x->rank,
                    text_npy_type_name(text_npy_unsigned(l->bits)), rank, l->name);
        return false;
    }
    return true;
}

static bool has_shape(const dots *d, int which, size_t n, size_t k)
{
    const assay_npy *x = &d->npy[which];
    if (!x->data || ((size_t)x->shape[0] == n && (which == C || (size_t)x->shape[1] == k)))
        return true;
    if (which == C)
        cli_trouble("scheme dot: --c has %" PRId64 " elements; expected %zu", x->shape[0], n);
    else
        cli_trouble("scheme dot: --%s is [%" PRId64 ",%" PRId64 "]; expected [%zu,%zu]",
                    names[which], x->shape[0], x->shape[1], n, k);
    return false;
}

static bool load(const cli_args *a, const assay_mac_unit *u, dots *d)
{
    const assay_mac *m = &u->record;
    const enum assay_mac_format fa = (enum assay_mac_format)m->a, fb = (enum assay_mac_format)m->b;
    if (cli_has(a, "scale-a") != (m->scale_block > 0) ||
        cli_has(a, "scale-b") != (m->scale_block > 0)) {
        cli_trouble(m->scale_block > 0 ? "scheme dot: %s needs --scale-a and --scale-b"
                                       : "scheme dot: %s has no block scales",
                    u->name);
        return false;
    }
    if (!open_file(a, A, fa, d) || !open_file(a, B, fb, d) ||
        (cli_has(a, "c") && !open_file(a, C, (enum assay_mac_format)m->acc, d)))
        return false;
    for (int s = SCALE_A; m->scale_block > 0 && s <= SCALE_B; s++)
        if (!open_file(a, s, (enum assay_mac_format)m->scale, d))
            return false;
    d->n = (size_t)d->npy[A].shape[0];
    d->k = (size_t)d->npy[A].shape[1];
    const size_t blocks = m->scale_block > 0 ? d->k / (size_t)m->scale_block : 0;
    d->rows = (assay_dots){.n = d->n,
                           .k = d->k,
                           .a = d->npy[A].data,
                           .b = d->npy[B].data,
                           .c = d->npy[C].data,
                           .scale_a = d->npy[SCALE_A].data,
                           .scale_b = d->npy[SCALE_B].data};
    assay_error err;
    if (!has_shape(d, B, d->n, d->k) || !has_shape(d, C, d->n, 1))
        return false;
    if (assay_dots_check(u, &d->rows, &err)) {
        cli_trouble("scheme dot: %s", err.text);
        return false;
    }
    return has_shape(d, SCALE_A, d->n, blocks) && has_shape(d, SCALE_B, d->n, blocks);
}

static assay_status write_dots(const char *path, const assay_mac_unit *u, const dots *d,
                               assay_error *err)
{
    const int bits = mac_layout_of((enum assay_mac_format)u->record.out)->bits;
    const assay_mac_rows rows = assay_dots_rows(&d->rows);
    assay_npy out = {.type = text_npy_unsigned(bits), .rank = 1, .shape = {(int64_t)d->n}};
    out.data = malloc((d->n + 1) * sizeof(uint64_t));
    assay_status s =
        out.data ? mac_dots(&u->record, d->n, &rows, out.data, err) : assay_out_of_memory(err);
    if (!s)
        s = text_npy_write_file(path, &out, err);
    free(out.data);
    return s;
}

int cli_scheme_dot(const cli_args *a)
{
    assay_mac_unit u;
    assay_error err;
    dots d = {.n = 0};

    if (!cli_has(a, "a") || !cli_has(a, "b") || !cli_has(a, "output"))
        return cli_trouble("scheme dot: needs --a A.npy, --b B.npy and -o D.npy");
    if (assay_units_open(a->positional[1], &u, &err))
        return cli_failed(&err);
    int status = CLI_TROUBLE;
    if (load(a, &u, &d))
        status = write_dots(cli_value(a, "output", ""), &u, &d, &err) ? cli_failed(&err) : CLI_OK;
    for (int i = 0; i < N_FILES; i++)
        text_npy_free(&d.npy[i]);
    return status;
}
