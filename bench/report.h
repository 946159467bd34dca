/* Findings of a benchmark, as lines and as JSON (bench/compare reads it). */
#ifndef ASSAY_BENCH_REPORT_H
#define ASSAY_BENCH_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/contest.h"

typedef struct bench_report {
    FILE *json;   /* NULL: lines alone */
    bool another; /* a result has been written */
    double peak;  /* multiply-accumulates a second of one thread; 0: unknown */
} bench_report;

typedef struct bench_result {
    const char *name, *form, *engine; /* "resnet50", "u8 nchw", "assay" or "onnxruntime" */
    int64_t images, macs;             /* of one run */
    int threads;
    bench_times ns;    /* of one run */
    double ratio, ref; /* times as fast as ONNX Runtime (U8S8), as our reference; 0: unknown */
    double load_ns, prepare_ns; /* 0: not measured */
    int64_t peak_bytes;         /* likewise */
    /* Times a run that looks at no tensor, 0: not measured. digests: with those of every tensor;
     * dump: with all of them written. And times writing the same bytes plainly: what a dump adds to
     * a run, to as many files, to one. */
    double digests, dump, dump_by_files, dump_by_one_file;
} bench_result;

/* Measures the peak and writes the head; json may be NULL. */
bench_report bench_report_begin(FILE *json);
void bench_report_add(bench_report *r, const bench_result *b);
void bench_report_end(bench_report *r);

#endif
