/* Files written beside their place and then moved there; see partial.h. */
#include "graph/files/partial.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/files/files.h"

static const char mark[] = ".partial-";

/* The folder that `path` is in. */
static void folder_of(const char *path, char folder[4096])
{
    const size_t n = (size_t)(file_base_name(path) - path);
    snprintf(folder, 4096, "%.*s", n > 0 ? (int)n : 1, n > 0 ? path : ".");
}

/* How much of a file's name stands in those of its partials, which may not be too long. */
static size_t kept_of(const char *base)
{
    return strnlen(base, 200);
}

/* ---- what killed runs left ---- */

/* The process that made partial `name` of `base`, or 0 when it is none. */
static long maker_of(const char *name, const char *base)
{
    const size_t n = kept_of(base);
    const char *digits = name + n + strlen(mark);
    char *end;
    if (strncmp(name, base, n) != 0 || strncmp(name + n, mark, strlen(mark)) != 0 ||
        *digits < '1' || *digits > '9')
        return 0;
    const long pid = strtol(digits, &end, 10);
    return end[*end == '-' ? 1 + strspn(end + 1, "0123456789") : 0] == 0 ? pid : 0;
}

/* Removes the partial if its writer is gone: its lock is free, and so is the number of its process
 * (or it is ours, as in containers where every run has the same). */
static void remove_if_left(const char *path, long pid, bool (*ours)(const char *))
{
    const int at = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (at < 0)
        return;
    if ((pid == getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH)) &&
        flock(at, LOCK_EX | LOCK_NB) == 0 && fstat(at, &st) == 0) {
        if (S_ISREG(st.st_mode) && !ours)
            unlink(path);
        else if (S_ISDIR(st.st_mode) && ours && ours(path))
            file_remove_tree(path);
    }
    close(at);
}

static void clean(const char *path, bool (*ours)(const char *))
{
    char folder[4096], left[4096 + 256];
    folder_of(path, folder);
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        const long pid = maker_of(e->d_name, file_base_name(path));
        if (pid == 0)
            continue;
        snprintf(left, sizeof left, "%s/%s", folder, e->d_name);
        remove_if_left(left, pid, ours);
    }
    if (d)
        closedir(d);
}

/* ---- making one ---- */

/* Opens and locks what was just made. False when a cleaner took it in between. A file system
 * without locks is no fault: its partials are then never seen to be left. */
