/* A suite of rows that someone has: a folder of .npy columns, or a .csv file; see files.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/core/type.h"
#include "graph/memory.h"
#include "graph/text/npy.h"
#include "interp/vectors/files.h"
#include "schemes/rescale/thresholds.h"

enum { ACC, OUT, ZP, ERRORS, MULTIPLIER, SHIFT, IN, WEIGHT, OUT_SCALE, N_COLUMNS };

static const struct {
    const char *name;
    bool real, may_lack;
} columns[N_COLUMNS] = {
    [ACC] = {"acc", false, false},
    [OUT] = {"out", false, false},
    [ZP] = {"zp", false, true},
    [ERRORS] = {"errors", false, true},
    [MULTIPLIER] = {"multiplier", 0, 0},
    [SHIFT] = {"shift", false, false},
    [IN] = {"in_scale", true, false},
    [WEIGHT] = {"weight_scale", true, true},
    [OUT_SCALE] = {"out_scale", true, true},
};

typedef struct table {
    const char *path;
    bool given[N_COLUMNS];
    size_t n, room;
    int64_t *integer[N_COLUMNS];
    double *real[N_COLUMNS];
} table;

static void table_free(table *t)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        free(t->integer[i]);
        free(t->real[i]);
    }
}

static bool is_asked(int column, const vectors_space *space)
{
    return column < MULTIPLIER || (column >= IN) == space->scales;
}

/* Room for one more row in every column. */
static bool grow(table *t)
{
    if (t->n < t->room)
        return true;
    const size_t room = t->room * 2 + 256;
    for (int i = 0; i < N_COLUMNS; i++) {
        int64_t *integer = realloc(t->integer[i], room * sizeof *integer);
        t->integer[i] = integer ? integer : t->integer[i];
        double *real = integer ? realloc(t->real[i], room * sizeof *real) : NULL;
        t->real[i] = real ? real : t->real[i];
        if (!real)
            return false;
    }
    t->room = room;
    return true;
}

/* ---- folders ---- */

static assay_status fill_column(table *t, int i, const assay_npy *a, assay_error *err)
{
    const size_t n = text_npy_count(a);
    if (columns[i].real ? a->type != ASSAY_NPY_F4 && a->type != ASSAY_NPY_F8
                        : !text_npy_is_integer(a->type))
        return assay_fail(err, ASSAY_ERR_INPUT, "%.200s/%s.npy holds %s; expected %s", t->path,
                          columns[i].name, text_npy_type_name(a->type),
                          columns[i].real ? "float32" : "integers of at most 64 bits, signed");
    if (i != ACC && n != t->n)
        return assay_fail(err, ASSAY_ERR_INPUT, "%.200s/%s.npy has %zu elements; acc.npy has %zu",
                          t->path, columns[i].name, n, t->n);
    for (t->n = i == ACC ? 0 : t->n; t->n < n; t->n++)
        if (!grow(t))
            return assay_out_of_memory(err);
    for (size_t k = 0; k < n; k++)
        if (columns[i].real)
            t->real[i][k] = text_npy_get(a->data, a->type, k);
        else
            t->integer[i][k] = text_npy_integer(a->data, a->type, k);
    t->given[i] = true;
    return ASSAY_OK;
}

static assay_status read_folder(table *t, const vectors_space *space, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < N_COLUMNS && !status; i++) {
        char path[4096];
        struct stat st;
        assay_npy a;
        snprintf(path, sizeof path, "%.4000s/%s.npy", t->path, columns[i].name);
        if (!is_asked(i, space) || (columns[i].may_lack && stat(path, &st) != 0))
            continue;
        status = text_npy_read_file(path, &a, err);
        if (status)
            break;
        status = fill_column(t, i, &a, err);
        text_npy_free(&a);
    }
    return status;
}

/* ---- .csv ---- */

#define BLANK " \t\r\n"

static int column_named(const char *name)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (strcmp(columns[i].name, name) == 0)
            return i;
    return -1;
}

/* The next cell of a line, without the blanks around it; NULL behind the last. */
static char *next_cell(char **line)
{
    char *cell = strsep(line, ",");
    if (!cell)
        return NULL;
    cell += strspn(cell, BLANK);
    char *end = cell + strlen(cell);
    while (end > cell && strchr(BLANK, end[-1]))
        end--;
    *end = '\0';
    return cell;
}

/* The first line: which column each cell is of. Returns how many there are, 0 after an error. */
static int read_names(table *t, char *line, int *of, assay_error *err)
{
    int n = 0;
    if (strncmp(line, "\xef\xbb\xbf", 3) == 0) /* a byte order mark, as spreadsheets write it */
        line += 3;
    for (char *cell; (cell = next_cell(&line));) {
        const int i = column_named(cell);
        if (i < 0)
            assay_fail(err, ASSAY_ERR_INPUT,
                       "%.200s:1: no column \"%.40s\"; there are acc, zp, multiplier, shift, "
                       "in_scale, weight_scale, out_scale, out and errors",
                       t->path, cell);
        else if (t->given[i])
            assay_fail(err, ASSAY_ERR_INPUT, "%.200s:1: the column %s occurs twice", t->path, cell);
        if (i < 0 || t->given[i])
            return 0;
        t->given[i] = true;
        of[n++] = i;
    }
    return n;
}

