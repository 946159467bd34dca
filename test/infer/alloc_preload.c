/* An allocator for LD_PRELOAD of which one allocation fails, number ASSAY_ALLOC_FAILS; the number
 * of all is written to the file ASSAY_ALLOC_COUNT in the end. Counted from here on, where the
 * libraries have started (libgomp, libgfortran): what these say of a lack is theirs. */
#pragma GCC visibility push(default)
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static long count, chosen = -1;
/* What dlsym itself asks for before the others are known. */
static char early[4096];
static size_t used;

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);

static void begin(void)
{
    static bool begun;
    if (begun)
        return;
    begun = true;
    const char *text = getenv("ASSAY_ALLOC_FAILS");
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    chosen = text ? strtol(text, NULL, 10) : 0;
}

static bool started;
__attribute__((constructor)) static void start(void)
{
    started = true;
}

static bool fails(void)
{
    begin();
    if (!started || __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != chosen)
        return false;
    errno = ENOMEM;
    return true;
}

static void *take_early(size_t size)
{
    void *p = early + used;
    used += (size + 15) & ~(size_t)15;
    return used <= sizeof early ? p : NULL;
}

void *malloc(size_t size);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);

void *malloc(size_t size)
{
    const bool bad = fails();
    return bad ? NULL : next_malloc ? next_malloc(size) : take_early(size);
}

void *calloc(size_t n, size_t size)
{
    const bool bad = fails();
    return bad ? NULL : next_calloc ? next_calloc(n, size) : take_early(n * size);
}

void *realloc(void *p, size_t size)
{
    const bool bad = fails();
    return bad ? NULL : next_realloc ? next_realloc(p, size) : NULL;
}

void free(void *p)
{
    static void (*next)(void *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "free");
    if ((char *)p < early || (char *)p >= early + sizeof early)
        next(p);
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("ASSAY_ALLOC_COUNT");
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%ld\n", count);
    fclose(f);
}
