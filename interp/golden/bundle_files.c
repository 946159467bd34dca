/* Files that a golden bundle is made of; see bundle_files.h. */
#include "interp/golden/bundle_files.h"
#include "graph/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- lists ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void golden_bundle_list_free(assay_bundle_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->path[i]);
    free(l->path);
    *l = (assay_bundle_list){0};
}

bool golden_bundle_list_has(const assay_bundle_list *l, const char *path)
{
    return l->n > 0 && bsearch(&path, l->path, l->n, sizeof *l->path, by_text);
}

static void add(assay_bundle_list *l, const char *stem, const char *extension)
{
    char *path;
    if (l->n == l->room) {
        char **more = reallocarray(l->path, l->room + 256 + l->room / 2, sizeof *more);
        l->short_of_memory = l->short_of_memory || !more;
        if (!more)
            return;
        l->path = more;
        l->room += 256 + l->room / 2;
    }
    if (asprintf(&path, "%s%s%s", stem, *extension ? "." : "", extension) < 0)
        l->short_of_memory = true;
    else
        l->path[l->n++] = path;
}

static void add_forms(assay_bundle_list *l, const char *stem, unsigned forms)
{
    for (unsigned form = 1; form & ASSAY_DUMP_ALL; form <<= 1)
        if (forms & form)
            add(l, stem, golden_dump_extension((enum assay_dump_format)form));
}

/* The forms of what the manifest names as .npy. */
static void add_array(assay_bundle_list *l, const char *file, unsigned forms)
{
    char stem[512];
    if (golden_bundle_stem_of(file, stem, sizeof stem))
        add_forms(l, stem, forms);
    else
        add(l, file, "");
}

/* What stands for a list, where it is in a file. */
static void add_listed(assay_bundle_list *l, const json_t *o, unsigned forms)
{
    const char *file = json_string_value(json_object_get(o, "file"));
    if (file)
        add_array(l, file, forms);
}

static void add_parameters(assay_bundle_list *l, const json_t *node, unsigned forms)
{
    const char *stem = json_string_value(json_object_get(node, "parameter_files"));
    const char *name;
    json_t *value;
    char part[1024];
    json_object_foreach(json_object_get(node, "parameters"), name, value)
    {
        snprintf(part, sizeof part, "%.600s.%.300s", stem ? stem : "", name);
        if (json_is_object(value))
            add_listed(l, value, forms);
        else if (stem)
            add_forms(l, part, forms & ~(unsigned)ASSAY_DUMP_NPY);
    }
}

assay_status golden_bundle_list_files(const assay_bundle *b, assay_bundle_list *out,
                                      assay_error *err)
{
    const unsigned forms = b->forms ? b->forms : ASSAY_DUMP_ALL;
    const json_t *constants = json_object_get(b->manifest, "constants"), *o;
    size_t i;

    *out = (assay_bundle_list){0};
    add(out, "manifest.json", "");
    if (json_is_string(json_object_get(json_object_get(b->manifest, "graph"), "file")))
        add(out, "graph.assay", "");
    for (int k = 0; k < b->n_tensors; k++) {
        if (b->tensor[k].file)
            add_array(out, b->tensor[k].file, forms);
        if (b->tensor[k].sums_file)
            add_array(out, b->tensor[k].sums_file, forms);
    }
    json_array_foreach(constants, i, o)
    {
        add_listed(out, o, forms);
        add_listed(out, json_object_get(o, "scale"), forms);
        add_listed(out, json_object_get(o, "zero_point"), forms);
    }
    json_array_foreach(json_object_get(b->manifest, "nodes"), i, o) add_parameters(out, o, forms);
    if (out->n > 1)
        qsort(out->path, out->n, sizeof *out->path, by_text);
    if (!out->short_of_memory)
        return ASSAY_OK;
    golden_bundle_list_free(out);
    return assay_out_of_memory(err);
}

/* ---- what is in a folder ---- */

static const char *const parts[] = {"tensors", "accumulators", "constants", "parameters"};
enum { N_PARTS = sizeof parts / sizeof *parts };

/* "s00003" */
static bool is_sample(const char *name)
{
    const size_t digits = name[0] == 's' ? strspn(name + 1, "0123456789") : 0;
    return digits >= 5 && name[1 + digits] == 0;
}

/* Is `path` a folder of bundles: "tensors", "tensors/s00003"? */
static bool is_part(const char *path)
{
    for (int i = 0; i < N_PARTS; i++) {
        const size_t n = strlen(parts[i]);
        if (strncmp(path, parts[i], n) == 0 &&
            (path[n] == 0 || (i < 2 && path[n] == '/' && is_sample(path + n + 1))))
            return true;
    }
    return false;
}

typedef struct walk {
    const assay_bundle_list *known; /* NULL: what has the names of bundles' files */
    const char *shown;
    void (*visit)(void *user, const char *path);
    void *user;
    assay_error *err;
} walk;

