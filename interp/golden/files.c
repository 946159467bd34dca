/* Files and folders: whole or absent. */
#include "interp/golden/files.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    remove(path);
    return 0;
}

const char *assay_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void assay_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

assay_status assay_replace_tree(const char *from, const char *to, bool replace, assay_error *err)
{
    char old[4096];
    struct stat st;
    bool moved = false;

    if ((size_t)snprintf(old, sizeof old, "%s.old-%ld", to, (long)getpid()) >= sizeof old)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: the path is too long", to);
    if (lstat(to, &st) == 0) {
        if (!replace)
            return assay_fail(err, ASSAY_ERR_IO, "%s: exists already", to);
        if (rename(to, old) != 0)
            return assay_fail(err, ASSAY_ERR_IO, "%s: cannot replace: %s", to, strerror(errno));
        moved = true;
    }
    if (rename(from, to) != 0) {
        const int reason = errno;
        if (moved)
            rename(old, to);
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot move into place: %s", to,
                          strerror(reason));
    }
    if (moved)
        assay_remove_tree(old);
    return ASSAY_OK;
}

assay_status assay_write_file(const char *path, const void *data, size_t size, assay_error *err)
{
    char temporary[4096];
    FILE *f;
    int reason = 0;

    if (strcmp(path, "-") == 0) {
        if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
            return assay_fail(err, ASSAY_ERR_IO, "standard output: %s", strerror(errno));
        return ASSAY_OK;
    }
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.partial-%ld", path, (long)getpid()) >=
        sizeof temporary)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: the path is too long", path);
    f = fopen(temporary, "wb");
    if (!f)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    if (fwrite(data, 1, size, f) != size)
        reason = errno;
    if (fclose(f) != 0 && !reason)
        reason = errno;
    if (!reason && rename(temporary, path) != 0)
        reason = errno;
    if (reason) {
        remove(temporary);
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", path, strerror(reason));
    }
    return ASSAY_OK;
}

assay_status assay_json_write(const char *path, const json_t *json, assay_error *err)
{
    char *text = json_dumps(json, ASSAY_JSON_FORMAT);
    assay_status status;

    if (!text)
        return assay_fail(err, ASSAY_ERR_MEMORY, "%s: out of memory for JSON", path);
    status = assay_write_file(path, text, strlen(text), err);
    free(text);
    return status;
}
