/* The sample that a model is imported for where shapes depend on computed values.
 *
 * A graph's shapes are known; a model may compute them: how many elements are set, or the numbers
 * of a Reshape. Such a model is imported for one sample: where a shape needs the elements of a
 * value that is not constant, the importer calls `compute` with the graph as it is by then (inputs
 * and nodes, no outputs), which gives them, allocated in the graph's arena. `used` then becomes
 * true: the graph holds for that sample, and for others only as far as they lead to the same
 * shapes. Without `compute` such operators are not supported. */
#ifndef ASSAY_GRAPH_SAMPLE_H
#define ASSAY_GRAPH_SAMPLE_H

#include "graph/core/graph.h"

typedef struct assay_sample {
    assay_status (*compute)(void *user, assay_graph *g, int value, const void **data,
                            assay_error *err);
    void *user;
    bool *used;
} assay_sample;

#endif
