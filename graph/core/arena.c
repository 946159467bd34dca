/* Bump allocation over a list of chunks that double in size. */
#include "graph/core/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN       ((size_t)16)
#define FIRST_CHUNK ((size_t)4096)
#define LAST_CHUNK  ((size_t)1 << 20)

typedef struct chunk {
    struct chunk *next;
    size_t used, size; /* of the bytes behind the header */
} chunk;

/* The header's size, rounded so that the bytes behind it are aligned. */
#define HEADER ((sizeof(chunk) + ALIGN - 1) / ALIGN * ALIGN)

typedef struct owned {
    struct owned *next;
    void (*release)(void *p);
    void *p;
} owned;

struct assay_arena {
    chunk *head;
    owned *owned; /* the records are in the arena itself */
    size_t next_size;
};

assay_arena *assay_arena_new(void)
{
    assay_arena *a = calloc(1, sizeof *a);
    if (a)
        a->next_size = FIRST_CHUNK;
    return a;
}

void assay_arena_free(assay_arena *a)
{
    if (!a)
        return;
    for (owned *o = a->owned; o; o = o->next)
        o->release(o->p);
    for (chunk *c = a->head; c;) {
        chunk *next = c->next;
        free(c);
        c = next;
    }
    free(a);
}

void *assay_arena_alloc(assay_arena *a, size_t bytes)
{
    chunk *c = a->head;
    size_t need = bytes ? bytes : 1;
    void *p;

    if (need > SIZE_MAX / 2)
        return NULL;
    need = (need + ALIGN - 1) / ALIGN * ALIGN;
    if (!c || c->size - c->used < need) {
        bool own = need > a->next_size / 4; /* large blocks do not waste a chunk's rest */
        size_t size = own ? need : a->next_size;
        chunk *fresh = calloc(1, HEADER + size);
        if (!fresh)
            return NULL;
        fresh->size = size;
        if (own && c) { /* behind the head, which stays open for small blocks */
            fresh->next = c->next;
            c->next = fresh;
        } else {
            fresh->next = c;
            a->head = fresh;
        }
        if (!own && a->next_size < LAST_CHUNK)
            a->next_size *= 2;
        c = fresh;
    }
    assert(c->size - c->used >= need);
    p = (char *)c + HEADER + c->used;
    c->used += need;
    return p;
}

void *assay_arena_array(assay_arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return assay_arena_alloc(a, count * size);
}

void *assay_arena_copy(assay_arena *a, const void *from, size_t bytes)
{
    void *p = assay_arena_alloc(a, bytes);
    if (p && bytes)
        memcpy(p, from, bytes);
    return p;
}

char *assay_arena_string(assay_arena *a, const char *text)
{
    return assay_arena_copy(a, text, strlen(text) + 1);
}

assay_status assay_arena_own(assay_arena *a, void (*release)(void *p), void *p)
{
    owned *o = assay_arena_alloc(a, sizeof *o);
    if (!o)
        return ASSAY_ERR_MEMORY;
    *o = (owned){a->owned, release, p};
    a->owned = o;
    return ASSAY_OK;
}
