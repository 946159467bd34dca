/* Networks under records: a scheme of a record, and one run of a network under it. */
#ifndef ASSAY_TEST_RECORD_CASE_H
#define ASSAY_TEST_RECORD_CASE_H

#include "interp/run/program.h"
#include "schemes/record/data.h"

/* Whether a scheme may have the record. */
bool record_makes_sense(const assay_record *r);
/* A scheme whose record is r for every op and node, none of them in float; assay_scheme_free. */
assay_scheme *record_scheme(const assay_record *r);

/* What a run came to; record_end. */
typedef struct record_run {
    assay_status status;
    assay_error err;
    assay_program *program;
    assay_run *run;
} record_run;

/* g under s (which stays until record_end) on inputs drawn from that seed; isa NULL: the best. */
record_run record_compute(const assay_graph *g, const assay_scheme *s, enum assay_engine engine,
                          const char *isa, uint64_t inputs);
void record_end(record_run *r);

#endif
