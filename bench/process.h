/* A whole process: from fork to the exit that its parent sees. */
#ifndef ASSAY_BENCH_PROCESS_H
#define ASSAY_BENCH_PROCESS_H

#include "bench/report.h"

/* Adds a line and a result of form "process": the time of `command`, words between spaces, with its
 * output thrown away. */
void bench_process(bench_report *r, const char *name, const char *command);

#endif
