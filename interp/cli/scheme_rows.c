/* assay scheme apply and derive: many rescales at once, .npy in and out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/text/npy.h"
#include "interp/assay_tools.h"
#include "interp/cli/scheme.h"

/* Columns by option; what is not given is NULL. Integers first. */
enum {
    ACC,
    MULTIPLIER,
    SHIFT,
    PRE,
    ZP,
    IN_ZP,
    MIN,
    MAX,
    N_INTEGERS,
    SCALE = N_INTEGERS,
    IN_SCALE,
    WEIGHT_SCALE,
    OUT_SCALE,
    N_COLUMNS
};
static const char *const column_names[N_COLUMNS] = {
    "acc", "multiplier", "shift", "pre",      "zp",           "in-zp",
    "min", "max",        "scale", "in-scale", "weight-scale", "out-scale"};

typedef struct rows {
    size_t n;
    int rank;
    int64_t shape[ASSAY_NPY_MAX_RANK];
    bool wide_acc;             /* accumulators are int64 */
    bool from_file[N_COLUMNS]; /* npy holds the column; else it is one number */
    assay_npy npy[N_COLUMNS];
    int64_t *column[N_INTEGERS];
    double *real[N_COLUMNS]; /* of SCALE and those behind it */
    uint8_t *error;
} rows;

static void rows_free(rows *r)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        if (r->from_file[i])
            text_npy_free(&r->npy[i]);
        free(r->real[i]);
    }
    for (int i = 0; i < N_INTEGERS; i++)
        free(r->column[i]);
    free(r->error);
}

static void *out_of_memory(void)
{
    cli_out_of_memory();
    return NULL;
}

/* Reads the file that column `which` names, unless it is a number. The first array of other than
 * one element gives the rows their number and shape. */
static bool open_column(const cli_args *a, int which, rows *r)
{
    const char *option = column_names[which], *text = cli_value(a, option, "");
    char *end;
    assay_error err;
    (void)strtod(text, &end);
    if (end != text && *end == '\0')
        return true;
    if (text_npy_read_file(text, &r->npy[which], &err))
        return cli_failed(&err) == CLI_OK;
    r->from_file[which] = true;
    const assay_npy_type type = r->npy[which].type;
    if (which < N_INTEGERS ? !text_npy_is_integer(type)
                           : type != ASSAY_NPY_F4 && type != ASSAY_NPY_F8) {
        cli_trouble("scheme: --%s holds %s; expected %s", option, text_npy_type_name(type),
                    which < N_INTEGERS ? "integers of at most 64 bits, signed"
                                       : "float32 or float64");
        return false;
    }
    const size_t n = text_npy_count(&r->npy[which]);
    if (r->n == SIZE_MAX || (r->n == 1 && n != 1)) {
        r->n = n;
        r->rank = r->npy[which].rank;
        memcpy(r->shape, r->npy[which].shape, sizeof r->shape);
    }
    if (n == r->n || n == 1)
        return true;
    cli_trouble("scheme: --%s has %zu elements; expected %zu or 1", option, n, r->n);
    return false;
}

/* One number in place of a column of integers. */
static bool read_integer(const cli_args *a, int which, int64_t *v)
{
    const char *text = cli_value(a, column_names[which], "");
    char *end;
    errno = 0;
    *v = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0)
        return true;
    cli_trouble("scheme: --%s takes an integer or a .npy file, not '%s'", column_names[which],
                text);
    return false;
}

static bool fill_integers(const cli_args *a, int which, rows *r)
{
    int64_t one = 0;
    if (!r->from_file[which] && !read_integer(a, which, &one))
        return false;
    int64_t *v = r->column[which] = malloc((r->n + 1) * sizeof *v);
    if (!v)
        return out_of_memory() != NULL;
    const assay_npy *npy = &r->npy[which];
    const size_t count = r->from_file[which] ? text_npy_count(npy) : 1;
    for (size_t i = 0; i < r->n; i++)
        v[i] =
            r->from_file[which] ? text_npy_integer(npy->data, npy->type, count == 1 ? 0 : i) : one;
    if (which == ACC)
        r->wide_acc = r->from_file[which] && npy->type == ASSAY_NPY_I8;
    return true;
}

