/* A model's only input, for the importers of models whose shapes depend on data. */
#ifndef ASSAY_TEST_SAMPLED_H
#define ASSAY_TEST_SAMPLED_H

#include "graph/core/sample.h"
#include "interp/run/evaluate.h"

typedef struct test_sampled {
    const void *x; /* the input at hand */
    int asked;
    bool used;
} test_sampled;

/* assay_sample.compute, of a test_sampled: counts how often it is asked. */
static inline assay_status test_sampled_compute(void *user, assay_graph *g, int value,
                                                const void **data, assay_error *err)
{
    test_sampled *sampled = user;
    void *out = assay_arena_alloc(g->arena, assay_type_bytes(&g->value[value].type) + 1);
    const assay_status s = assay_graph_set_outputs(g, &value, 1, err);
    sampled->asked++;
    *data = out;
    return s ? s : run_whole_graph(g, NULL, &sampled->x, &out, err);
}

static inline assay_sample test_sampled_of(test_sampled *s)
{
    return (assay_sample){test_sampled_compute, s, &s->used};
}

#endif
