/* ONNX Runtime as a peer: a node process (ort.js) that opens models and times runs of them when it
 * is told to. It stops spinning as soon as a run returns, so it takes nothing from what is timed
 * between. */
#ifndef ASSAY_BENCH_ORT_H
#define ASSAY_BENCH_ORT_H

#include <stdbool.h>

typedef struct bench_ort bench_ort;

/* Starts `node script`, cpu: to measure CPU time; NODE_PATH must lead to onnxruntime-node. NULL,
 * with a line on standard error, when that cannot be. */
bench_ort *bench_ort_start(const char *script, bool cpu);
void bench_ort_stop(bench_ort *o); /* NULL is allowed */

/* Opens a model as session `id`; ns that it took, or less than 0. Inputs are filled with fixed
 * bytes. */
double bench_ort_open(bench_ort *o, int id, const char *model, int threads);
/* ns of so many runs, or less than 0. */
double bench_ort_time(bench_ort *o, int id, int runs);
void bench_ort_close(bench_ort *o, int id);

#endif
