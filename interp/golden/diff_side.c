#include "interp/golden/diff_side.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/text/npy.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool assay_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static assay_status list_folder(assay_diff_side *s, assay_error *err)
{
    DIR *d = opendir(s->path);
    struct dirent *e;

    if (!d)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", s->path, strerror(errno));
    while ((e = readdir(d))) {
        char **longer;
        if (e->d_name[0] == '.')
            continue;
        longer = realloc(s->file, ((size_t)s->n_files + 1) * sizeof *longer);
        if (longer)
            s->file = longer;
        if (!longer || !(s->file[s->n_files] = strdup(e->d_name))) {
            closedir(d);
            return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
        }
        s->n_files++;
    }
    closedir(d);
    if (s->n_files > 1)
        qsort(s->file, (size_t)s->n_files, sizeof *s->file, by_name);
    return ASSAY_OK;
}

assay_status assay_diff_side_open(const char *path, assay_diff_side *s, assay_error *err)
{
    char manifest[4096];

    s->path = path;
    if (access(path, F_OK) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    if (!assay_is_folder(path))
        return ASSAY_OK;
    snprintf(manifest, sizeof manifest, "%s/manifest.json", path);
    if (access(manifest, F_OK) == 0)
        return assay_bundle_open(path, &s->bundle, err);
    return list_folder(s, err);
}

void assay_diff_side_close(assay_diff_side *s)
{
    assay_bundle_free(s->bundle);
    for (int i = 0; i < s->n_files; i++)
        free(s->file[i]);
    free(s->file);
}

bool assay_diff_names(const char *file, const assay_bundle_tensor *t)
{
    const char *dot = strrchr(file, '.');
    const size_t n = dot ? (size_t)(dot - file) : strlen(file);
    char stem[ASSAY_BUNDLE_STEM];
    const char *plain;

    assay_bundle_stem(t->index, t->op ? t->op : "", t->name, stem);
    plain = stem + strlen(stem) - strlen(t->name); /* the name is last, character for character */
    return (n == strlen(stem) && strncmp(file, stem, n) == 0) ||
           (strlen(t->name) < strlen(stem) && n == strlen(plain) && strncmp(file, plain, n) == 0) ||
           (n == strlen(t->name) && strncmp(file, t->name, n) == 0);
}

static assay_status type_of_npy(const assay_npy *a, const char *path, assay_type *t,
                                assay_error *err)
{
    static const assay_elem elems[] = {[ASSAY_NPY_BOOL] = {ASSAY_KIND_BOOL, 8, false},
                                       [ASSAY_NPY_I1] = {ASSAY_KIND_INT, 8, true},
                                       [ASSAY_NPY_U1] = {ASSAY_KIND_INT, 8, false},
                                       [ASSAY_NPY_I2] = {ASSAY_KIND_INT, 16, true},
                                       [ASSAY_NPY_U2] = {ASSAY_KIND_INT, 16, false},
                                       [ASSAY_NPY_I4] = {ASSAY_KIND_INT, 32, true},
                                       [ASSAY_NPY_U4] = {ASSAY_KIND_INT, 32, false},
                                       [ASSAY_NPY_I8] = {ASSAY_KIND_INT, 64, true},
                                       [ASSAY_NPY_U8] = {ASSAY_KIND_NONE, 0, false},
                                       [ASSAY_NPY_F2] = {ASSAY_KIND_NONE, 0, false},
                                       [ASSAY_NPY_F4] = {ASSAY_KIND_F32, 32, true},
                                       [ASSAY_NPY_F8] = {ASSAY_KIND_NONE, 0, false}};

    memset(t, 0, sizeof *t);
    t->elem = elems[a->type];
    t->rank = a->rank;
    if (t->elem.kind == ASSAY_KIND_NONE || a->rank > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: %s of rank %d cannot be compared", path,
                          assay_npy_type_name(a->type), a->rank);
    memcpy(t->dim, a->shape, (size_t)a->rank * sizeof *t->dim);
    return ASSAY_OK;
}

assay_status assay_diff_read_loose(const char *path, const assay_type *like, assay_type *t,
                                   void **data, assay_error *err)
{
    const size_t length = strlen(path);
    const size_t want = like ? (size_t)assay_shape_count(like) * assay_elem_size(like->elem) : 0;
    unsigned char *bytes = NULL;
    size_t size;
    assay_status status;

    if (!like || (length > 4 && strcmp(path + length - 4, ".npy") == 0)) {
        assay_npy a;
        status = assay_npy_read_file(path, &a, err);
        if (status != ASSAY_OK)
            return status;
        status = assay_npy_widen(&a, err);
        if (status == ASSAY_OK)
            status = type_of_npy(&a, path, t, err);
        if (status != ASSAY_OK) {
            assay_npy_free(&a);
            return status;
        }
        *data = a.data;
        if (like) /* codes mean what the reference says they mean */
            t->q = like->q;
        return ASSAY_OK;
    }
    status = assay_slurp(path, &bytes, &size, err);
    *data = bytes;
    if (status == ASSAY_OK && size != want) {
        free(*data);
        *data = NULL;
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: %zu bytes, but the tensor has %zu", path, size,
                          want);
    }
    *t = *like;
    return status;
}
