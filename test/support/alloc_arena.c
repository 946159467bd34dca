/* Allocations from an arena that fail, beside those of alloc_fails.c: an arena takes memory in
 * large blocks, whose failures alone would reach few of its callers. */
#include "graph/core/arena.h"
#include "test/support/alloc_fails.h"

void *__real_assay_arena_alloc(assay_arena *a, size_t bytes);
void *__real_assay_arena_array(assay_arena *a, size_t count, size_t size);
void *__real_assay_arena_copy(assay_arena *a, const void *from, size_t bytes);
char *__real_assay_arena_string(assay_arena *a, const char *text);
void *__wrap_assay_arena_alloc(assay_arena *a, size_t bytes);
void *__wrap_assay_arena_array(assay_arena *a, size_t count, size_t size);
void *__wrap_assay_arena_copy(assay_arena *a, const void *from, size_t bytes);
char *__wrap_assay_arena_string(assay_arena *a, const char *text);

void *__wrap_assay_arena_alloc(assay_arena *a, size_t bytes)
{
    return alloc_fails() ? NULL : __real_assay_arena_alloc(a, bytes);
}

void *__wrap_assay_arena_array(assay_arena *a, size_t count, size_t size)
{
    return alloc_fails() ? NULL : __real_assay_arena_array(a, count, size);
}

void *__wrap_assay_arena_copy(assay_arena *a, const void *from, size_t bytes)
{
    return alloc_fails() ? NULL : __real_assay_arena_copy(a, from, bytes);
}

char *__wrap_assay_arena_string(assay_arena *a, const char *text)
{
    return alloc_fails() ? NULL : __real_assay_arena_string(a, text);
}
