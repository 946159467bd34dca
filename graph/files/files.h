/* Files and folders: whole or absent. Everything that a command writes goes through here. */
#ifndef ASSAY_GRAPH_FILES_H
#define ASSAY_GRAPH_FILES_H

#include <stdio.h>

#include "graph/base.h"

/* What follows the last slash. */
const char *file_base_name(const char *path);
/* What is read or written when `path` is: the end of a chain of links, whether it exists or not.
 * ASSAY_ERR_IO: too many links, or too long. */
assay_status file_link_end(const char *path, char end[4096], assay_error *err);
/* Is `path` not a file's place: "-" (standard output), a device or a pipe? */
bool file_is_stream(const char *path);
/* Fails with the reason why `path` cannot be made, errno's `cause`; names a missing folder. */
assay_status file_no_place(const char *path, const char *verb, int cause, assay_error *err);
/* Removes a folder and all below it, or a file; what cannot be removed is left. */
void file_remove_tree(const char *path);
/* Writes bytes to a file in its final place: for files inside a partial folder. */
assay_status file_bytes_write(const char *path, const void *data, size_t size, assay_error *err);
/* Writes bytes beside their place and moves them there (graph/files/partial.h): the file is the old
 * one or the new one, whole, and keeps its mode. "-" is standard output; anything but a regular
 * file takes the bytes as they come; of a link, what it names is written. ASSAY_ERR_IO, _LIMIT. */
assay_status file_write_file(const char *path, const void *data, size_t size, assay_error *err);
/* ASSAY_ERR_IO where file_write_file would fail now: asked before work whose result goes there. */
assay_status file_check_place(const char *path, assay_error *err);
/* What print(f, what) prints, as file_write_file writes it. ASSAY_ERR_MEMORY too. */
assay_status file_print(const char *path, void (*print)(FILE *f, const void *what),
                        const void *what, assay_error *err);

#endif
