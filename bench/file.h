/* Models from files. */
#ifndef ASSAY_BENCH_FILE_H
#define ASSAY_BENCH_FILE_H

#include "bench/ort.h"
#include "bench/report.h"

/* Adds a model's results to r: time to load and to prepare it, a run in 1 and 2 threads beside ONNX
 * Runtime (where ort is there and the file is ONNX) and the reference engine, a run with digests of
 * every tensor and with a full golden bundle beside one with neither. */
void bench_file(bench_report *r, bench_ort *ort, const char *path, const char *scheme);

#endif
