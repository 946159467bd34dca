/* Files and folders: whole or absent. */
#include "graph/files/files.h"
#include "graph/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/files/memory.h"
#include "graph/files/partial.h"

/* All bytes, or the reason why not. */
static int put_all(int file, const void *data, size_t size)
{
    const char *from = data;
    while (size > 0) {
        const ssize_t n = write(file, from, size);
        if (n < 0 && errno != EINTR)
            return errno;
        from += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

assay_status file_bytes_write(const char *path, const void *data, size_t size, assay_error *err)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int reason = file < 0 ? errno : put_all(file, data, size);

    if (file >= 0 && close(file) != 0 && !reason)
        reason = errno;
    return reason ? assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", path, strerror(reason))
                  : ASSAY_OK;
}

bool file_is_stream(const char *path)
{
    struct stat st;
    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/* A device or a pipe takes bytes as they come: it must not be moved away. */
static assay_status write_through(const char *path, const void *data, size_t size, assay_error *err)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    int reason = file < 0 ? errno : put_all(file, data, size);

    if (file >= 0 && close(file) != 0 && !reason)
        reason = errno;
    return reason ? assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", path, strerror(reason))
                  : ASSAY_OK;
}

static assay_status write_whole(const char *path, const void *data, size_t size, assay_error *err)
{
    assay_partial partial;
    struct stat st;
    assay_status status = file_partial_file(path, &partial, err);
    int reason;

    if (status)
        return status;
    reason = put_all(partial.lock, data, size);
    if (!reason && stat(path, &st) == 0 && fchmod(partial.lock, st.st_mode & 0777) != 0)
        reason = errno;
    if (!reason)
        return file_partial_file_place(&partial, path, err);
    unlink(partial.path);
    file_partial_close(&partial);
    return assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", path, strerror(reason));
}

/* Puts what the link `path` names, be it there or not, in its place. */
static int follow(char path[4096])
{
    char named[4096], joined[2 * 4096];
    const ssize_t n = readlink(path, named, sizeof named);
    if (n < 0)
        return errno;
    const int folder = named[0] == '/' ? 0 : (int)(file_base_name(path) - path);
    if (n == sizeof named ||
        snprintf(joined, sizeof joined, "%.*s%.*s", folder, path, (int)n, named) >= 4096)
        return ENAMETOOLONG;
    memcpy(path, joined, strlen(joined) + 1);
    return 0;
}

assay_status file_link_end(const char *path, char end[4096], assay_error *err)
{
    enum { LINKS = 40 };
    struct stat st;
    int reason = snprintf(end, 4096, "%s", path) < 4096 ? 0 : ENAMETOOLONG;

    for (int i = 0; !reason && lstat(end, &st) == 0 && S_ISLNK(st.st_mode); i++)
        reason = i < LINKS ? follow(end) : ELOOP;
    return reason ? assay_fail(err, ASSAY_ERR_IO, "%.300s: %s", path, strerror(reason)) : ASSAY_OK;
}

static assay_status is_folder(const char *path, assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_IO, "%s: is a folder", path);
}

assay_status file_check_place(const char *path, assay_error *err)
{
    char end[4096];
    struct stat st;
    assay_partial partial;

    if (file_is_stream(path))
        return ASSAY_OK;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return is_folder(path, err);
    assay_status status = file_link_end(path, end, err);
    if (!status)
        status = file_partial_file(end, &partial, err);
    if (status)
        return status;
    unlink(partial.path);
    file_partial_close(&partial);
    return ASSAY_OK;
}

assay_status file_write_file(const char *path, const void *data, size_t size, assay_error *err)
{
    char end[4096];
    struct stat st;
    assay_status status;

    if (strcmp(path, "-") == 0) {
        if (fwrite(data, 1, size, stdout) != size || fflush(stdout) != 0)
            return assay_fail(err, ASSAY_ERR_IO, "standard output: %s", strerror(errno));
        return ASSAY_OK;
    }
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? is_folder(path, err) : write_through(path, data, size, err);
    status = file_link_end(path, end, err);
    return !status ? write_whole(end, data, size, err) : status;
}

assay_status file_print(const char *path, void (*print)(FILE *f, const void *what),
                        const void *what, assay_error *err)
{
    file_memory text = {0};
    FILE *f = file_memory_open(&text);
    assay_status status;

    if (f)
        print(f, what);
    if (file_memory_close(f))
        status = file_write_file(path, text.text, text.length, err);
    else
        status = assay_out_of_memory_for(err, "%s", path);
    free(text.text);
    return status;
}
