/* Names of files; removing trees. */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graph/files/files.h"

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st;
    (void)kind;
    (void)walk;
    remove(path);
    return 0;
}

const char *file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void file_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
