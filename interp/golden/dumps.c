/* A device's dumps; see dumps.h. */
#include "interp/golden/dumps.h"

#include "graph/core/outputs.h"
#include "graph/memory.h"
#include "graph/text/constant.h"
#include "graph/text/packed.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/core/slurp.h"
#include "graph/files/files.h"
#include "graph/text/npy.h"
#include "interp/golden/hex.h"

/* ---- what is there ---- */

static const char *extension_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot : name + strlen(name);
}

static bool is_hex(const char *extension)
{
    return strcmp(extension, ".hex") == 0 || strcmp(extension, ".mem") == 0;
}

/* Which of a tensor's files is read: the least. */
static int rank_of(const char *path)
{
    const char *extension = extension_of(file_base_name(path));
    return strcmp(extension, ".npy") == 0 ? 0 : is_hex(extension) ? 2 : 1;
}

static int by_preference(const void *x, const void *y)
{
    const assay_dump *a = x, *b = y;
    const int ranks = rank_of(a->path) - rank_of(b->path);
    return ranks ? ranks : strcmp(a->path, b->path);
}

static const char *why_not(const char *path, mode_t mode)
{
    if (!S_ISREG(mode))
        return S_ISDIR(mode) ? NULL : "not a file";
    return strcmp(extension_of(path), ".h") == 0 ? "C text is not read" : NULL;
}

static assay_status add(assay_dumps *d, const char *path, int64_t sample, enum assay_dump_kind kind,
                        mode_t mode, assay_error *err)
{
    assay_dump *more = reallocarray(d->dump, (size_t)d->n + 1, sizeof *more);
    if (more)
        d->dump = more;
    if (!more || !(d->dump[d->n].path = strdup(path)))
        return assay_out_of_memory(err);
    d->dump[d->n].sample = sample;
    d->dump[d->n].folder = S_ISDIR(mode);
    d->dump[d->n].odd = why_not(path, mode);
    d->dump[d->n].read = false;
    d->dump[d->n++].kind = kind;
    return ASSAY_OK;
}

/* The number of "s00003", or -1. */
static int64_t sample_of(const char *name)
{
    const size_t digits = name[0] == 's' ? strspn(name + 1, "0123456789") : 0;
    return digits > 0 && digits <= 18 && name[1 + digits] == 0 ? strtoll(name + 1, NULL, 10) : -1;
}

/* The kind that a folder's name says, or -1. */
static int kind_of(const char *name)
{
    static const char *const folders[] = {[ASSAY_DUMP_TENSOR] = "tensors",
                                          [ASSAY_DUMP_SUMS] = "accumulators",
                                          [ASSAY_DUMP_CONSTANT] = "constants",
                                          [ASSAY_DUMP_PARAMETER] = "parameters"};
    int k = (int)(sizeof folders / sizeof *folders) - 1;
    while (k >= 0 && strcmp(folders[k], name) != 0)
        k--;
    return k;
}

/* What is below `part` of the folder ("" for itself): files, and folders that have a meaning.
 * sample, kind: -1 where no folder above says it. */
