/* Networks in text form as files: PATH, and PATH.d with their large constants; or a golden bundle's
 * graph.assay, with its constants where the bundle has them.
 *
 * One rename takes the network from the old to the new, that of the text: files of constants have
 * names by content, so that the old ones and the new stand side by side until then, and those that
 * the text does not name go afterwards. Writers of one PATH take turns. Readers need no lock: where
 * constants are gone, the text is read again if it is another by now. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "graph/text/constant.h"
#include "interp/run/model.h"

/* ---- reading ---- */

/* The folder of a text's large constants: beside what a link names. */
static assay_status constants_of(const char *path, char out[4096], assay_error *err)
{
    char end[4096];
    assay_status status = file_link_end(path, end, err);
    if (!status && (size_t)snprintf(out, 4096, "%s.d", end) >= 4096)
        status = assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", path);
    return status;
}

/* Whether the file holds these bytes still. */
static bool is_still(const char *path, const unsigned char *text, size_t size)
{
    unsigned char *now;
    size_t length;
    const bool same =
        !assay_slurp(path, &now, &length, NULL) && length == size && memcmp(now, text, size) == 0;
    free(now);
    return same;
}

/* A golden bundle's folder, open, where `path` is its graph.assay, whose constants lie in the
 * folder `constants` beside it; -1 where PATH.d is there or no such folder. */
static int bundle_of(const char *path, const char *constants)
{
    char end[4096];
    struct stat s;
    if (access(constants, F_OK) == 0 || file_link_end(path, end, NULL))
        return -1;
    char *name = end + (file_base_name(end) - end);
    if (strcmp(name, "graph.assay") != 0)
        return -1;
    strcpy(name, ".");
    const int folder = open(end, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || (fstatat(folder, "constants", &s, 0) == 0 && S_ISDIR(s.st_mode)))
        return folder;
    close(folder);
    return -1;
}

assay_status run_text_load(const char *path, assay_graph **out, assay_error *err)
{
    enum { TRIES = 100 };
    char constants[4096];
    assay_status status = constants_of(path, constants, err);
    bool again = !status;

    for (int tries = 0; again && tries < TRIES; tries++) {
        unsigned char *text;
        size_t size;
        const int bundle = bundle_of(path, constants);
        const assay_text_folder folder = {bundle < 0 ? constants : "constants", bundle, "."};
        again = false;
        status = assay_slurp(path, &text, &size, err);
        if (!status) {
            status = text_graph_parse_in((const char *)text, size, path, &folder, out, err);
            again = status && !is_still(path, text, size);
        }
        free(text);
        if (bundle >= 0)
            close(bundle);
    }
    return status;
}

/* ---- writing ---- */

typedef struct saver {
    const char *folder; /* of the constants */
    int open;           /* that folder, locked; -1 before it is needed */
    bool made_folder;
    assay_buf made; /* names of constants that were not there before, each in quotes */
} saver;

/* Opens the folder of constants and waits for its other writers. */
static assay_status enter(saver *s, assay_error *err)
{
    s->open = open(s->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->open < 0 && (errno == ELOOP || errno == ENOTDIR))
        return assay_fail(err, ASSAY_ERR_IO, "%s: must be a folder of constants, not a link",
                          s->folder);
    if (s->open < 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot open the folder of constants: %s",
                          s->folder, strerror(errno));
    flock(s->open, LOCK_EX); /* a file system without locks has writers one at a time */
    return ASSAY_OK;
}

/* Of PATH.d, PATH is what the user asked for. */
static assay_status no_folder(const char *constants, assay_error *err)
{
    char asked[4096];
    snprintf(asked, sizeof asked, "%.*s", (int)strlen(constants) - 2, constants);
    return file_no_place(asked, "write", ENOENT, err);
}

static assay_status put_array(void *user, const assay_graph *g, const assay_text_array *a,
                              const char *file, const char *digest, assay_error *err)
{
    saver *s = user;
    char path[4096 + ASSAY_TEXT_FILE_NAME];
    assay_partial partial = ASSAY_PARTIAL_NONE;
    assay_status status = ASSAY_OK;

    (void)g, (void)digest;
    if (s->open < 0) {
        s->made_folder = mkdir(s->folder, 0777) == 0;
        if (!s->made_folder && errno != EEXIST)
            return errno == ENOENT ? no_folder(s->folder, err)
                                   : assay_fail(err, ASSAY_ERR_IO, "%s: cannot create: %s",
                                                s->folder, strerror(errno));
        status = enter(s, err);
    }
    snprintf(path, sizeof path, "%s/%s", s->folder, file);
    if (!status)
        status = file_partial_file(path, &partial, err);
    if (!status)
        status = text_constant_write(partial.path, a->type, a->data, err);
    if (!status && access(path, F_OK) != 0)
        assay_buf_printf(&s->made, "\"%s\"", file);
    if (!status)
        status = assay_buf_status(&s->made, err);
    if (!status)
        return file_partial_move(&partial, path, err);
    if (partial.path[0])
        unlink(partial.path);
    file_partial_close(&partial);
    return status;
}

