/* Opening and reading files whole. */
#include "graph/core/slurp.h"
#include "graph/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe without a writer or a device must not be waited for before it is seen to be one. */
enum { READING = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };
#define MAX ((size_t)1 << 40)

/* Bytes of an open file; how many were read, or -1. */
static ssize_t read_all(int file, unsigned char *to, size_t size)
{
    size_t n = 0;
    while (n < size) {
        ssize_t got = read(file, to + n, size - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : (ssize_t)n;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

assay_status assay_read_whole(int file, const char *path, void *to, size_t size, assay_error *err)
{
    const ssize_t n = read_all(file, to, size);
    if (n < 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    return (size_t)n == size
               ? ASSAY_OK
               : assay_fail(err, ASSAY_ERR_IO, "%s: read %zd of %zu bytes", path, n, size);
}

/* Whether an open file is a regular one, and its size; `irregular`: the status of what is none. */
static assay_status look(int file, const char *path, assay_status irregular, size_t *size,
                         assay_error *err)
{
    struct stat st;
    if (fstat(file, &st) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return assay_fail(err, irregular, "%s: %snot a regular file", path,
                          S_ISDIR(st.st_mode) ? "is a folder, " : "");
    *size = (size_t)st.st_size;
    return ASSAY_OK;
}

assay_status assay_open_regular(const char *path, int *file, size_t *size, assay_error *err)
{
    *file = open(path, READING);
    if (*file < 0 && errno == ENXIO) /* a socket, or a device that is not there */
        return assay_fail(err, ASSAY_ERR_IO, "%s: not a regular file", path);
    if (*file < 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    assay_status status = look(*file, path, ASSAY_ERR_IO, size, err);
    if (status) {
        close(*file);
        *file = -1;
    }
    return status;
}

/* All `size` bytes of an open file, and a zero behind them. */
static assay_status slurp_open(int file, const char *path, size_t size, size_t max,
                               unsigned char **bytes, assay_error *err)
{
    if (size > max)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: larger than %zu bytes", path, max);
    unsigned char *b = malloc(size + 1);
    if (!b)
        return assay_out_of_memory_for(err, "%s: %zu bytes", path, size);
    assay_status status = assay_read_whole(file, path, b, size, err);
    if (status) {
        free(b);
        return status;
    }
    b[size] = 0;
    *bytes = b;
    return ASSAY_OK;
}

assay_status assay_slurp_max(const char *path, size_t max, unsigned char **bytes, size_t *size,
                             assay_error *err)
{
    int file;
    *bytes = NULL;
    *size = 0;
    assay_status status = assay_open_regular(path, &file, size, err);
    if (status)
        return status;
    status = slurp_open(file, path, *size, max, bytes, err);
    close(file);
    if (status)
        *size = 0;
    return status;
}

assay_status assay_slurp(const char *path, unsigned char **bytes, size_t *size, assay_error *err)
{
    return assay_slurp_max(path, MAX, bytes, size, err);
}

/* Opens the next part of a path below `dir`; *path moves behind it. -1 with errno; EXDEV: the part
 * would lead elsewhere. */
static int open_part(int dir, const char **path)
{
    char part[256];
    const size_t n = strcspn(*path, "/");
    const bool last = (*path)[n] == 0;
    if (n == 0 || n >= sizeof part) {
        errno = n == 0 ? EXDEV : ENAMETOOLONG;
        return -1;
    }
    memcpy(part, *path, n);
    part[n] = 0;
    if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0) {
        errno = EXDEV;
        return -1;
    }
    *path += last ? n : n + 1;
    const int file =
        openat(dir, part, last ? READING | O_NOFOLLOW : READING | O_NOFOLLOW | O_DIRECTORY);
    struct stat st;
    if (file < 0 && errno == ENOTDIR && fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0)
        errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
    return file;
}

static assay_status no_part(const char *shown, int cause, assay_error *err)
{
    switch (cause) {
    case EXDEV:
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: lies outside the folder", shown);
    case ELOOP:
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: a part of it is a symbolic link, which is not followed here", shown);
    case ENXIO: /* a socket, or a device that is not there */
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: not a regular file", shown);
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: %s", shown, strerror(cause));
    default:
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", shown, strerror(cause));
    }
}

assay_status assay_slurp_inside(int dir, const char *name, const char *path, unsigned char **bytes,
                                size_t *size, assay_error *err)
{
    char shown[600];
    const char *rest = path;
    int at = dir;

    *bytes = NULL;
    *size = 0;
    snprintf(shown, sizeof shown, "%.300s/%.280s", name, path);
    do {
        const int next = open_part(at, &rest), cause = errno;
        if (at != dir)
            close(at);
        if (next < 0)
            return no_part(shown, cause, err);
        at = next;
    } while (*rest);
    assay_status status = look(at, shown, ASSAY_ERR_INPUT, size, err);
    if (!status)
        status = slurp_open(at, shown, *size, MAX, bytes, err);
    close(at);
    if (status)
        *size = 0;
    return status;
}
