/* Networks in text under a record in text, made into a program under any engine; for the tests of
 * what a scheme refuses. */
#ifndef ASSAY_TEST_INTERP_REFUSED_H
#define ASSAY_TEST_INTERP_REFUSED_H

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"

static const enum assay_engine engines[] = {ASSAY_ENGINE_REF, ASSAY_ENGINE_FAST, ASSAY_ENGINE_BOTH};

typedef struct made {
    assay_scheme *s;
    assay_graph *g;
    assay_program *p;
} made;

static inline assay_status make(const char *net, const char *record, enum assay_engine engine,
                                made *m, assay_error *err)
{
    const assay_program_options o = {.engine = engine};
    char text[300];
    snprintf(text, sizeof text, "scheme: t\n%s\n", record);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &m->s, err), err);
    assert_ok(text_graph_parse(net, strlen(net), "t", NULL, &m->g, err), err);
    m->p = NULL;
    return run_program_make_with(m->g, m->s, &o, &m->p, err);
}

static inline void unmake(made *m)
{
    assay_program_free(m->p);
    assay_graph_free(m->g);
    assay_scheme_free(m->s);
}

#endif