/* "tensors/0007_conv_NAME.npy" and the like, whatever the name. */
static bool is_named_so(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t digits = strspn(name + (*name == 'c'), "0123456789");
    const char *dot = strrchr(name, '.');
    if (!slash)
        return strcmp(path, "manifest.json") == 0 || strcmp(path, "graph.assay") == 0;
    for (unsigned form = 1; form & ASSAY_DUMP_ALL; form <<= 1)
        if (dot && strcmp(dot + 1, golden_dump_extension((enum assay_dump_format)form)) == 0)
            return digits >= 4 && name[(*name == 'c') + digits] == '_';
    return false;
}

static assay_status walk_folder(const walk *w, int folder, const char *path);

static assay_status walk_entry(const walk *w, int folder, const char *name, const char *path)
{
    struct stat st;
    int inner;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT
                   ? ASSAY_OK
                   : assay_fail(w->err, ASSAY_ERR_IO, "%s/%s: %s", w->shown, path, strerror(errno));
    if (S_ISREG(st.st_mode) &&
        (w->known ? golden_bundle_list_has(w->known, path) : is_named_so(path)))
        return ASSAY_OK;
    if (!S_ISDIR(st.st_mode) || !is_part(path)) {
        w->visit(w->user, path);
        return ASSAY_OK;
    }
    inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return assay_fail(w->err, ASSAY_ERR_IO, "%s/%s: %s", w->shown, path, strerror(errno));
    return walk_folder(w, inner, path);
}

/* Takes over `folder`, which is at `path` below the bundle ("" for itself). */
static assay_status walk_folder(const walk *w, int folder, const char *path)
{
    DIR *d = fdopendir(folder);
    const struct dirent *e;
    assay_status status = ASSAY_OK;
    if (!d) {
        close(folder);
        return assay_fail(w->err, ASSAY_ERR_IO, "%s/%s: %s", w->shown, path, strerror(errno));
    }
    for (errno = 0; !status && (e = readdir(d)); errno = 0) {
        char inner[1024];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%.700s%s%.255s", path, *path ? "/" : "", e->d_name);
        status = walk_entry(w, folder, e->d_name, inner);
    }
    if (!status && errno)
        status = assay_fail(w->err, ASSAY_ERR_IO, "%s/%s: %s", w->shown, path, strerror(errno));
    closedir(d);
    return status;
}

assay_status golden_bundle_strangers(int folder, const char *shown, const assay_bundle_list *known,
                                     void (*visit)(void *user, const char *path), void *user,
                                     assay_error *err)
{
    const walk w = {known, shown, visit, user, err};
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return own < 0 ? assay_fail(err, ASSAY_ERR_IO, "%s: %s", shown, strerror(errno))
                   : walk_folder(&w, own, "");
}

/* ---- what may go ---- */

/* Keeps the first stranger. */
static void keep_first(void *user, const char *path)
{
    char *first = user;
    if (!*first)
        snprintf(first, 256, "%.255s", path);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static assay_status read_files(const char *folder, const struct stat *manifest,
                               assay_bundle_seen *seen, assay_error *err)
{
    assay_bundle *b;
    assay_error inner;
    assay_status status = golden_bundle_open(folder, &b, &inner);

    golden_bundle_list_free(&seen->files);
    *seen = (assay_bundle_seen){0};
    if (status)
        return assay_fail(err, ASSAY_ERR_IO,
                          "%.200s: `replace` replaces a golden bundle and nothing else (%.400s)",
                          folder, inner.text);
    status = golden_bundle_list_files(b, &seen->files, err);
    if (!status)
        seen->manifest = *manifest;
    golden_bundle_free(b);
    return status;
}

assay_status golden_bundle_may_replace(const char *folder, void *seen, assay_error *err)
{
    assay_bundle_seen *s = seen;
    struct stat st;
    char first[256] = "";
    assay_status status = ASSAY_OK;

    if (lstat(folder, &st) != 0) /* it went meanwhile */
        return errno == ENOENT ? ASSAY_OK
                               : assay_fail(err, ASSAY_ERR_IO, "%s: %s", folder, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return assay_fail(
            err, ASSAY_ERR_IO,
            "%s: is not a folder; `replace` replaces a golden bundle and nothing else", folder);
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fstatat(at, "manifest.json", &st, AT_SYMLINK_NOFOLLOW) != 0 || !is_same(&st, &s->manifest))
        status = read_files(folder, &st, s, err);
    if (!status)
        status = golden_bundle_strangers(at, folder, &s->files, keep_first, first, err);
    if (at >= 0)
        close(at);
    if (!status && *first)
        status = assay_fail(err, ASSAY_ERR_IO,
                            "%.300s: '%s' in it is not of the golden bundle; `replace` replaces a "
                            "bundle and nothing else",
                            folder, first);
    return status;
}

bool golden_bundle_is_partial(const char *folder)
{
    char first[256] = "";
    const int open_folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ours = open_folder >= 0 &&
                !golden_bundle_strangers(open_folder, folder, NULL, keep_first, first, NULL);
    if (open_folder >= 0)
        close(open_folder);
    return ours && !*first;
}
