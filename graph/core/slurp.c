/* Reading a whole file into memory. */
#include "graph/core/slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe without a writer or a device must not be waited for before it is seen to be one. */
enum { READING = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };

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

/* `irregular`: the status of what is no regular file. */
static assay_status slurp_open(int file, const char *path, assay_status irregular,
                               unsigned char **bytes, size_t *size, assay_error *err)
{
    struct stat st;
    if (fstat(file, &st) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return assay_fail(err, irregular, "%s: not a regular file", path);
    if (st.st_size > (off_t)1 << 40)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: larger than 2^40 bytes", path);
    unsigned char *b = malloc((size_t)st.st_size + 1);
    if (!b)
        return assay_fail(err, ASSAY_ERR_MEMORY, "%s: no memory for %lld bytes", path,
                          (long long)st.st_size);
    const ssize_t n = read_all(file, b, (size_t)st.st_size);
    if (n != st.st_size) {
        const int cause = errno;
        free(b);
        return n < 0 ? assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(cause))
                     : assay_fail(err, ASSAY_ERR_IO, "%s: read %zd of %lld bytes", path, n,
                                  (long long)st.st_size);
    }
    b[n] = 0;
    *bytes = b;
    *size = (size_t)n;
    return ASSAY_OK;
}

assay_status assay_slurp(const char *path, unsigned char **bytes, size_t *size, assay_error *err)
{
    *bytes = NULL;
    *size = 0;
    const int file = open(path, READING);
    if (file < 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    assay_status status = slurp_open(file, path, ASSAY_ERR_IO, bytes, size, err);
    close(file);
    return status;
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
    return openat(dir, part, last ? READING | O_NOFOLLOW : READING | O_NOFOLLOW | O_DIRECTORY);
}

static assay_status no_part(const char *shown, int cause, assay_error *err)
{
    switch (cause) {
    case EXDEV:
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: leaves the folder", shown);
    case ELOOP:
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: a symbolic link, which is not followed here",
                          shown);
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
    assay_status status = slurp_open(at, shown, ASSAY_ERR_INPUT, bytes, size, err);
    close(at);
    return status;
}
