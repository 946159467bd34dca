/* Rows asked by hand, round after round: `assay infer --rounds DIR`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/core/type.h"
#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "graph/memory.h"
#include "graph/text/npy.h"
#include "interp/cli/infer.h"
#include "interp/golden/bundle.h"
#include "interp/golden/hex.h"
#include "interp/page/json.h"

#define FORMATS (ASSAY_DUMP_NPY | ASSAY_DUMP_HEX | ASSAY_DUMP_C)

static const char *const columns[] = {"acc", "zp",       "multiplier",   "shift",    "lo",
                                      "hi",  "in_scale", "weight_scale", "out_scale"};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static assay_type type_of(const assay_npy *a)
{
    const assay_elem elem =
        a->type == ASSAY_NPY_F4 ? assay_f32() : assay_int(a->type == ASSAY_NPY_I8 ? 64 : 32, true);
    return (assay_type){.elem = elem, .rank = 1, .dim = {a->shape[0]}};
}

static bool path_of(char path[4096], const char *folder, const char *name, const char *end)
{
    return snprintf(path, 4096, "%s/%s%s", folder, name, end) < 4096;
}

/* ---- a round that was not asked before ---- */

static bool is_round(const char *folder)
{
    char path[4096];
    return path_of(path, folder, "rows", "") && access(path, F_OK) == 0;
}

static assay_status write_column(const char *in, const char *rows, const char *name, size_t *n,
                                 assay_error *err)
{
    char path[4096];
    assay_npy a;
    if (!path_of(path, in, name, ".npy") || access(path, F_OK) != 0)
        return ASSAY_OK; /* not a column of these rows */
    assay_status s = text_npy_read_file(path, &a, err);
    if (s)
        return s;
    const assay_type type = type_of(&a);
    *n = text_npy_count(&a);
    s = path_of(path, rows, name, "") ? golden_dump_write(path, FORMATS, 0, &type, a.data, err)
                                      : assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: too long", rows);
    text_npy_free(&a);
    return s;
}

static assay_status write_round(cli_rounds *r, const char *folder, const char *in, assay_error *err)
{
    char path[4096];
    assay_partial partial;
    if (mkdir(r->dir, 0777) != 0 && errno != EEXIST)
        return file_no_place(r->dir, "made", errno, err);
    assay_status s = file_new_folder(folder, is_round, &partial, err);
    if (s)
        return s;
    for (int i = 0; i < 2 && !s; i++)
        if (!path_of(path, partial.path, i ? "rows" : "answers", "") || mkdir(path, 0777) != 0)
            s = assay_fail(err, ASSAY_ERR_IO, "%.300s: %s", partial.path, strerror(errno));
    for (int i = 0; i < N_COLUMNS && !s; i++)
        s = write_column(in, path, columns[i], &r->rows, err);
    return file_new_folder_end(&partial, folder, s, err);
}

/* ---- a round that was ---- */

static bool is_same(const assay_npy *a, const assay_npy *b)
{
    return a->type == b->type && text_npy_count(a) == text_npy_count(b) &&
           memcmp(a->data, b->data, text_npy_bytes(a)) == 0;
}

/* The column as it stands in the round's folder is the one that is asked now. */
static assay_status check_column(cli_rounds *r, const char *in, const char *folder,
                                 const char *name, assay_error *err)
{
    char now[4096], then[4096], rows[32];
    assay_npy a = {.data = NULL}, b = {.data = NULL};
    snprintf(rows, sizeof rows, "rows/%s", name);
    if (!path_of(now, in, name, ".npy") || access(now, F_OK) != 0)
        return ASSAY_OK;
    if (!path_of(then, folder, rows, ".npy"))
        return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", folder);
    assay_status s = text_npy_read_file(now, &a, err);
    if (!s)
        s = text_npy_read_file(then, &b, err);
    r->rows = s ? 0 : text_npy_count(&a);
    if (!s && !is_same(&a, &b))
        s = assay_fail(err, ASSAY_ERR_INPUT,
                       "%s: round %d asks other rows with these options and the answers before it; "
                       "remove %s/%d and those after it to ask again",
                       then, r->round, r->dir, r->round);
    text_npy_free(&a);
    text_npy_free(&b);
    return s;
}

