/* Data made up where a model's shapes depend on it (assay_sample.compute). */
#ifndef ASSAY_TEST_FUZZ_MADE_UP_H
#define ASSAY_TEST_FUZZ_MADE_UP_H

#include "graph/core/sample.h"
#include "graph/memory.h"

static assay_status make_up(void *user, assay_graph *g, int value, const void **data,
                            assay_error *err)
{
    const size_t bytes = assay_type_bytes(&g->value[value].type);
    unsigned char *made;

    (void)user;
    if (bytes > 1 << 20) /* as a run of the network would find, for want of such an input */
        return assay_fail(err, ASSAY_ERR_LIMIT, "%zu bytes", bytes);
    made = assay_arena_alloc(g->arena, bytes + 1);
    if (!made)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < bytes; i += 4) /* small numbers, some of them -1 */
        made[i] = (unsigned char)(i % 12 == 8 ? 255 : i / 4 % 3);
    *data = made;
    return ASSAY_OK;
}

#endif
