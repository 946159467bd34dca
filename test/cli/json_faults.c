/* Lack of memory inside of jansson, for LD_PRELOAD: its allocation number ASSAY_JSON_FAULT, of all
 * that a program makes, finds no memory. With ASSAY_JSON_COUNT, a file, how many there were is
 * written there at the end. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static long calls, fault;

static void *allocate(size_t size)
{
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != fault)
        return malloc(size);
    errno = ENOMEM; /* as malloc does */
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    const char *n = getenv("ASSAY_JSON_FAULT");
    fault = n ? strtol(n, NULL, 10) : 0;
    json_set_alloc_funcs(allocate, free);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("ASSAY_JSON_COUNT");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%ld\n", calls);
    fclose(f);
}
