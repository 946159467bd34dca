/* Arrays that grow, and lack of memory: one status, one wording. */
#ifndef ASSAY_GRAPH_MEMORY_H
#define ASSAY_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/base.h"

/* Room for `need` elements of `size` bytes in an array of *room of them, with as much again to
 * spare where it grows. `array` is the address of its pointer (NULL: none yet). false: out of
 * memory, and the array is as it was. */
bool assay_make_room(void *array, size_t *room, size_t need, size_t size);

/* "out of memory"; returns ASSAY_ERR_MEMORY. err may be NULL. */
assay_status assay_out_of_memory(assay_error *err);
/* The same for a file, a node or a buffer: "WHAT: out of memory". */
assay_status assay_out_of_memory_for(assay_error *err, const char *what, ...)
    __attribute__((format(printf, 2, 3)));

#endif
