/* The row protocol; see oracle.h. */
#include "interp/infer/oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "graph/core/type.h"
#include "graph/files/files.h"
#include "graph/files/temporary.h"
#include "graph/memory.h"
#include "graph/text/npy.h"
#include "interp/rows/column.h"

assay_status infer_oracle_open(infer_oracle *d, const infer_options *o, assay_error *err)
{
    *d = (infer_oracle){.o = o};
    return file_temporary_make(d->folder, err);
}

void infer_oracle_close(infer_oracle *d)
{
    file_temporary_remove(d->folder);
}

/* ---- rows to files ---- */

enum column { ACC, ZP, MULTIPLIER, SHIFT, LO, HI, IN, WEIGHT, OUT, N_COLUMNS };
static const rows_column columns[N_COLUMNS] = {
    [ACC] = ROWS_COLUMN("acc", infer_row, acc),
    [ZP] = ROWS_COLUMN("zp", infer_row, zp),
    [MULTIPLIER] = ROWS_COLUMN("multiplier", infer_row, multiplier),
    [SHIFT] = ROWS_COLUMN("shift", infer_row, shift),
    [LO] = ROWS_COLUMN("lo", infer_row, lo),
    [HI] = ROWS_COLUMN("hi", infer_row, hi),
    [IN] = ROWS_COLUMN("in_scale", infer_row, in),
    [WEIGHT] = ROWS_COLUMN("weight_scale", infer_row, weight),
    [OUT] = ROWS_COLUMN("out_scale", infer_row, out),
};

static assay_status write_column(const infer_oracle *d, const char *folder, enum column c,
                                 const infer_row *row, size_t n, assay_error *err)
{
    const bool wide = c == MULTIPLIER || (c == ACC && d->o->acc_bits > 32);
    const assay_elem type = c >= IN ? assay_f32() : assay_int(wide ? 64 : 32, true);
    assay_npy a = {.type = c >= IN ? ASSAY_NPY_F4
                           : wide  ? ASSAY_NPY_I8
                                   : ASSAY_NPY_I4,
                   .rank = 1,
                   .shape = {(int64_t)n},
                   .data = rows_column_values(&columns[c], type, row, sizeof *row, n)};
    char path[300];
    if (!a.data)
        return assay_out_of_memory_for(err, "the oracle's rows");
    snprintf(path, sizeof path, "%s/%s.npy", folder, columns[c].name);
    const assay_status s = text_npy_write_file(path, &a, err);
    free(a.data);
    return s;
}

static assay_status write_rows(const infer_oracle *d, const char *folder, const infer_row *row,
                               size_t n, assay_error *err)
{
    const bool scales = d->o->kind == INFER_SCALE;
    assay_status s = ASSAY_OK;
    for (int c = 0; c < N_COLUMNS && !s; c++) {
        const bool bound = c == LO || c == HI;
        const bool asked = bound ? row[0].bounded : c < MULTIPLIER || scales == (c >= IN);
        if (asked)
            s = write_column(d, folder, (enum column)c, row, n, err);
    }
    return s;
}

/* ---- the call ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Noreturn void become(const char *line)
{
    const int null = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

/* Waits for the child; its whole process group has ended when this returns. */
static assay_status wait_for(const infer_oracle *d, pid_t child, assay_error *err)
{
    const double end = now() + d->o->timeout;
    struct timespec pause = {0, 200000};
    int how = 0;
    pid_t done;
    while ((done = waitpid(child, &how, WNOHANG)) == 0 && now() < end) {
        nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec < 10000000 ? pause.tv_nsec * 2 : pause.tv_nsec;
    }
    kill(-child, SIGKILL);
    if (done == 0) {
        waitpid(child, &how, 0);
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "the oracle did not end within %g s (call %d; `timeout` gives it more)",
                          d->o->timeout, d->calls);
    }
    if (done == child && WIFEXITED(how) && WEXITSTATUS(how) == 0)
        return ASSAY_OK;
    if (done == child && WIFEXITED(how))
        return assay_fail(err, ASSAY_ERR_INPUT, "the oracle failed: exit status %d (call %d)",
                          WEXITSTATUS(how), d->calls);
    return assay_fail(err, ASSAY_ERR_INPUT, "the oracle was ended by signal %d (call %d)",
                      done == child && WIFSIGNALED(how) ? WTERMSIG(how) : 0, d->calls);
}

static assay_status call(const infer_oracle *d, const char *in, const char *out, assay_error *err)
{
    if (d->o->ask)
        return d->o->ask(d->o->user, in, out, err);
    const size_t size = strlen(d->o->oracle) + 2 * sizeof d->folder + 64;
    char *line = malloc(size);
    if (!line)
        return assay_out_of_memory_for(err, "the oracle's command");
    snprintf(line, size, "%s %s %s", d->o->oracle, in, out);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become(line);
    free(line);
    if (child < 0)
        return assay_fail(err, ASSAY_ERR_IO, "the oracle cannot be started: %s", strerror(errno));
    file_temporary_serve(d->folder, child);
    const assay_status s = wait_for(d, child, err);
    file_temporary_serve(d->folder, 0);
    return s;
}