static bool fill_reals(const cli_args *a, int which, rows *r)
{
    double one = 0;
    if (!r->from_file[which] && !cli_number(a, column_names[which], 0, -1e300, 1e300, &one))
        return false;
    double *v = r->real[which] = malloc((r->n + 1) * sizeof *v);
    if (!v)
        return out_of_memory() != NULL;
    const assay_npy *npy = &r->npy[which];
    const size_t count = r->from_file[which] ? text_npy_count(npy) : 1;
    for (size_t i = 0; i < r->n; i++)
        v[i] = r->from_file[which] ? text_npy_get(npy->data, npy->type, count == 1 ? 0 : i) : one;
    return true;
}

/* Writes n integers as signed (or unsigned) `size`-byte elements. */
static bool write_integers(const rows *r, const char *path, const int64_t *v, assay_npy_type type)
{
    size_t size = text_npy_type_size(type);
    assay_npy out = {.type = type, .rank = r->rank};
    assay_error err;
    memcpy(out.shape, r->shape, sizeof out.shape);
    out.data = malloc((r->n + 1) * size);
    if (!out.data)
        return out_of_memory() != NULL;
    for (size_t i = 0; i < r->n; i++) {
        const int8_t one = (int8_t)v[i];
        const int16_t two = (int16_t)v[i];
        const int32_t four = (int32_t)v[i];
        const void *from = size == 1   ? (const void *)&one
                           : size == 2 ? (const void *)&two
                           : size == 4 ? (const void *)&four
                                       : (const void *)&v[i];
        memcpy((char *)out.data + i * size, from, size);
    }
    assay_status status = text_npy_write_file(path, &out, &err);
    free(out.data);
    if (status)
        cli_failed(&err);
    return !status;
}

static bool write_errors(const cli_args *a, const rows *r)
{
    const char *path = cli_value(a, "errors", NULL);
    assay_npy out = {.type = ASSAY_NPY_U1, .rank = r->rank, .data = r->error};
    assay_error err;
    memcpy(out.shape, r->shape, sizeof out.shape);
    if (!path || !text_npy_write_file(path, &out, &err))
        return true;
    cli_failed(&err);
    return false;
}

static assay_npy_type npy_type(assay_elem e)
{
    if (e.bits <= 8)
        return e.is_signed ? ASSAY_NPY_I1 : ASSAY_NPY_U1;
    if (e.bits <= 16)
        return e.is_signed ? ASSAY_NPY_I2 : ASSAY_NPY_U2;
    return e.is_signed ? ASSAY_NPY_I4 : ASSAY_NPY_U4;
}

/* The columns first..last - 1 that are given, and room for errors. */
static bool load_columns(const cli_args *a, int first, int last, rows *r)
{
    for (int i = first; i < last; i++)
        if (cli_has(a, column_names[i]) && !open_column(a, i, r))
            return false;
    if (r->n == SIZE_MAX) {
        r->n = 1;
        r->rank = 1;
        r->shape[0] = 1;
    }
    for (int i = first; i < last; i++)
        if (cli_has(a, column_names[i]) &&
            !(i < N_INTEGERS ? fill_integers(a, i, r) : fill_reals(a, i, r)))
            return false;
    r->error = calloc(r->n + 1, 1);
    return r->error || out_of_memory();
}