static assay_status list(assay_dumps *d, const char *part, int64_t sample, int kind,
                         assay_error *err)
{
    char path[4096], inner[2048];
    assay_status status = ASSAY_OK;
    snprintf(path, sizeof path, "%.2000s/%.1000s", d->folder, part);
    DIR *dir = opendir(path);
    if (!dir)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    for (const struct dirent *e; !status && (e = readdir(dir));) {
        struct stat st;
        const int64_t number = sample < 0 ? sample_of(e->d_name) : -1;
        const int said = kind < 0 ? kind_of(e->d_name) : -1;
        const enum assay_dump_kind here = kind < 0 ? ASSAY_DUMP_TENSOR : (enum assay_dump_kind)kind;
        if (e->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%.1000s%s%.255s", part, *part ? "/" : "", e->d_name);
        snprintf(path, sizeof path, "%.2000s/%.1500s", d->folder, inner);
        if (stat(path, &st) != 0)
            st.st_mode = 0; /* a link to nothing */
        if (S_ISDIR(st.st_mode) && (said >= 0 || number >= 0))
            status = list(d, inner, number >= 0 ? number : sample, said >= 0 ? said : kind, err);
        else
            status = add(d, inner, sample, here, st.st_mode, err);
    }
    closedir(dir);
    return status;
}

assay_status golden_dumps_open(const char *folder, unsigned hex_bits, assay_dumps *out,
                               assay_error *err)
{
    assay_status status;
    *out = (assay_dumps){.folder = strdup(folder), .hex_bits = hex_bits};
    status = out->folder ? list(out, "", -1, -1, err) : assay_out_of_memory(err);
    if (out->n > 1)
        qsort(out->dump, (size_t)out->n, sizeof *out->dump, by_preference);
    return status;
}

void golden_dumps_close(assay_dumps *d)
{
    for (int i = 0; i < d->n; i++)
        free(d->dump[i].path);
    free(d->dump);
    free(d->folder);
    *d = (assay_dumps){0};
}

/* ---- whose it is ---- */

/* Whether n characters are a number of four digits or more, an op, and `name`, with '_' between. */
static bool is_numbered(const char *file, size_t n, const char *name)
{
    char op[64];
    const size_t digits = strspn(file, "0123456789"), last = strlen(name);
    if (digits < 4 || n < digits + last + 3 || file[digits] != '_' || file[n - last - 1] != '_' ||
        strncmp(file + n - last, name, last) != 0)
        return false;
    snprintf(op, sizeof op, "%.*s", (int)(n - last - digits - 2), file + digits + 1);
    return strcmp(op, "input") == 0 || assay_op_find(op) != ASSAY_OP_COUNT;
}

static int fit_name(const char *path, const assay_bundle_tensor *t)
{
    const char *file = file_base_name(path);
    const size_t n = (size_t)(extension_of(file) - file);
    char stem[ASSAY_BUNDLE_STEM];
    size_t before;

    golden_bundle_stem(t->index, t->op ? t->op : "", t->name, stem);
    if (n == strlen(stem) && strncmp(file, stem, n) == 0)
        return 4;
    if (n == strlen(t->name) && strncmp(file, t->name, n) == 0)
        return 3;
    before = strlen(stem) - strnlen(t->name, 160); /* names are cut there */
    if (n == strlen(stem + before) && strncmp(file, stem + before, n) == 0)
        return 2;
    return is_numbered(file, n, stem + before);
}

static int fit(const char *path, const assay_bundle_tensor *t)
{
    char name[1024];
    assay_bundle_tensor in_file = *t;
    const int by_name = fit_name(path, t);
    if (by_name > 0)
        return by_name;
    snprintf(name, sizeof name, "%.1000s" ASSAY_OUTPUT_CODES, t->name);
    in_file.name = name;
    return fit_name(path, &in_file) > 0;
}

int golden_dumps_fit(const assay_dumps *d, int i, const assay_bundle_tensor *t)
{
    return d->dump[i].folder || d->dump[i].odd ? 0 : fit(d->dump[i].path, t);
}

/* The same where it is of the tensor's sample, too; `first` is what is not numbered is of. */
static int fit_in_sample(const assay_dumps *d, int i, const assay_bundle_tensor *t, int64_t first)
{
    const int64_t sample = d->dump[i].sample < 0 ? first : d->dump[i].sample;
    return sample == t->sample ? golden_dumps_fit(d, i, t) : 0;
}

bool golden_dumps_is_known(const assay_dumps *d, int i, const assay_bundle *b, bool masks)
{
    char name[1024];
    if (d->dump[i].kind > ASSAY_DUMP_SUMS)
        return false;
    for (int k = 0; k < b->n_tensors; k++) {
        assay_bundle_tensor t = b->tensor[k];
        if (fit_in_sample(d, i, &t, b->tensor[0].sample) > 0)
            return true;
        snprintf(name, sizeof name, "%.1000s.mask", t.name);
        t.name = name;
        if (masks && fit_in_sample(d, i, &t, b->tensor[0].sample) > 0)
            return true;
    }
    return false;
}

int golden_dumps_find(const assay_dumps *d, const assay_bundle_tensor *t, int64_t first, bool sums)
{
    const enum assay_dump_kind kind = sums ? ASSAY_DUMP_SUMS : ASSAY_DUMP_TENSOR;
    int best = -1, best_fit = 0;
    for (int i = 0; i < d->n; i++) {
        const int f = d->dump[i].kind == kind ? fit_in_sample(d, i, t, first) : 0;
        if (f > best_fit) {
            best = i;
            best_fit = f;
        }
    }
    return best;
}

/* The dump whose name is that of dump i with `suffix` before the extension: its index, or -1. */
static int beside(const assay_dumps *d, int i, const char *suffix)
{
    const char *path = d->dump[i].path;
    const size_t n = strlen(path) - strlen(extension_of(path)), m = strlen(suffix);
    for (int k = 0; k < d->n; k++) {
        const char *other = d->dump[k].path;
        if (d->dump[k].folder || d->dump[k].odd)
            continue;
        if (strlen(other) - strlen(extension_of(other)) == n + m && strncmp(other, path, n) == 0 &&
            strncmp(other + n, suffix, m) == 0)
            return k;
    }
    return -1;
}

/* Whether its name says that it is a mask: a tensor's own name that was cut (160) is that of its
 * mask. */
static bool is_mask(const assay_dump *dump)
{
    const char *file = file_base_name(dump->path), *end = extension_of(file);
    return end - file >= 5 && strncmp(end - 5, ".mask", 5) == 0;
}

int golden_dumps_mask(const assay_dumps *d, int i, const assay_bundle_tensor *t, int64_t first)
{
    char name[1024];
    assay_bundle_tensor mask = *t;
    const int at = beside(d, i, ".mask");
    snprintf(name, sizeof name, "%.1000s.mask", t->name);
    mask.name = name;
    if (at >= 0)
        return at;
    const int named = golden_dumps_find(d, &mask, first, d->dump[i].kind == ASSAY_DUMP_SUMS);
    return named >= 0 && is_mask(&d->dump[named]) ? named : -1;
}

/* ---- reading ---- */

static const assay_elem elems[] = {
    [ASSAY_NPY_BOOL] = {ASSAY_KIND_BOOL, 8, false}, [ASSAY_NPY_I1] = {ASSAY_KIND_INT, 8, true},
    [ASSAY_NPY_U1] = {ASSAY_KIND_INT, 8, false},    [ASSAY_NPY_I2] = {ASSAY_KIND_INT, 16, true},
    [ASSAY_NPY_U2] = {ASSAY_KIND_INT, 16, false},   [ASSAY_NPY_I4] = {ASSAY_KIND_INT, 32, true},
    [ASSAY_NPY_U4] = {ASSAY_KIND_INT, 32, false},   [ASSAY_NPY_I8] = {ASSAY_KIND_INT, 64, true},
    [ASSAY_NPY_U8] = {ASSAY_KIND_NONE, 0, false},   [ASSAY_NPY_F2] = {ASSAY_KIND_NONE, 0, false},
    [ASSAY_NPY_F4] = {ASSAY_KIND_F32, 32, true},    [ASSAY_NPY_F8] = {ASSAY_KIND_NONE, 0, false}};

assay_status golden_dump_read_npy(const char *path, const assay_type *like, assay_type *t,
                                  void **data, assay_error *err)
{
    assay_npy a;
    assay_status status = text_npy_read_file(path, &a, err);

    *data = NULL;
    if (!status)
        status = text_npy_widen(&a, err);
    if (!status)
        status = text_npy_round(&a, err);
    if (!status && like)
        status = text_constant_unpack(path, &a, like, err);
    *t = (assay_type){.rank = a.rank};
    if (!status)
        t->elem = elems[a.type];
    if (!status && (t->elem.kind == ASSAY_KIND_NONE || a.rank > ASSAY_MAX_RANK))
        status = assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s of rank %d cannot be compared",
                            path, text_npy_type_name(a.type), a.rank);
    if (status) {
        text_npy_free(&a);
        return status;
    }
    memcpy(t->dim, a.shape, (size_t)a.rank * sizeof *t->dim);
    if (like) /* codes mean what the reference says they mean */
        t->q = like->q;
    if (like && assay_is_small_float(like->elem) &&
        text_elem_npy(like->elem) == text_elem_npy(t->elem))
        t->elem = like->elem;
    *data = a.data;
    return ASSAY_OK;
}