/* Whether a file of the folder is one of constants, or of a run that was killed writing one. */
static bool is_constant(const char *name)
{
    static const char partial[] = ".npy.partial"; /* -PID-N; older versions had no more */
    const size_t n = strlen(name);
    const char *end = strstr(name, ".npy");
    while (end && strstr(end + 1, ".npy"))
        end = strstr(end + 1, ".npy");
    return n > 10 && name[0] == 'c' && strspn(name + 1, "0123456789") >= 4 && end &&
           (strcmp(end, ".npy") == 0 || strncmp(end, partial, strlen(partial)) == 0);
}

/* Removes constants that the text does not name: all, or those of the list `of` alone. */
static void clean(const saver *s, const char *text, const char *of)
{
    char quoted[264];
    DIR *d = opendir(s->folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        snprintf(quoted, sizeof quoted, "\"%s\"", e->d_name);
        if (is_constant(e->d_name) && !strstr(text, quoted) && (!of || strstr(of, quoted)))
            unlinkat(s->open, e->d_name, 0);
    }
    if (d)
        closedir(d);
}

/* After a failure: what was made goes, unless the text that stands there names it. */
static void take_back(const saver *s, const char *path)
{
    unsigned char *text = NULL;
    size_t size;
    if (s->made.length > 0 && access(path, F_OK) != 0)
        clean(s, "", s->made.text);
    else if (s->made.length > 0 && !assay_slurp(path, &text, &size, NULL))
        clean(s, (const char *)text, s->made.text);
    free(text);
    if (s->made_folder)
        rmdir(s->folder); /* one that is not empty stays */
}

/* Removes PATH.d.partial, which a killed run of an older version left, unless it holds anything
 * but constants. */
static void clean_older(const char *folder)
{
    char older[4096 + 16];
    bool others = false;
    snprintf(older, sizeof older, "%s.partial", folder);
    DIR *d = opendir(older);
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));)
        others |=
            strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !is_constant(e->d_name);
    closedir(d);
    if (!others)
        file_remove_tree(older);
}

/* Constants, and everything else that waits, reach the disk before the text that names them. */
static assay_status flush(const saver *s, assay_error *err)
{
    if (s->open >= 0 && syncfs(s->open) != 0 && errno != EINVAL && errno != ENOSYS)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", s->folder, strerror(errno));
    return ASSAY_OK;
}

/* No folder belongs to a stream. */
static assay_status save_stream(const assay_graph *g, const char *path, assay_error *err)
{
    assay_buf text = {0};
    assay_status status = text_graph_print(g, NULL, &text, err);

    if (!status)
        status = file_write_file(path, text.text, text.length, err);
    assay_buf_free(&text);
    return status;
}

assay_status run_text_save(const assay_graph *g, const char *path, assay_error *err)
{
    if (file_is_stream(path))
        return save_stream(g, path, err);
    char folder[4096];
    saver s = {.folder = folder, .open = -1};
    const assay_text_options options = {
        .inline_limit = ASSAY_TEXT_INLINE, .named_by_digest = true, .put = put_array, .user = &s};
    assay_buf text = {0};
    assay_status status = constants_of(path, folder, err);

    if (!status && access(folder, F_OK) == 0)
        status = enter(&s, err);
    if (!status)
        status = text_graph_print_with(g, &options, &text, err);
    if (!status)
        status = flush(&s, err);
    if (!status)
        status = file_write_file(path, text.text, text.length, err);
    if (!status && s.open >= 0) {
        clean(&s, text.text, NULL);
        rmdir(folder); /* one that is not empty stays */
    }
    if (!status)
        clean_older(folder);
    else
        take_back(&s, path);
    if (s.open >= 0)
        close(s.open);
    assay_buf_free(&s.made);
    assay_buf_free(&text);
    return status;
}
