/* Memory of the fast engine. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/fast/fast.h"

void *fast_alloc(size_t bytes)
{
    const size_t whole = (bytes + 64) / 64 * 64;
    void *p = bytes < SIZE_MAX - 64 ? aligned_alloc(64, whole) : NULL;
    if (p)
        memset(p, 0, whole);
    return p;
}

assay_status fast_memory(const assay_fast_setup *s, assay_error *err)
{
    return assay_out_of_memory_for(err, "node '%s' of the fast engine", s->node->name);
}
