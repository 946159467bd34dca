/* Error messages that name a place in a scheme file. */
#include "graph/memory.h"
#include "schemes/read/read.h"

assay_status assay_read_fail(const assay_reading *c, const assay_tree *t, const char *what)
{
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%s:%u:%u: %s", c->file, t->line, t->column, what);
}

assay_status assay_read_no_memory(const assay_reading *c)
{
    return assay_out_of_memory_for(c->err, "%s", c->file);
}

assay_status assay_read_unknown_key(const assay_reading *c, const assay_tree *t, const char *where,
                                    const assay_guess *g)
{
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%s:%u:%u: unknown key \"%s\" in %s; nearest: %s",
                      c->file, t->line, t->column, t->key, where, g->best);
}
