/* Costs of digests and of full bundles, added to a run. */
#ifndef ASSAY_BENCH_GOLDEN_H
#define ASSAY_BENCH_GOLDEN_H

#include "bench/report.h"
#include "graph/core/graph.h"

/* Fills in digests, dump, dump_by_files and dump_by_one_file, all measured in turns in one thread;
 * files go to /tmp. */
void bench_golden(const assay_graph *g, const char *scheme, bench_result *b);

#endif
