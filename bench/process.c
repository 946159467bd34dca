/* A whole process: from fork to the exit that its parent sees. */
#include "bench/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 21, WORDS = 32 };

static void run(void *user)
{
    char **word = user;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child, word[0], &actions, NULL, word, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "bench: '%s %s ...' failed\n", word[0], word[1] ? word[1] : "");
        exit(2);
    }
    posix_spawn_file_actions_destroy(&actions);
}

void bench_process(bench_report *r, const char *name, const char *command)
{
    char *copy = strdup(command), *rest = copy, *word[WORDS + 1] = {NULL};
    for (int i = 0; copy && i < WORDS && (word[i] = strtok_r(rest, " ", &rest)); i++)
        ;
    if (word[0])
        bench_report_add(r, &(bench_result){.name = name,
                                            .form = "process",
                                            .engine = "assay",
                                            .images = 1,
                                            .threads = 1,
                                            .ns = bench_measure(run, word, RUNS)});
    free(copy);
}
