/* ONNX Runtime as a peer: questions to its process, and the answers. */
#include "bench/ort.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_ort {
    FILE *ask, *answer;
    pid_t child;
};

static void become_peer(const char *script, bool cpu, const int in[2], const int out[2])
{
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(out[i]);
    }
    execlp("node", "node", script, cpu ? "--cpu" : (char *)NULL, (char *)NULL);
    _exit(127);
}

/* The answer to the question just written. */
static double answer(bench_ort *o)
{
    char line[1024];
    fflush(o->ask);
    if (!fgets(line, sizeof line, o->answer)) {
        fprintf(stderr, "bench: ONNX Runtime does not answer\n");
        return -1;
    }
    if (strncmp(line, "error:", 6) == 0) {
        fprintf(stderr, "bench: ONNX Runtime: %s", line + 7);
        return -1;
    }
    return strtod(line, NULL);
}

/* Whether the package was found: anything else ends the process at once. */
static bool is_there(bench_ort *o)
{
    char line[16];
    fprintf(o->ask, "hello\n");
    fflush(o->ask);
    return fgets(line, sizeof line, o->answer) && strcmp(line, "0\n") == 0;
}

bench_ort *bench_ort_start(const char *script, bool cpu)
{
    int in[2], out[2];
    bench_ort *o = calloc(1, sizeof *o);
    if (!o || pipe(in) || pipe(out)) {
        free(o);
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN);
    o->child = fork();
    if (o->child == 0)
        become_peer(script, cpu, in, out);
    close(in[0]);
    close(out[1]);
    o->ask = fdopen(in[1], "w");
    o->answer = fdopen(out[0], "r");
    if (o->child < 0 || !o->ask || !o->answer || !is_there(o)) {
        fprintf(stderr, "bench: node or its package onnxruntime-node does not start\n");
        bench_ort_stop(o);
        return NULL;
    }
    return o;
}

void bench_ort_stop(bench_ort *o)
{
    if (!o)
        return;
    if (o->ask)
        fclose(o->ask);
    if (o->child > 0)
        waitpid(o->child, NULL, 0);
    if (o->answer)
        fclose(o->answer);
    free(o);
}

double bench_ort_open(bench_ort *o, int id, const char *model, int threads)
{
    fprintf(o->ask, "open %d %d %s\n", id, threads, model);
    return answer(o);
}

double bench_ort_time(bench_ort *o, int id, int runs)
{
    fprintf(o->ask, "run %d %d\n", id, runs);
    return answer(o);
}

void bench_ort_close(bench_ort *o, int id)
{
    fprintf(o->ask, "close %d\n", id);
    answer(o);
}
