/* A small, strict subset of YAML: maps, lists and plain scalars, each with its place in the file.
 *
 * Refused with file, line and column: anchors and aliases, tags, several documents, a key twice in
 * a map, more than 8 levels, more than 100,000 nodes, text beyond 1 MiB, bytes that are not UTF-8.
 */
#ifndef ASSAY_SCHEMES_TREE_H
#define ASSAY_SCHEMES_TREE_H

#include "graph/base.h"

enum assay_tree_kind { ASSAY_TREE_SCALAR, ASSAY_TREE_MAP, ASSAY_TREE_LIST };

typedef struct assay_tree {
    enum assay_tree_kind kind;
    unsigned line, column; /* from 1 */
    char *text;            /* a scalar's text */
    char *key;             /* key in the parent map, or NULL */
    struct assay_tree *child, *next;
} assay_tree;

/* Reads one document; *out is freed with assay_tree_free. `file` names it in messages. */
assay_status assay_tree_parse(const char *file, const char *text, size_t length, assay_tree **out,
                              assay_error *err);
void assay_tree_free(assay_tree *t);
const assay_tree *assay_tree_get(const assay_tree *map, const char *key); /* or NULL */

#endif
