/* A model as a mapped file, which the graph then owns. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/tflite/import.h"
#include "graph/tflite/tflite.h"

typedef struct mapping {
    void *bytes;
    size_t size;
} mapping;

static void unmap(void *p)
{
    mapping *map = p;
    munmap(map->bytes, map->size);
    free(map);
}

static assay_status map_file(const char *path, mapping **out, assay_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    mapping *map = malloc(sizeof *map);
    assay_status s = ASSAY_OK;

    if (!map)
        s = assay_out_of_memory(err);
    else if (fd < 0 || fstat(fd, &st) != 0)
        s = assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode) || st.st_size == 0)
        s = assay_fail(err, ASSAY_ERR_IO, "%s: %s", path,
                       S_ISREG(st.st_mode) ? "empty file" : "not a regular file");
    if (!s) {
        map->size = (size_t)st.st_size;
        map->bytes = mmap(NULL, map->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map->bytes == MAP_FAILED)
            s = assay_fail(err, ASSAY_ERR_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    if (s) {
        free(map);
        return s;
    }
    *out = map;
    return ASSAY_OK;
}

const char *assay_tflite_split(const char *path, char room[4096], const char **entry)
{
    const char *hash = strrchr(path, '#');
    size_t length = hash ? (size_t)(hash - path) : 0;

    *entry = NULL;
    if (!hash || length >= 4096 || access(path, F_OK) == 0)
        return path;
    memcpy(room, path, length);
    room[length] = '\0';
    *entry = hash + 1;
    return room;
}

assay_status assay_tflite_import_file(const char *path, assay_graph **out, assay_error *err)
{
    return assay_tflite_import_file_with(path, NULL, out, err);
}

assay_status assay_tflite_import_file_with(const char *path, const assay_tflite_options *options,
                                           assay_graph **out, assay_error *err)
{
    char room[4096];
    const char *entry, *file = assay_tflite_split(path, room, &entry);
    mapping *map;
    assay_status s = map_file(file, &map, err);

    *out = NULL;
    if (s)
        return s;
    s = assay_tflite_import_entry(path, entry, map->bytes, map->size, options, out, err);
    if (!s && (s = assay_arena_own((*out)->arena, unmap, map)) != ASSAY_OK) {
        assay_graph_free(*out);
        *out = NULL;
        assay_out_of_memory(err);
    }
    if (s)
        unmap(map);
    return s;
}
