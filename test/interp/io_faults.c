/* Faults of files, for LD_PRELOAD: the n-th call that changes files, of all that a program makes,
 * fails or is its last.
 *
 *   ASSAY_FAULT=n:5     call n fails with errno 5
 *   ASSAY_FAULT=n:kill  the process is killed instead of call n
 *
 * With ASSAY_FAULT_READ set, reads and opens of files count instead. A failing write of more than a
 * byte first takes one, as a full disk does. */
#pragma GCC visibility push(default)
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static long calls;

/* Whether this call fails, with errno set. */
static bool fails(bool reading)
{
    const char *fault = getenv("ASSAY_FAULT");
    char *rest;
    if (!fault || reading != (getenv("ASSAY_FAULT_READ") != NULL) ||
        __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != strtol(fault, &rest, 10))
        return false;
    if (strcmp(rest, ":kill") == 0)
        raise(SIGKILL);
    errno = (int)strtol(rest + 1, NULL, 10);
    return true;
}

/* The function behind this one. */
static void next(const char *name, void *to)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(to, &found, sizeof found);
}

ssize_t write(int file, const void *data, size_t size)
{
    ssize_t (*real)(int, const void *, size_t);
    next("write", &real);
    if (file <= STDERR_FILENO || !fails(false))
        return real(file, data, size);
    const int cause = errno;
    if (size > 1 && real(file, data, 1) != 1)
        return -1;
    errno = cause;
    return -1;
}

ssize_t writev(int file, const struct iovec *part, int n)
{
    ssize_t (*real)(int, const struct iovec *, int);
    next("writev", &real);
    return fails(false) ? -1 : real(file, part, n);
}

ssize_t read(int file, void *data, size_t size)
{
    ssize_t (*real)(int, void *, size_t);
    next("read", &real);
    return fails(true) ? -1 : real(file, data, size);
}

#define PATH_CALL(name, parameters, arguments)                                                     \
    int name parameters                                                                            \
    {                                                                                              \
        int(*real) parameters;                                                                     \
        next(#name, &real);                                                                        \
        return fails(false) ? -1 : real arguments;                                                 \
    }
PATH_CALL(fsync, (int file), (file))
PATH_CALL(syncfs, (int file), (file))
PATH_CALL(rename, (const char *from, const char *to), (from, to))
PATH_CALL(renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
          (a, from, b, to, flags))
PATH_CALL(mkdir, (const char *path, mode_t mode), (path, mode))
PATH_CALL(unlink, (const char *path), (path))
PATH_CALL(unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
PATH_CALL(remove, (const char *path), (path))

int open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...);
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    next("open", &real);
    return fails((flags & O_ACCMODE) == O_RDONLY) ? -1 : real(path, flags, mode);
}
