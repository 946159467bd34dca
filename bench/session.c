/* One of ONNX Runtime's sessions, ready to be timed. */
#include "bench/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/ours.h"
#include "graph/onnx/export.h"

bool bench_session_export(bench_session *s, const assay_graph *g, int threads)
{
    char path[] = "/tmp/assay-bench-XXXXXX";
    unsigned char *bytes;
    size_t length;
    assay_error err;
    bench_check(onnx_export_graph(g, &bytes, &length, &err), &err);
    const int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool ok = f && fwrite(bytes, 1, length, f) == length;
    ok = f && fclose(f) == 0 && ok;
    ok = ok && bench_ort_open(s->ort, s->id, path, threads) >= 0;
    unlink(path);
    free(bytes);
    return ok;
}

double bench_session_time(void *session, int calls)
{
    const bench_session *s = session;
    return bench_ort_time(s->ort, s->id, calls);
}