/* A cell into row n of column i; false where it is no number. Integers are decimal, or 0x. */
static bool read_cell(table *t, int i, const char *cell)
{
    const char *digits = cell + (*cell == '-' || *cell == '+');
    const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    char *end;
    errno = 0;
    if (columns[i].real)
        t->real[i][t->n] = strtod(cell, &end);
    else
        t->integer[i][t->n] = strtoll(cell, &end, hex ? 16 : 10);
    return end != cell && !*end && !errno;
}

static assay_status read_cells(table *t, size_t at, char *line, const int *of, int n,
                               assay_error *err)
{
    if (!grow(t))
        return assay_out_of_memory(err);
    for (int i = 0; i < n; i++) {
        const char *cell = next_cell(&line);
        if (!cell || !read_cell(t, of[i], cell))
            return assay_fail(err, ASSAY_ERR_INPUT, "%.200s:%zu: %s: \"%.40s\" is not a number",
                              t->path, at, columns[of[i]].name, cell ? cell : "");
    }
    if (line)
        return assay_fail(err, ASSAY_ERR_INPUT, "%.200s:%zu: more cells than the %d columns",
                          t->path, at, n);
    t->n++;
    return ASSAY_OK;
}

static assay_status read_lines(table *t, FILE *f, char **line, assay_error *err)
{
    size_t size = 0;
    int of[N_COLUMNS], n = 0;
    assay_status status = ASSAY_OK;
    ssize_t length;
    for (size_t at = 1; !status && (length = getline(line, &size, f)) >= 0; at++) {
        if (strlen(*line) != (size_t)length)
            status = assay_fail(err, ASSAY_ERR_INPUT,
                                "%.200s:%zu: it holds a 0 byte, so it is not text", t->path, at);
        else if (at == 1)
            status = (n = read_names(t, *line, of, err)) ? ASSAY_OK : ASSAY_ERR_INPUT;
        else if ((*line)[strspn(*line, BLANK)])
            status = read_cells(t, at, *line, of, n, err);
    }
    if (!status && n == 0)
        status = assay_fail(err, ASSAY_ERR_INPUT, "%.200s is empty", t->path);
    return status;
}

static assay_status read_csv(table *t, assay_error *err)
{
    char *line = NULL;
    size_t size = 0;
    int file;
    assay_status status = assay_open_regular(t->path, &file, &size, err);
    if (status)
        return status;
    FILE *f = fdopen(file, "r");
    if (!f) {
        close(file);
        return assay_out_of_memory(err);
    }
    status = read_lines(t, f, &line, err);
    free(line);
    fclose(f);
    return status;
}

/* ---- rows ---- */

static assay_status check(const table *t, const vectors_space *space, assay_error *err)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (!t->given[i] && !columns[i].may_lack && is_asked(i, space))
            return assay_fail(err, ASSAY_ERR_INPUT, "%.200s: no rows with %s", t->path,
                              columns[i].name);
    if (t->n == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%.200s holds no rows", t->path);
    for (size_t k = 0; k < t->n; k++) {
        if (t->given[ZP] && (t->integer[ZP][k] < INT32_MIN || t->integer[ZP][k] > INT32_MAX))
            return assay_fail(err, ASSAY_ERR_INPUT, "%.200s: row %zu: zero point %lld", t->path, k,
                              (long long)t->integer[ZP][k]);
        if (t->integer[OUT][k] == ASSAY_REFUSED)
            return assay_fail(err, ASSAY_ERR_INPUT, "%.200s: row %zu: out %lld is not a code",
                              t->path, k, (long long)t->integer[OUT][k]);
    }
    return ASSAY_OK;
}

static vectors_row row_of(const table *t, size_t k)
{
    const bool w = t->given[WEIGHT], o = t->given[OUT_SCALE], m = t->given[MULTIPLIER];
    return (vectors_row){.acc = t->integer[ACC][k],
                         .zero = t->given[ZP] ? t->integer[ZP][k] : 0,
                         .multiplier = m ? t->integer[MULTIPLIER][k] : 0,
                         .shift = m ? t->integer[SHIFT][k] : 0,
                         .in = t->given[IN] ? t->real[IN][k] : 1,
                         .weight = w ? t->real[WEIGHT][k] : 1,
                         .out = o ? t->real[OUT_SCALE][k] : 1};
}

static assay_status take(const table *t, vectors_rows *rows, int64_t *expected, assay_error *err)
{
    for (size_t k = 0; k < t->n; k++) {
        const vectors_row row = row_of(t, k);
        if (!vectors_rows_add(rows, &row))
            return assay_out_of_memory(err);
        expected[k] =
            t->given[ERRORS] && t->integer[ERRORS][k] ? ASSAY_REFUSED : t->integer[OUT][k];
    }
    return ASSAY_OK;
}

assay_status vectors_read(const char *path, const vectors_space *space, vectors_rows *rows,
                          int64_t **expected, assay_error *err)
{
    table t = {.path = path};
    struct stat st;
    *expected = NULL;
    const bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    assay_status status = folder ? read_folder(&t, space, err) : read_csv(&t, err);
    if (!status)
        status = check(&t, space, err);
    if (!status && !(*expected = calloc(t.n + 1, sizeof **expected)))
        status = assay_out_of_memory(err);
    if (!status)
        status = take(&t, rows, *expected, err);
    table_free(&t);
    return status;
}
