/* One of ONNX Runtime's sessions, ready to be timed. */
#ifndef ASSAY_BENCH_SESSION_H
#define ASSAY_BENCH_SESSION_H

#include "bench/ort.h"
#include "graph/core/graph.h"

typedef struct bench_session {
    bench_ort *ort;
    int id;
} bench_session;

/* Opens an exported copy of g; false after a message when ONNX Runtime refuses it. */
bool bench_session_export(bench_session *s, const assay_graph *g, int threads);

/* For bench_entrant.time: ns of so many runs of a bench_session. */
double bench_session_time(void *session, int calls);

#endif
