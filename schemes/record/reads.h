/* Fields of a record that its arithmetic reads (reads.def). */
#ifndef ASSAY_SCHEMES_READS_H
#define ASSAY_SCHEMES_READS_H

#include "schemes/record/record.h"

/* Why field f is not read under record r: the condition that is not met, in words; NULL when it is
 * read. */
const char *assay_reads_not(const assay_record *r, const assay_field *f);
/* Gives every field that is not read its default. */
void assay_reads_normalize(assay_record *r);

#endif
