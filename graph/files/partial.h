/* Files written beside their place and then moved there: whole or absent, whoever dies meanwhile.
 *
 * A partial is PATH.partial-PID-N, locked (flock) as long as its writer lives. One whose lock is
 * free and whose process is gone was left by a run that was killed, and the next writer of PATH
 * removes it. Writers never wait for each other: whoever moves into place last wins, whole. */
#ifndef ASSAY_GRAPH_PARTIAL_H
#define ASSAY_GRAPH_PARTIAL_H

#include "graph/base.h"

typedef struct assay_partial {
    char path[4096]; /* "" when there is none */
    int lock;        /* the open partial, or -1 */
} assay_partial;

#define ASSAY_PARTIAL_NONE                                                                         \
    {                                                                                              \
        "", -1                                                                                     \
    }

/* Makes an empty file or folder beside `path`, after removing what killed runs left there: files,
 * or folders that `ours` (NULL for files) recognizes. */
assay_status file_partial_file(const char *path, assay_partial *out, assay_error *err);
assay_status file_partial_folder(const char *path, bool (*ours)(const char *folder),
                                 assay_partial *out, assay_error *err);

/* Moves a partial file to `path`, replacing what exists there, after all its bytes are on the disk.
 * The partial is gone whatever the status. */
assay_status file_partial_file_place(assay_partial *p, const char *path, assay_error *err);
/* The same for one among many that another call puts on the disk (syncfs) before they count. */
assay_status file_partial_move(assay_partial *p, const char *path, assay_error *err);

/* Moves a partial folder to `path`, after the disk has all of it. With `replace` a folder may stand
 * there that replace(folder, user, err) lets go; it changes places with the partial in one step
 * (where the file system can), and p->path then names it and is the caller's to remove. Else
 * p->path is "". */
assay_status file_partial_folder_place(assay_partial *p, const char *path,
                                       assay_status (*replace)(const char *folder, void *user,
                                                               assay_error *err),
                                       void *user, assay_error *err);

/* The two ends of making a folder that must not be there yet: file_new_folder refuses a `dir` that
 * stands (ASSAY_ERR_IO) and makes *out beside it; file_new_folder_end moves *p there if all that
 * was written went well (`status`), removes it if not, and tells the first status that is not
 * ASSAY_OK. */
assay_status file_new_folder(const char *dir, bool (*ours)(const char *folder), assay_partial *out,
                             assay_error *err);
assay_status file_new_folder_end(assay_partial *p, const char *dir, assay_status status,
                                 assay_error *err);

/* ASSAY_ERR_IO where file_new_folder would fail now: asked before work whose result goes there. */
assay_status file_check_new_folder(const char *dir, assay_error *err);

/* Unlocks, and forgets the path. */
void file_partial_close(assay_partial *p);

#endif
