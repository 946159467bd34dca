/* assay scheme dot: dot products of a matrix unit, raw patterns in .npy files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/npy.h"
#include "interp/cli/scheme.h"
#include "schemes/mac/mac.h"

enum { A, B, C, SCALE_A, SCALE_B, N_FILES };
static const char *const names[N_FILES] = {"a", "b", "c", "scale-a", "scale-b"};

typedef struct dots {
    size_t n, k;
    assay_npy npy[N_FILES]; /* data NULL: not given */
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

/* Codes of formats of fewer bits than their bytes must be codes. */
static bool in_format(const dots *d, int which, enum assay_mac_format f)
{
    const assay_mac_layout *l = mac_layout_of(f);
    const int used = 1 + l->exponent_bits + l->fraction_bits;
    for (size_t i = 0; l->bits == 8 && used < 8 && i < d->n * d->k; i++) {
        const uint8_t code = ((const uint8_t *)d->npy[which].data)[i];
        if (code >> used != 0) {
            cli_trouble("scheme dot: --%s, row %zu: %d is not a pattern of %s", names[which],
                        i / d->k, code, l->name);
            return false;
        }
    }
    return true;
}

static bool right_k(const assay_mac_unit *u, size_t k)
{
    const size_t each = mac_multiple(&u->record);
    if (k % each == 0)
        return true;
    cli_trouble("scheme dot: k is %zu; %s takes multiples of %zu", k, u->name, each);
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
    return right_k(u, d->k) && has_shape(d, B, d->n, d->k) && has_shape(d, C, d->n, 1) &&
           has_shape(d, SCALE_A, d->n, blocks) && has_shape(d, SCALE_B, d->n, blocks) &&
           in_format(d, A, fa) && in_format(d, B, fb);
}

static int write_dots(const cli_args *a, const assay_mac *m, const dots *d)
{
    const int bits = mac_layout_of((enum assay_mac_format)m->out)->bits;
    assay_npy out = {.type = text_npy_unsigned(bits), .rank = 1, .shape = {(int64_t)d->n}};
    const assay_mac_rows rows = {d->k,           d->npy[A].data,       d->npy[B].data,
                                 d->npy[C].data, d->npy[SCALE_A].data, d->npy[SCALE_B].data};
    assay_error err;
    out.data = malloc((d->n + 1) * sizeof(uint64_t));
    if (!out.data)
        return cli_out_of_memory();
    assay_status s = mac_dots(m, d->n, &rows, out.data, &err);
    if (!s)
        s = text_npy_write_file(cli_value(a, "output", ""), &out, &err);
    free(out.data);
    return !s ? CLI_OK : cli_failed(&err);
}

int cli_scheme_dot(const cli_args *a)
{
    assay_mac_unit u;
    assay_error err;
    dots d = {.n = 0};

    if (!cli_has(a, "a") || !cli_has(a, "b") || !cli_has(a, "output"))
        return cli_trouble("scheme dot: needs --a A.npy, --b B.npy and -o D.npy");
    if (mac_open(a->positional[1], &u, &err))
        return cli_failed(&err);
    const int status = load(a, &u, &d) ? write_dots(a, &u.record, &d) : CLI_TROUBLE;
    for (int i = 0; i < N_FILES; i++)
        text_npy_free(&d.npy[i]);
    return status;
}
