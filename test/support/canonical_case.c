/* A network and its canonical form, compared; see canonical_case.h. */
#include "test/support/canonical_case.h"

#include <math.h>
#include <stdlib.h>

#include "interp/run/evaluate.h"
#include "opt/lower/opt.h"
#include "test/support/net.h"

assay_graph *canonical_case(assay_graph *g, test_rng *rng)
{
    assay_graph *c, *run;
    assay_error err;
    float *x[4];
    assert_ok(assay_graph_verify(g, &err), &err);
    assert_ok(assay_graph_clone(g, &c, &err), &err);
    assert_ok(lower_canonicalize(c, run_evaluate_node, &err), &err);
    assert_ok(assay_graph_clone(c, &run, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        x[i] = net_random_input(rng, g, i);
    net_run(g, (const float *const *)x);
    net_run(run, (const float *const *)x);
    for (int i = 0; i < g->n_outputs; i++)
        assert_string_equal(g->value[g->output[i]].name, c->value[c->output[i]].name);
    for (int v = 0; v < run->n_values; v++) {
        int twin = assay_graph_find_value(g, run->value[v].name);
        if (twin < 0 || run->value[v].producer < 0)
            continue;
        const float *a = g->value[twin].data, *b = run->value[v].data;
        for (int64_t i = 0; i < assay_shape_count(&run->value[v].type); i++)
            if (fabsf(a[i] - b[i]) > 1e-5f + 1e-4f * fabsf(a[i]))
                fail_msg("value '%s' element %lld: %g became %g", run->value[v].name, (long long)i,
                         (double)a[i], (double)b[i]);
    }
    for (int i = 0; i < g->n_inputs; i++)
        free(x[i]);
    assay_graph_free(run);
    return c;
}
