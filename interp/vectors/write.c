/* A suite of rows as files: columns, expected codes, and what each row is for; see files.h. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/core/type.h"
#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "graph/memory.h"
#include "interp/golden/bundle.h"
#include "interp/page/json.h"
#include "interp/rows/column.h"
#include "interp/vectors/files.h"
#include "schemes/rescale/thresholds.h"

#define FORMATS (ASSAY_DUMP_NPY | ASSAY_DUMP_HEX | ASSAY_DUMP_C)

static assay_status dump(const char *dir, const char *name, assay_elem elem, size_t n,
                         const void *data, assay_error *err)
{
    const assay_type type = {.elem = elem, .rank = 1, .dim = {(int64_t)n}};
    char stem[4096];
    if ((size_t)snprintf(stem, sizeof stem, "%s/%s", dir, name) >= sizeof stem)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", dir);
    return golden_dump_write(stem, FORMATS, 0, &type, data, err);
}

/* Which rows have the column. */
enum kind { ANY, INTEGERS, SCALES };

static const struct {
    enum kind of;
    rows_column column;
    unsigned bits; /* 0: float32 */
} columns[] = {
    {ANY, ROWS_COLUMN("acc", vectors_row, acc), 32}, /* or 64 */
    {ANY, ROWS_COLUMN("zp", vectors_row, zero), 32},
    {INTEGERS, ROWS_COLUMN("multiplier", vectors_row, multiplier), 64},
    {INTEGERS, ROWS_COLUMN("shift", vectors_row, shift), 32},
    {SCALES, ROWS_COLUMN("in_scale", vectors_row, in), 0},
    {SCALES, ROWS_COLUMN("weight_scale", vectors_row, weight), 0},
    {SCALES, ROWS_COLUMN("out_scale", vectors_row, out), 0},
};

static assay_status write_inputs(const char *dir, const vectors_suite *s, assay_error *err)
{
    const bool wide = s->space.lo < INT32_MIN || s->space.hi > INT32_MAX;
    const enum kind kind = s->space.scales ? SCALES : INTEGERS;
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof columns / sizeof *columns && !status; i++) {
        const unsigned bits = i == 0 && wide ? 64 : columns[i].bits;
        const assay_elem type = bits ? assay_int(bits, true) : assay_f32();
        if (columns[i].of != ANY && columns[i].of != kind)
            continue;
        void *data = rows_column_values(&columns[i].column, type, s->rows.row, sizeof *s->rows.row,
                                        s->rows.n);
        status = data ? dump(dir, columns[i].column.name, type, s->rows.n, data, err)
                      : assay_out_of_memory(err);
        free(data);
    }
    return status;
}

/* out and errors of a side; their names end in the scheme's where there are several. */
static assay_status write_answers(const char *dir, const vectors_suite *s, size_t side,
                                  const char *name, assay_error *err)
{
    const int64_t *code = s->code + side * s->rows.n;
    void *out = calloc(s->rows.n + 1, sizeof(int64_t));
    uint8_t *errors = calloc(s->rows.n + 1, 1);
    char end[232] = "", stem[256];
    assay_status status = out && errors ? ASSAY_OK : assay_out_of_memory(err);
    for (size_t i = 0; i < s->rows.n && !status; i++) {
        errors[i] = code[i] == ASSAY_REFUSED;
        rows_store(out, s->space.type, i, errors[i] ? 0 : code[i]);
    }
    if (name)
        snprintf(end, sizeof end, ".%s", name);
    for (char *p = end; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
            *p = '_';
    snprintf(stem, sizeof stem, "out%s", end);
    if (!status)
        status = dump(dir, stem, s->space.type, s->rows.n, out, err);
    snprintf(stem, sizeof stem, "errors%s", end);
    if (!status)
        status = dump(dir, stem, assay_int(8, false), s->rows.n, errors, err);
    free(out);
    free(errors);
    return status;
}

/* ---- vectors.json ---- */

static const char *const verdicts[] = {"told", "same", "open"};

static json_t *case_json(const vectors_sides *sides, size_t k)
{
    const vectors_case *c = &sides->cases[k];
    const int node = sides->told[k].node;
    char name[16];
    json_t *row =
        c->verdict == VECTORS_TOLD && node < 0 ? json_integer((json_int_t)c->row) : json_null();
    return json_pack("{s:s, s:s, s:s, s:o, s:b, s:s*, s:s*}", "a", sides->name[c->a], "b",
                     sides->name[c->b], "verdict", verdicts[c->verdict], "row", row, "proved",
                     c->verdict == VECTORS_SAME && c->proved, "network",
                     node < 0 ? NULL : probe_apart_name(node, name), "why",
                     c->verdict == VECTORS_OPEN ? c->why : NULL);
}

json_t *vectors_json(const vectors_suite *s, const vectors_sides *sides)
{
    char elem[8];
    json_t *cases = json_array();
    for (size_t k = 0; k < sides->n_cases; k++)
        page_json_add(&cases, case_json(sides, k));
    return json_pack("{s:s, s:s, s:b, s:s, s:[I,I], s:I, s:I, s:I, s:o}", "kind",
                     s->space.scales ? "scale" : "multiplier", "op", s->space.op, "wide",
                     s->space.wide, "type", assay_elem_print(s->space.type, elem), "accumulators",
                     (json_int_t)s->space.lo, (json_int_t)s->space.hi, "settings",
                     (json_int_t)s->settings, "seed", (json_int_t)s->seed, "rows",
                     (json_int_t)s->rows.n, "cases", cases);
}

static assay_status write_json(const char *dir, const vectors_suite *s, const vectors_sides *sides,
                               assay_error *err)
{
    char path[4096];
    json_t *all = vectors_json(s, sides);
    snprintf(path, sizeof path, "%.4000s/vectors.json", dir);
    const assay_status status = page_json_write(path, all, err);
    json_decref(all);
    return status;
}

/* A folder that holds nothing but columns and vectors.json. */
static bool is_suite(const char *folder)
{
    static const char *const begins[] = {".",        "acc",      "zp",     "multiplier",
                                         "shift",    "in_scale", "out",    "weight_s",
                                         "networks", "expected", "errors", "vectors.json"};
    DIR *dir = opendir(folder);
    bool ours = dir != NULL;
    for (struct dirent *e; ours && (e = readdir(dir));) {
        ours = false;
        for (size_t i = 0; i < sizeof begins / sizeof *begins && !ours; i++)
            ours = strncmp(e->d_name, begins[i], strlen(begins[i])) == 0;
    }
    if (dir)
        closedir(dir);
    return ours;
}

assay_status vectors_write(const char *dir, const vectors_suite *s, const vectors_sides *sides,
                           size_t outs, const probe_apart *x, assay_error *err)
{
    assay_partial partial;
    assay_status status = file_new_folder(dir, is_suite, &partial, err);
    if (status)
        return status;
    if (s->rows.n > 0)
        status = write_inputs(partial.path, s, err);
    for (size_t i = 0; i < outs && s->rows.n > 0 && !status; i++)
        status = write_answers(partial.path, s, i, outs > 1 ? sides->name[i] : NULL, err);
    if (x->n > 0 && !status)
        status = probe_apart_write(x, partial.path, sides->n, err);
    if (!status)
        status = write_json(partial.path, s, sides, err);
    return file_new_folder_end(&partial, dir, status, err);
}