/* ---- answers from files ---- */

static bool holds_integers(assay_npy_type t)
{
    return t >= ASSAY_NPY_I1 && t <= ASSAY_NPY_I8;
}

assay_status infer_oracle_array(const infer_oracle *d, const char *path, size_t n, assay_npy *a,
                                assay_error *err)
{
    const char *name = file_base_name(path);
    const size_t folder = (size_t)(name - path);
    assay_error why;
    const assay_status s = text_npy_read_file(path, a, &why);
    if (s) /* the path without the folder, which is temporary */
        return assay_fail(
            err, s == ASSAY_ERR_MEMORY ? s : ASSAY_ERR_INPUT, "the oracle's %.600s (call %d)",
            strncmp(why.text, path, folder) == 0 ? why.text + folder : why.text, d->calls);
    if (text_npy_count(a) != n)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "the oracle's %s has %zu elements for %zu rows (call %d)", name,
                          text_npy_count(a), n, d->calls);
    return ASSAY_OK;
}

static assay_status take_codes(const infer_oracle *d, const assay_npy *out, const assay_npy *errors,
                               infer_row *row, size_t n, assay_error *err)
{
    const uint8_t *refused = errors->data;
    const int64_t lo = assay_elem_min(d->o->type), hi = assay_elem_max(d->o->type);
    char elem[8];
    if (!holds_integers(out->type))
        return assay_fail(
            err, ASSAY_ERR_INPUT,
            "the oracle's out.npy holds %s, not integers (int8 to int64, uint8 to uint32)",
            text_npy_type_name(out->type));
    if (refused && errors->type != ASSAY_NPY_U1 && errors->type != ASSAY_NPY_BOOL)
        return assay_fail(err, ASSAY_ERR_INPUT, "the oracle's errors.npy holds %s, not uint8",
                          text_npy_type_name(errors->type));
    for (size_t i = 0; i < n; i++) {
        const double v = text_npy_get(out->data, out->type, i);
        row[i].answer = INFER_REFUSED;
        if (refused && refused[i])
            continue;
        if (!(v >= (double)lo && v <= (double)hi))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "the oracle answers %.0f to row %zu of call %d, outside %s", v, i,
                              d->calls, assay_elem_print(d->o->type, elem));
        row[i].answer = (int64_t)v;
    }
    return ASSAY_OK;
}

static assay_status read_answers(const infer_oracle *d, const char *folder, infer_row *row,
                                 size_t n, assay_error *err)
{
    char path[300];
    assay_npy out = {.data = NULL}, errors = {.data = NULL};
    snprintf(path, sizeof path, "%s/out.npy", folder);
    assay_status s = infer_oracle_array(d, path, n, &out, err);
    snprintf(path, sizeof path, "%s/errors.npy", folder);
    if (!s && access(path, F_OK) == 0)
        s = infer_oracle_array(d, path, n, &errors, err);
    if (!s)
        s = take_codes(d, &out, &errors, row, n, err);
    text_npy_free(&out);
    text_npy_free(&errors);
    return s;
}

static assay_status make_folder(const char *path, assay_error *err)
{
    if (mkdir(path, 0777) == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
}

assay_status infer_oracle_exchange(infer_oracle *d, infer_oracle_write *put,
                                   infer_oracle_read *take, void *what, assay_error *err)
{
    char in[240], out[240];
    d->calls++;
    snprintf(in, sizeof in, "%s/in%d", d->folder, d->calls);
    snprintf(out, sizeof out, "%s/out%d", d->folder, d->calls);
    assay_status s = make_folder(in, err);
    if (!s)
        s = make_folder(out, err);
    if (!s)
        s = put(d, in, what, err);
    if (!s)
        s = call(d, in, out, err);
    if (!s)
        s = take(d, out, what, err);
    file_remove_tree(in);
    file_remove_tree(out);
    return s;
}

typedef struct rescales {
    infer_row *row;
    size_t n;
} rescales;

static assay_status put_rescales(infer_oracle *d, const char *folder, const void *what,
                                 assay_error *err)
{
    const rescales *r = what;
    return write_rows(d, folder, r->row, r->n, err);
}

static assay_status take_rescales(infer_oracle *d, const char *folder, void *what, assay_error *err)
{
    const rescales *r = what;
    return read_answers(d, folder, r->row, r->n, err);
}

assay_status infer_oracle_ask(infer_oracle *d, infer_row *row, size_t n, assay_error *err)
{
    rescales r = {row, n};
    return infer_oracle_exchange(d, put_rescales, take_rescales, &r, err);
}