static bool hold(assay_partial *p, int flags)
{
    struct stat named, held;
    if (p->lock < 0)
        p->lock = open(p->path, flags | O_NOFOLLOW | O_CLOEXEC);
    if (p->lock >= 0 && (flock(p->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
        fstat(p->lock, &held) == 0 && lstat(p->path, &named) == 0 && held.st_ino == named.st_ino)
        return true;
    if (p->lock >= 0)
        close(p->lock);
    p->lock = -1;
    return false;
}

static bool make(assay_partial *p, bool folder)
{
    p->lock = -1;
    if (folder)
        return mkdir(p->path, 0777) == 0;
    p->lock = open(p->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return p->lock >= 0;
}

static assay_status make_partial(const char *path, bool folder, assay_partial *out,
                                 assay_error *err)
{
    const char *base = file_base_name(path);
    const size_t kept = (size_t)(base - path) + kept_of(base);
    if (strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%.300s: nothing can be moved there; name the folder itself", path);
    for (int k = 0; k < 10000; k++) {
        if (kept >= sizeof out->path ||
            (size_t)snprintf(out->path, sizeof out->path, "%.*s%s%ld-%d", (int)kept, path, mark,
                             (long)getpid(), k) >= sizeof out->path) {
            out->path[0] = 0;
            return assay_fail(err, ASSAY_ERR_LIMIT, "%.300s: the path is too long", path);
        }
        if (make(out, folder)) {
            if (hold(out, O_RDONLY | (folder ? O_DIRECTORY : 0)))
                return ASSAY_OK;
        } else if (errno != EEXIST) {
            break;
        }
    }
    const int cause = errno;
    out->path[0] = 0;
    return file_no_place(path, folder ? "create" : "write", cause, err);
}

assay_status file_partial_file(const char *path, assay_partial *out, assay_error *err)
{
    *out = (assay_partial)ASSAY_PARTIAL_NONE;
    clean(path, NULL);
    return make_partial(path, false, out, err);
}

assay_status file_partial_folder(const char *path, bool (*ours)(const char *folder),
                                 assay_partial *out, assay_error *err)
{
    *out = (assay_partial)ASSAY_PARTIAL_NONE;
    clean(path, ours);
    return make_partial(path, true, out, err);
}

void file_partial_close(assay_partial *p)
{
    if (p->lock >= 0)
        close(p->lock);
    *p = (assay_partial)ASSAY_PARTIAL_NONE;
}

/* ---- moving it into place ---- */

/* 0, or the reason why what was written may not be on the disk. File systems that cannot be asked
 * say EINVAL. */
static int reach_disk(int result)
{
    return result != 0 && errno != EINVAL && errno != ENOSYS ? errno : 0;
}

/* The new name of what was moved to `path` is on the disk too. */
static int sync_name(const char *path)
{
    char folder[4096];
    folder_of(path, folder);
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int reason = at < 0 ? 0 : reach_disk(fsync(at)); /* a folder one may write but not list */
    if (at >= 0)
        close(at);
    return reason;
}

static assay_status place_file(assay_partial *p, const char *path, bool synced, assay_error *err)
{
    int reason = synced ? reach_disk(fsync(p->lock)) : 0;
    if (!reason && rename(p->path, path) != 0)
        reason = errno;
    if (reason)
        unlink(p->path);
    else if (synced)
        reason = sync_name(path);
    file_partial_close(p);
    return reason ? assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", path, strerror(reason))
                  : ASSAY_OK;
}

assay_status file_partial_file_place(assay_partial *p, const char *path, assay_error *err)
{
    return place_file(p, path, true, err);
}

assay_status file_partial_move(assay_partial *p, const char *path, assay_error *err)
{
    return place_file(p, path, false, err);
}

/* Exchanges two folders where the file system cannot do so in one step. */
static int exchange_in_steps(const char *a, const char *b)
{
    char aside[4096 + 8];
    snprintf(aside, sizeof aside, "%s.old", a);
    if (rename(b, aside) != 0)
        return -1;
    if (rename(a, b) != 0) {
        const int reason = errno;
        rename(aside, b);
        errno = reason;
        return -1;
    }
    return rename(aside, a);
}

static int exchange(const char *a, const char *b)
{
    if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS ? exchange_in_steps(a, b) : -1;
}

/* Only to where nothing stands. */
static int move(const char *from, const char *to)
{
    struct stat st;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (lstat(to, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

assay_status file_partial_folder_place(assay_partial *p, const char *path,
                                       assay_status (*replace)(const char *folder, void *user,
                                                               assay_error *err),
                                       void *user, assay_error *err)
{
    int reason = reach_disk(syncfs(p->lock));
    bool there = false;
    /* Another writer may put his in or take his out between two looks. */
    for (int tries = 0; !reason && tries < 100; tries++) {
        there = move(p->path, path) != 0;
        if (!there)
            break;
        if (errno != EEXIST) {
            reason = errno;
            break;
        }
        if (!replace)
            return assay_fail(err, ASSAY_ERR_IO, "%s: exists already", path);
        assay_status status = replace(path, user, err);
        if (status)
            return status;
        if (exchange(p->path, path) == 0)
            break;
        reason = errno == ENOENT ? 0 : errno;
    }
    if (reason)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot move into place: %s", path,
                          strerror(reason));
    if (!there)
        p->path[0] = 0;
    reason = sync_name(path);
    return reason ? assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(reason)) : ASSAY_OK;
}

/* ---- a new folder ---- */

assay_status file_new_folder(const char *dir, bool (*ours)(const char *folder), assay_partial *out,
                             assay_error *err)
{
    struct stat st;
    *out = (assay_partial)ASSAY_PARTIAL_NONE;
    if (lstat(dir, &st) == 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: exists already", dir);
    return file_partial_folder(dir, ours, out, err);
}

assay_status file_new_folder_end(assay_partial *p, const char *dir, assay_status status,
                                 assay_error *err)
{
    if (!status)
        status = file_partial_folder_place(p, dir, NULL, NULL, err);
    if (p->path[0])
        file_remove_tree(p->path);
    file_partial_close(p);
    return status;
}

/* A folder of nobody's: what killed runs left is the next writer's to know. */
static bool is_nobodys(const char *folder)
{
    (void)folder;
    return false;
}

assay_status file_check_new_folder(const char *dir, assay_error *err)
{
    assay_partial partial;
    const assay_status status = file_new_folder(dir, is_nobodys, &partial, err);
    if (partial.path[0])
        file_remove_tree(partial.path);
    file_partial_close(&partial);
    return status;
}
