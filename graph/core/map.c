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

assay_status assay_map_part(int file, const char *name, uint64_t offset, size_t size,
                            assay_map **out, const void **at, assay_error *err)
{
    const size_t before = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));
    assay_map *map = malloc(sizeof *map);

    *out = NULL;
    if (!map)
        return assay_out_of_memory(err);
    map->size = before + size;
    map->bytes = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, file, (off_t)(offset - before));
    if (map->bytes == MAP_FAILED) {
        free(map);
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot be mapped: %s", name, strerror(errno));
    }
    *at = (const char *)map->bytes + before;
    *out = map;
    return ASSAY_OK;
}

assay_status assay_map_file(const char *path, assay_map **out, assay_error *err)
{
    int fd;
    size_t size;
    const void *at;
    assay_status s = assay_open_regular(path, &fd, &size, err);

    *out = NULL;
    if (s)
        return s;
    s = size == 0 ? assay_fail(err, ASSAY_ERR_IO, "%s: empty file", path)
                  : assay_map_part(fd, path, 0, size, out, &at, err);
    close(fd);
    return s;
}

void assay_map_forget(const void *bytes, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)bytes + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)bytes + size) / page * page;
    if (to > from)
        madvise((void *)from, to - from, MADV_DONTNEED);
}
