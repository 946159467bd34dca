/* A model from memory, or as a mapped file, which the graph then owns. */
#include <string.h>
#include <unistd.h>

#include "graph/core/map.h"
#include "graph/memory.h"
#include "graph/tflite/import/import.h"
#include "graph/tflite/tflite.h"

const char *tfl_split(const char *path, char room[4096], const char **entry)
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

assay_status tfl_import_file(const char *path, assay_graph **out, assay_error *err)
{
    return tfl_import_file_with(path, NULL, out, err);
}

assay_status tfl_import_file_with(const char *path, const assay_tflite_options *options,
                                  assay_graph **out, assay_error *err)
{
    char room[4096];
    const char *entry, *file = tfl_split(path, room, &entry);
    assay_map *map;
    assay_status s = assay_map_file(file, &map, err);

    *out = NULL;
    if (s)
        return s;
    s = tfl_import_entry(path, entry, map->bytes, map->size, options, out, err);
    if (!s && (s = assay_arena_own((*out)->arena, assay_unmap, map))) {
        assay_graph_free(*out);
        *out = NULL;
        assay_out_of_memory(err);
    }
    if (s)
        assay_unmap(map);
    return s;
}

assay_status tfl_import_entry(const char *name, const char *entry, const void *bytes, size_t size,
                              const assay_tflite_options *options, assay_graph **out,
                              assay_error *err)
{
    bool placeholders;
    assay_error first = {0}, second;
    assay_status s =
        tfl_import_once(name, entry, bytes, size, options, false, &placeholders, out, &first);
    if (s == ASSAY_ERR_INPUT && placeholders &&
        !tfl_import_once(name, entry, bytes, size, options, true, &placeholders, out, &second))
        return ASSAY_OK;
    if (s && err)
        *err = first; /* where shapes are not what is wrong */
    return s;
}

assay_status tfl_import_memory(const char *name, const void *bytes, size_t size, assay_graph **out,
                               assay_error *err)
{
    return tfl_import_entry(name, NULL, bytes, size, NULL, out, err);
}