static int apply_rows(const cli_args *a, const assay_scheme *s, rows *r, assay_elem type)
{
    assay_error err;
    char name[8];
    const assay_rescales b = {.size = sizeof b,
                              .n = r->n,
                              .op = cli_value(a, "op", NULL),
                              .type = assay_elem_print(type, name),
                              .wide = cli_has(a, "wide") || (r->wide_acc && type.bits == 16),
                              .per_tensor = cli_has(a, "per-tensor"),
                              .acc = r->column[ACC],
                              .scale = r->real[SCALE],
                              .in_scale = r->real[IN_SCALE],
                              .weight_scale = r->real[WEIGHT_SCALE],
                              .out_scale = r->real[OUT_SCALE],
                              .multiplier = r->column[MULTIPLIER],
                              .shift = r->column[SHIFT],
                              .pre = r->column[PRE],
                              .zero_point = r->column[ZP],
                              .in_zero_point = r->column[IN_ZP],
                              .lo = r->column[MIN],
                              .hi = r->column[MAX]};
    int64_t *out = malloc((r->n + 1) * sizeof *out);
    if (!out)
        return cli_out_of_memory();
    assay_status status =
        assay_scheme_apply(s, &b, out, cli_has(a, "errors") ? r->error : NULL, &err);
    bool ok = !status && write_integers(r, cli_value(a, "output", ""), out, npy_type(type)) &&
              write_errors(a, r);
    free(out);
    return status ? cli_failed(&err) : ok ? CLI_OK : CLI_TROUBLE;
}

int cli_scheme_apply(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;
    assay_elem type;
    rows r = {.n = SIZE_MAX};
    const bool multiplier = cli_has(a, "multiplier") && cli_has(a, "shift");
    const bool any = cli_has(a, "multiplier") || cli_has(a, "shift") || cli_has(a, "pre");
    const bool formed = cli_has(a, "weight-scale") || cli_has(a, "out-scale");

    if (!cli_has(a, "acc") || !cli_has(a, "output") || any != multiplier ||
        (formed && !cli_has(a, "in-scale")) ||
        cli_has(a, "scale") + cli_has(a, "in-scale") + multiplier != 1)
        return cli_trouble("scheme apply: needs --acc A.npy, -o R.npy, and --scale S.npy, or "
                           "--in-scale, --weight-scale and --out-scale, or --multiplier M.npy with "
                           "--shift H.npy");
    if (assay_scheme_open(a->positional[1], &s, &err))
        return cli_failed(&err);
    int status = CLI_TROUBLE;
    if (cli_scheme_type(a, s, &type) && load_columns(a, 0, N_COLUMNS, &r))
        status = apply_rows(a, s, &r, type);
    rows_free(&r);
    assay_scheme_free(s);
    return status;
}

static int derive_rows(const cli_args *a, const assay_scheme *s, rows *r)
{
    assay_error err;
    int64_t *out = malloc((3 * r->n + 1) * sizeof *out);
    if (!out)
        return cli_out_of_memory();
    int64_t *shift = out + r->n, *pre = shift + r->n;
    const assay_rescales b = {.size = sizeof b,
                              .n = r->n,
                              .op = cli_value(a, "op", NULL),
                              .type = cli_value(a, "type", NULL),
                              .wide = cli_has(a, "wide"),
                              .scale = r->real[SCALE]};
    assay_status status =
        assay_scheme_derive(s, &b, out, shift, pre, cli_has(a, "errors") ? r->error : NULL, &err);
    bool ok =
        !status && write_integers(r, cli_value(a, "multiplier", ""), out, ASSAY_NPY_I8) &&
        write_integers(r, cli_value(a, "shift", ""), shift, ASSAY_NPY_I4) &&
        (!cli_has(a, "pre") || write_integers(r, cli_value(a, "pre", ""), pre, ASSAY_NPY_I4)) &&
        write_errors(a, r);
    free(out);
    return status ? cli_failed(&err) : ok ? CLI_OK : CLI_TROUBLE;
}

int cli_scheme_derive(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;
    rows r = {.n = SIZE_MAX};

    if (!cli_has(a, "scale") || !cli_has(a, "multiplier") || !cli_has(a, "shift"))
        return cli_trouble("scheme derive: needs --scale S.npy, and --multiplier M.npy and --shift "
                           "H.npy to write");
    if (assay_scheme_open(a->positional[1], &s, &err))
        return cli_failed(&err);
    int status = CLI_TROUBLE;
    if (load_columns(a, SCALE, SCALE + 1, &r))
        status = derive_rows(a, s, &r);
    rows_free(&r);
    assay_scheme_free(s);
    return status;
}
