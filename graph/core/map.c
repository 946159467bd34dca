/* Mapping files. */
#include "graph/core/map.h"
#include "graph/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graph/core/slurp.h"

void assay_unmap(void *p)
{
    assay_map *map = p;
    if (map)
        munmap((void *)(uintptr_t)map->bytes, map->size);
    free(map);
}

assay_status assay_map_file(const char *path, assay_map **out, assay_error *err)
{
    int fd;
    size_t size;
    assay_map *map;
    assay_status s = assay_open_regular(path, &fd, &size, err);

    *out = NULL;
    if (s)
        return s;
    map = malloc(sizeof *map);
    if (!map)
        s = assay_out_of_memory(err);
    else if (size == 0)
        s = assay_fail(err, ASSAY_ERR_IO, "%s: empty file", path);
    if (!s) {
        map->size = size;
        map->bytes = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map->bytes == MAP_FAILED)
            s = assay_fail(err, ASSAY_ERR_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    }
    close(fd);
    if (s) {
        free(map);
        return s;
    }
    *out = map;
    return ASSAY_OK;
}

void assay_map_forget(const void *bytes, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)bytes + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)bytes + size) / page * page;
    if (to > from)
        madvise((void *)from, to - from, MADV_DONTNEED);
}
