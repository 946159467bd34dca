/* Temporary folders; see temporary.h. */
#include "graph/files/temporary.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/files/files.h"

enum { SLOTS = 64, SIGNALS = 3 }; /* folders beyond these stay when a signal comes */
static const int ending[SIGNALS] = {SIGHUP, SIGINT, SIGTERM};

/* Read by the handler, which takes those of its own process: a child has its parent's slots and
 * handler, and must not end what the parent works with. */
static struct slot {
    char path[FILE_TEMPORARY];
    atomic_int owner, group; /* owner: 0 where the slot is free; written last */
} slots[SLOTS];
static atomic_flag busy = ATOMIC_FLAG_INIT; /* somebody writes slots */

static bool is_ours(const struct slot *s)
{
    return s->owner == getpid();
}

static void enter(void)
{
    while (atomic_flag_test_and_set(&busy))
        ;
}

static void leave(void)
{
    atomic_flag_clear(&busy);
}

/* In a handler: file_remove_tree allocates, and fork would wait for the lock of an allocation that
 * the signal met. */
static void remove_by_command(const char *path)
{
    const pid_t child = vfork();
    if (child == 0) {
        execl("/bin/rm", "rm", "-rf", "--", path, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void end_by(int number)
{
    for (int i = 0; i < SLOTS; i++) {
        if (!is_ours(&slots[i]))
            continue;
        if (slots[i].group > 0)
            kill(-slots[i].group, SIGKILL);
        remove_by_command(slots[i].path);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Puts one action in the place of another, where that stands. */
static void exchange(void (*from)(int), void (*to)(int))
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now, next = {.sa_handler = to};
        if (sigaction(ending[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == from)
            sigaction(ending[i], &next, NULL);
    }
}

static struct slot *find(const char *path)
{
    for (int i = 0; i < SLOTS; i++)
        if (is_ours(&slots[i]) && strcmp(slots[i].path, path) == 0)
            return &slots[i];
    return NULL;
}

static void keep(const char *path)
{
    enter();
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].owner == 0) {
            memcpy(slots[i].path, path, FILE_TEMPORARY);
            slots[i].group = 0;
            slots[i].owner = getpid();
            break;
        }
    exchange(SIG_DFL, end_by);
    leave();
}

static void drop(const char *path)
{
    enter();
    struct slot *s = find(path);
    if (s)
        s->owner = 0;
    bool any = false;
    for (int i = 0; i < SLOTS; i++)
        any |= is_ours(&slots[i]);
    if (!any)
        exchange(end_by, SIG_DFL);
    leave();
}

assay_status file_temporary_make(char path[FILE_TEMPORARY], assay_error *err)
{
    const char *tmp = getenv("TMPDIR");
    if (!tmp || *tmp != '/' || strlen(tmp) > 150 || strpbrk(tmp, " \t\n'\"\\$`;&|<>()*?[]#~!{}"))
        tmp = "/tmp";
    char made[FILE_TEMPORARY] = "";
    snprintf(made, sizeof made, "%.150s/assay-infer-XXXXXX", tmp);
    *path = '\0';
    if (!mkdtemp(made))
        return assay_fail(err, ASSAY_ERR_IO, "no temporary folder can be made in %s", tmp);
    memcpy(path, made, sizeof made);
    keep(path);
    return ASSAY_OK;
}

void file_temporary_serve(const char *path, pid_t group)
{
    enter();
    struct slot *s = find(path);
    if (s)
        s->group = group;
    leave();
}

void file_temporary_remove(char path[FILE_TEMPORARY])
{
    if (!*path)
        return;
    file_remove_tree(path);
    drop(path);
    *path = '\0';
}