/* One element fills one byte, packed or not: above its bits are zeros or copies of its sign. */
static bool is_extended(const assay_type *t, unsigned byte)
{
    assert(t->elem.bits >= 1 && t->elem.bits <= 8);
    const unsigned above = byte >> t->elem.bits, sign = byte >> (t->elem.bits - 1) & 1;
    return above == 0 || (t->elem.is_signed && sign && above == 0xffU >> t->elem.bits);
}

static assay_status take_raw(const char *path, const unsigned char *bytes, size_t size,
                             const assay_type *t, void *data, assay_error *err)
{
    const uint16_t one = 1;
    const size_t n = (size_t)assay_shape_count(t), width = assay_elem_size(t->elem);
    if (text_is_packable(t->elem) && n == 1 && size == 1) {
        if (!is_extended(t, *bytes))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: bits above the element are neither zeros nor its sign", path);
        text_unpack(t, bytes, data);
        return ASSAY_OK;
    }
    if (size == n * width) {
        memcpy(data, bytes, size);
        if (*(const unsigned char *)&one == 0)
            text_npy_swap(data, n, width);
        return ASSAY_OK;
    }
    if (text_is_packable(t->elem) && size == text_packed_bytes(t)) {
        if (!text_packed_ends(t, bytes))
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: bits after the last element are not zero",
                              path);
        text_unpack(t, bytes, data);
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_ERR_INPUT, "%s: %zu bytes, but the tensor has %zu%s", path, size,
                      n * width, text_is_packable(t->elem) ? " (or its bits, packed)" : "");
}

bool golden_dumps_has_shape(const assay_dumps *d, int i)
{
    return rank_of(d->dump[i].path) == 0;
}

assay_status golden_dumps_read(const assay_dumps *d, int i, const assay_type *like, assay_type *t,
                               void **data, assay_error *err)
{
    const char *extension = extension_of(file_base_name(d->dump[i].path));
    unsigned char *bytes = NULL;
    size_t size;
    char path[4096];
    assay_status status;

    d->dump[i].read = true;
    snprintf(path, sizeof path, "%.2000s/%.2000s", d->folder, d->dump[i].path);
    if (strcmp(extension, ".npy") == 0)
        return golden_dump_read_npy(path, like, t, data, err);
    *t = *like;
    *data = malloc(assay_type_bytes(like) + 1);
    status = *data ? assay_slurp(path, &bytes, &size, err) : assay_out_of_memory(err);
    if (!status)
        status = is_hex(extension)
                     ? golden_hex_parse(path, (const char *)bytes, like, d->hex_bits, *data, err)
                     : take_raw(path, bytes, size, like, *data, err);
    free(bytes);
    if (status) {
        free(*data);
        *data = NULL;
    }
    return status;
}
