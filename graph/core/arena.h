/* Bump allocation: everything that belongs to one owner, freed whole. */
#ifndef ASSAY_GRAPH_ARENA_H
#define ASSAY_GRAPH_ARENA_H

#include <stddef.h>

#include "graph/base.h"

typedef struct assay_arena assay_arena;

/* NULL when out of memory. */
assay_arena *assay_arena_new(void);
void assay_arena_free(assay_arena *a);

/* Zeroed bytes, 16-aligned; NULL when out of memory. Zero bytes give a valid pointer. */
void *assay_arena_alloc(assay_arena *a, size_t bytes);
/* count * size bytes, checked for overflow. */
void *assay_arena_array(assay_arena *a, size_t count, size_t size);
void *assay_arena_copy(assay_arena *a, const void *from, size_t bytes);
char *assay_arena_string(assay_arena *a, const char *text);

/* Gives something else to the owner: `release(p)` is called when the arena is freed, last owned
 * first. ASSAY_ERR_MEMORY: out of memory; the caller still owns p. */
assay_status assay_arena_own(assay_arena *a, void (*release)(void *p), void *p);

#endif
