/* A suite of rows as files: columns, expected codes, and what each row is for; see vectors.h. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/core/type.h"
#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "graph/memory.h"
#include "interp/cli/vectors.h"
#include "interp/golden/bundle.h"
#include "interp/page/json.h"
#include "schemes/rescale/thresholds.h"

#define FORMATS (ASSAY_DUMP_NPY | ASSAY_DUMP_HEX | ASSAY_DUMP_C)

typedef struct column {
    const char *dir, *name;
    assay_elem type;
    size_t n;
    double (*real)(const vectors_row *r); /* float32 columns */
    int64_t (*integer)(const vectors_row *r);
    const vectors_row *row;
} column;

static int64_t acc_of(const vectors_row *r)
{
    return r->acc;
}
static int64_t zero_of(const vectors_row *r)
{
    return r->zero;
}
static int64_t multiplier_of(const vectors_row *r)
{
    return r->multiplier;
}
static int64_t shift_of(const vectors_row *r)
{
    return r->shift;
}
static double in_of(const vectors_row *r)
{
    return r->in;
}
static double weight_of(const vectors_row *r)
{
    return r->weight;
}
static double out_of(const vectors_row *r)
{
    return r->out;
}

static void store(void *data, assay_elem type, size_t i, int64_t v)
{
    const size_t size = assay_elem_size(type);
    if (size == 1)
        ((int8_t *)data)[i] = (int8_t)v;
    else if (size == 2)
        ((int16_t *)data)[i] = (int16_t)v;
    else if (size == 4)
        ((int32_t *)data)[i] = (int32_t)v;
    else
        ((int64_t *)data)[i] = v;
}

static assay_status dump(const char *dir, const char *name, assay_elem elem, size_t n,
                         const void *data, assay_error *err)
{
    const assay_type type = {.elem = elem, .rank = 1, .dim = {(int64_t)n}};
    char stem[4096];
    if ((size_t)snprintf(stem, sizeof stem, "%s/%s", dir, name) >= sizeof stem)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", dir);
    return golden_dump_write(stem, FORMATS, 0, &type, data, err);
}

static assay_status write_column(const column *c, assay_error *err)
{
    void *data = malloc((c->n + 1) * sizeof(int64_t));
    if (!data)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < c->n; i++)
        if (c->real)
            ((float *)data)[i] = (float)c->real(&c->row[i]);
        else
            store(data, c->type, i, c->integer(&c->row[i]));
    const assay_status status = dump(c->dir, c->name, c->type, c->n, data, err);
    free(data);
    return status;
}

static assay_status write_inputs(const char *dir, const vectors_suite *s, assay_error *err)
{
    const assay_elem i32 = assay_int(32, true), i64 = assay_int(64, true);
    const assay_elem f32 = assay_f32();
    const bool wide = s->space.lo < INT32_MIN || s->space.hi > INT32_MAX;
    const column all[] = {
        {.name = "acc", .type = wide ? i64 : i32, .integer = acc_of},
        {.name = "zp", .type = i32, .integer = zero_of},
        {.name = s->space.scales ? NULL : "multiplier", .type = i64, .integer = multiplier_of},
        {.name = s->space.scales ? NULL : "shift", .type = i32, .integer = shift_of},
        {.name = s->space.scales ? "in_scale" : NULL, .type = f32, .real = in_of},
        {.name = s->space.scales ? "weight_scale" : NULL, .type = f32, .real = weight_of},
        {.name = s->space.scales ? "out_scale" : NULL, .type = f32, .real = out_of},
    };
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++) {
        column c = all[i];
        c.dir = dir;
        c.n = s->rows.n;
        c.row = s->rows.row;
        status = c.name ? write_column(&c, err) : ASSAY_OK;
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
        store(out, s->space.type, i, errors[i] ? 0 : code[i]);
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

static json_t *case_json(const cli_sides *sides, const vectors_case *c)
{
    json_t *row = c->verdict == VECTORS_TOLD ? json_integer((json_int_t)c->row) : json_null();
    return json_pack("{s:s, s:s, s:s, s:o, s:s*}", "a", sides->name[c->a], "b", sides->name[c->b],
                     "verdict", verdicts[c->verdict], "row", row, "why",
                     c->verdict == VECTORS_OPEN ? c->why : NULL);
}

static assay_status write_json(const char *dir, const vectors_suite *s, const cli_sides *sides,
                               assay_error *err)
{
    char elem[8], path[4096];
    json_t *cases = json_array();
    for (size_t k = 0; k < s->n_cases; k++)
        page_json_add(&cases, case_json(sides, &s->cases[k]));
    json_t *all = json_pack("{s:s, s:s, s:b, s:s, s:[I,I], s:I, s:I, s:I, s:o}", "kind",
                            s->space.scales ? "scale" : "multiplier", "op", s->space.op, "wide",
                            s->space.wide, "type", assay_elem_print(s->space.type, elem),
                            "accumulators", (json_int_t)s->space.lo, (json_int_t)s->space.hi,
                            "settings", (json_int_t)s->settings, "seed", (json_int_t)s->seed,
                            "rows", (json_int_t)s->rows.n, "cases", cases);
    snprintf(path, sizeof path, "%.4000s/vectors.json", dir);
    const assay_status status = page_json_write(path, all, err);
    json_decref(all);
    return status;
}

/* A folder that holds nothing but columns and vectors.json. */
static bool is_suite(const char *folder)
{
    static const char *const begins[] = {".",      "acc",         "zp",  "multiplier",
                                         "shift",  "in_scale",    "out", "weight_s",
                                         "errors", "vectors.json"};
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

assay_status cli_vectors_write(const char *dir, const vectors_suite *s, const cli_sides *sides,
                               size_t outs, assay_error *err)
{
    assay_partial partial = ASSAY_PARTIAL_NONE;
    struct stat st;
    if (lstat(dir, &st) == 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: exists already", dir);
    assay_status status = file_partial_folder(dir, is_suite, &partial, err);
    if (status)
        return status;
    status = write_inputs(partial.path, s, err);
    for (size_t i = 0; i < outs && !status; i++)
        status = write_answers(partial.path, s, i, outs > 1 ? sides->name[i] : NULL, err);
    if (!status)
        status = write_json(partial.path, s, sides, err);
    if (!status)
        status = file_partial_folder_place(&partial, dir, NULL, err);
    if (partial.path[0])
        file_remove_tree(partial.path);
    file_partial_close(&partial);
    return status;
}
