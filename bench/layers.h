/* Layers of networks for benchmarks: built in memory with random weights, integer from the start,
 * under made-up parameters that keep codes spread over their range. */
#ifndef ASSAY_BENCH_LAYERS_H
#define ASSAY_BENCH_LAYERS_H

#include "bench/nets.h"

/* A graph under construction; the first failure sticks, and what follows does nothing. */
typedef struct bench_builder {
    const bench_form *form;
    assay_graph *graph;
    assay_status status;
    assay_error *err;
    int nodes;
    uint64_t seed;
} bench_builder;

/* Each of these returns the value that it appends. */

/* The network's input: an image, or `rows` rows of `depth` codes. */
int bench_start(bench_builder *b, const char *name, int64_t c, int64_t h, int64_t w);
int bench_start_rows(bench_builder *b, const char *name, int64_t rows, int64_t depth);
/* Padding keeps the extent (divided by the stride). depthwise: o is the input's channels. */
int bench_conv(bench_builder *b, int x, int64_t o, int64_t kernel_h, int64_t kernel_w,
               int64_t stride, bool depthwise, bool relu);
int bench_max_pool(bench_builder *b, int x, int64_t kernel, int64_t stride);
int bench_sum(bench_builder *b, int x, int y, bool relu);
int bench_fc(bench_builder *b, int x, int64_t outputs, bool relu);
/* Global average pool and fc. */
int bench_classify(bench_builder *b, int x, int64_t outputs);

/* Makes y the network's output and hands the graph over, or NULL after a failure (b->status). */
void bench_finish(bench_builder *b, int y, assay_graph **out);

#endif
