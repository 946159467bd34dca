/* Lack of memory: one status, one wording. */
#ifndef ASSAY_GRAPH_MEMORY_H
#define ASSAY_GRAPH_MEMORY_H

#include "graph/base.h"

/* "out of memory"; returns ASSAY_ERR_MEMORY. err may be NULL. */
assay_status assay_out_of_memory(assay_error *err);
/* The same for a file, a node or a buffer: "WHAT: out of memory". */
assay_status assay_out_of_memory_for(assay_error *err, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

#endif