/* Codes as $readmemh text, one a line. */
static assay_status take_hex(const cli_rounds *r, const char *path, const char *to,
                             assay_error *err)
{
    const assay_type type = {.elem = r->type, .rank = 1, .dim = {(int64_t)r->rows}};
    unsigned char *text = NULL;
    size_t size;
    assay_status s = assay_slurp(path, &text, &size, err);
    void *codes = s ? NULL : malloc(assay_type_bytes(&type) + 1);
    if (!s && !codes)
        s = assay_out_of_memory_for(err, "the codes of %.300s", path);
    if (!s)
        s = golden_hex_parse(path, (const char *)text, &type, r->type.bits, codes, err);
    if (!s)
        s = golden_dump_npy(to, &type, codes, err);
    free(codes);
    free(text);
    return s;
}

static assay_status take_npy(const char *path, const char *to, assay_error *err)
{
    assay_npy a;
    assay_status s = text_npy_read_file(path, &a, err);
    if (s)
        return s;
    s = text_npy_write_file(to, &a, err);
    text_npy_free(&a);
    return s;
}

/* *found: the answers hold the array. */
static assay_status take(const cli_rounds *r, const char *answers, const char *name,
                         const char *out, bool *found, assay_error *err)
{
    static const char *const ends[] = {".npy", ".hex", ".mem"};
    char path[4096], to[4096];
    *found = false;
    for (int i = 0; i < 3; i++) {
        if (!path_of(path, answers, name, ends[i]) || !path_of(to, out, name, ".npy"))
            return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", answers);
        *found = access(path, F_OK) == 0;
        if (*found)
            return i ? take_hex(r, path, to, err) : take_npy(path, to, err);
    }
    return ASSAY_OK;
}

static assay_status take_answers(cli_rounds *r, const char *folder, const char *out,
                                 assay_error *err)
{
    char answers[4096];
    bool found;
    if (!path_of(answers, folder, "answers", ""))
        return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", folder);
    assay_status s = take(r, answers, "out", out, &found, err);
    if (s)
        return s;
    r->waiting = !found;
    if (r->waiting)
        return assay_fail(err, ASSAY_ERR_INPUT, "round %d is not answered", r->round);
    cli_rounds errors = *r;
    errors.type = assay_int(8, false);
    return take(&errors, answers, "errors", out, &found, err);
}

assay_status cli_rounds_ask(void *user, const char *in, const char *out, assay_error *err)
{
    cli_rounds *r = user;
    char number[16], folder[4096];
    assay_status s = ASSAY_OK;
    snprintf(number, sizeof number, "%d", ++r->round);
    if (!path_of(folder, r->dir, number, "") || strlen(folder) > 4000)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", r->dir);
    if (!is_round(folder)) {
        s = write_round(r, folder, in, err);
        r->waiting = !s;
        return s ? s : assay_fail(err, ASSAY_ERR_INPUT, "round %d is not answered", r->round);
    }
    for (int i = 0; i < N_COLUMNS && !s; i++)
        s = check_column(r, in, folder, columns[i], err);
    return s ? s : take_answers(r, folder, out, err);
}

int cli_rounds_waiting(const cli_rounds *r, const char *json)
{
    assay_error err;
    char rows[4200], answers[4200];
    snprintf(rows, sizeof rows, "%s/%d/rows", r->dir, r->round);
    snprintf(answers, sizeof answers, "%s/%d/answers", r->dir, r->round);
    if (json) {
        json_t *all = json_pack("{s:s, s:i, s:I, s:o, s:o}", "verdict", "waiting", "round",
                                r->round, "rows", (json_int_t)r->rows, "folder",
                                page_json_text(rows), "answers", page_json_text(answers));
        const assay_status s = page_json_write(json, all, &err);
        json_decref(all);
        if (s)
            return cli_failed(&err);
    }
    fprintf(cli_notes(json),
            "round %d: %zu rows in %s (.npy, .hex, .h)\n"
            "  the device's codes go to %s as out.npy or out.hex, errors.npy beside it where it "
            "refuses some; then the same command goes on\n",
            r->round, r->rows, rows, answers);
    return CLI_DIFFERENT;
}
