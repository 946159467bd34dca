/* Temporary folders: gone with the process that a signal ends, and not with a child of it. */
#include "test/support/support.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/files/temporary.h"

static const int ending[] = {SIGHUP, SIGINT, SIGTERM};

static bool stands(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* A folder with a file in it. */
static void make(char path[FILE_TEMPORARY])
{
    char file[FILE_TEMPORARY + 8];
    assay_error err = {0};
    assert_ok(file_temporary_make(path, &err), &err);
    snprintf(file, sizeof file, "%s/file", path);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fclose(f);
}

static void default_actions(void)
{
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        signal(ending[i], SIG_DFL);
}

/* Whether it was this signal that ended the child. */
static bool ended_by(pid_t child, int number)
{
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFSIGNALED(how) && WTERMSIG(how) == number;
}

/* Makes a folder, says where, and is ended by the signal. */
static _Noreturn void work_until(int number, int says, pid_t group)
{
    char path[FILE_TEMPORARY];
    make(path);
    file_temporary_serve(path, group);
    if (write(says, path, sizeof path) == sizeof path)
        raise(number);
    _exit(1);
}

static void ended(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        char path[FILE_TEMPORARY];
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        default_actions();
        const pid_t served = fork();
        if (served == 0)
            for (;;)
                pause();
        setpgid(served, served);
        const pid_t child = fork();
        if (child == 0)
            work_until(ending[i], pipes[1], served);
        assert_int_equal(read(pipes[0], path, sizeof path), sizeof path);
        assert_true(ended_by(child, ending[i]));
        assert_false(stands(path));
        assert_true(ended_by(served, SIGKILL));
        close(pipes[0]);
        close(pipes[1]);
    }
}

/* As a pool of workers ends its own. */
static void child_is_ended(void **state)
{
    char path[FILE_TEMPORARY];
    (void)state;
    default_actions();
    make(path);
    const pid_t child = fork();
    if (child == 0) {
        raise(SIGTERM);
        _exit(1);
    }
    assert_true(ended_by(child, SIGTERM));
    assert_true(stands(path));
    file_temporary_remove(path);
    assert_string_equal(path, "");
}

static void handle(int number)
{
    (void)number;
}

static bool handles(int number, void (*handler)(int))
{
    struct sigaction now;
    return sigaction(number, NULL, &now) == 0 && now.sa_handler == handler;
}

/* Of a program that handles or ignores signals; those of others are as before when all are gone. */
static void handlers(void **state)
{
    char path[2][FILE_TEMPORARY];
    (void)state;
    signal(SIGINT, handle);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    make(path[0]);
    make(path[1]);
    assert_true(handles(SIGINT, handle) && handles(SIGHUP, SIG_IGN));
    file_temporary_remove(path[1]);
    assert_false(handles(SIGTERM, SIG_DFL));
    assert_true(stands(path[0]));
    file_temporary_remove(path[0]);
    assert_true(handles(SIGINT, handle) && handles(SIGHUP, SIG_IGN) && handles(SIGTERM, SIG_DFL));
    default_actions();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ended), cmocka_unit_test(child_is_ended),
                                       cmocka_unit_test(handlers)};
    return cmocka_run_group_tests_name("temporary", tests, NULL, NULL);
}
