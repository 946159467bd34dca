/* Networks under records; see record_case.h. */
#include "test/support/record_case.h"

#include <string.h>

#include "test/support/random_layers.h"

bool record_makes_sense(const assay_record *r)
{
    char why[256];
    return assay_record_check(r, why, sizeof why);
}

assay_scheme *record_scheme(const assay_record *r)
{
    static const char text[] = "scheme: drawn\n"; /* has no op in float */
    static assay_scheme *like;                    /* read once, kept to the end */
    assay_scheme *s;
    assay_error err;
    if (!like)
        assert_ok(assay_scheme_parse("drawn", text, strlen(text), &like, &err), &err);
    assert_ok(assay_scheme_of_record(like, r, NULL, &s, &err), &err);
    return s;
}

record_run record_compute(const assay_graph *g, const assay_scheme *s, enum assay_engine engine,
                          const char *isa, uint64_t inputs)
{
    const assay_program_options o = {.keep_all = true, .engine = engine, .isa = isa, .threads = 1};
    record_run e = {.status = ASSAY_OK};
    test_rng r = {inputs};
    e.status = run_program_make_with(g, s, &o, &e.program, &e.err);
    if (!e.status)
        e.status = assay_run_new(e.program, &e.run, &e.err);
    for (int i = 0; i < g->n_inputs && e.run; i++) {
        void *data = assay_run_data(e.run, g->input[i]);
        if (data)
            test_random_data(&r, TEST_DATA_ANY, &g->value[g->input[i]].type, data);
    }
    if (!e.status)
        e.status = run_execute(e.run, NULL, false, NULL, &e.err);
    return e;
}

void record_end(record_run *r)
{
    assay_run_free(r->run);
    assay_program_free(r->program);
}
