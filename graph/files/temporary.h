/* Temporary folders that outlive no process: each is removed when it is done with, or when SIGHUP,
 * SIGINT or SIGTERM ends the process. A program that handles a signal itself keeps its handler. */
#ifndef ASSAY_GRAPH_FILES_TEMPORARY_H
#define ASSAY_GRAPH_FILES_TEMPORARY_H

#include <sys/types.h>

#include "graph/base.h"

#define FILE_TEMPORARY 200 /* bytes of such a path */

/* Makes an empty folder in $TMPDIR, or in /tmp where that is not an absolute path that a shell
 * reads verbatim. ASSAY_ERR_IO: none can be made, *path is "". */
assay_status file_temporary_make(char path[FILE_TEMPORARY], assay_error *err);
/* A group of processes that works in the folder and is killed with this one; 0: none does. */
void file_temporary_serve(const char *path, pid_t group);
/* Removes the folder, if there is one, and makes its path "". */
void file_temporary_remove(char path[FILE_TEMPORARY]);

#endif
