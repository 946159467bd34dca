/* A matrix unit's dot product, as its record (mac.def) describes it. Integers only, except for
 * reading files. */
#ifndef ASSAY_SCHEMES_MAC_MAC_H
#define ASSAY_SCHEMES_MAC_MAC_H

#include <stddef.h>

#include "graph/base.h"
#include "schemes/mac/formats.h"
#include "schemes/mac/mac.def"

#define ASSAY_MAC_MUST INT64_MIN
#define ASSAY_MAC_NONE INT64_MAX /* the value `none` of a parameter */

/* The values of choices, in the order of the words in mac.def. */
enum { ASSAY_MAC_ASCENDING, ASSAY_MAC_DESCENDING };
enum { ASSAY_MAC_START_ACC, ASSAY_MAC_START_ZERO };
enum { ASSAY_MAC_FLUSH_NONE, ASSAY_MAC_FLUSH_SIGNED, ASSAY_MAC_FLUSH_PLUS };
enum { ASSAY_MAC_TINY_NONE, ASSAY_MAC_TINY_BEFORE, ASSAY_MAC_TINY_AFTER };
enum { ASSAY_MAC_AT_TERM, ASSAY_MAC_PROMOTED };
enum { ASSAY_MAC_ALIGNED, ASSAY_MAC_PAIRS };
enum { ASSAY_MAC_ACC_JOINED, ASSAY_MAC_ACC_AFTER, ASSAY_MAC_ACC_ALIGNED };
enum { ASSAY_MAC_INFINITY, ASSAY_MAC_LARGEST };
enum { ASSAY_MAC_ZERO_PLUS, ASSAY_MAC_ZERO_SUM, ASSAY_MAC_ZERO_IEEE };
enum { ASSAY_MAC_NAN_PATTERN, ASSAY_MAC_NAN_OPERAND };
enum { ASSAY_MAC_CHAIN, ASSAY_MAC_BY_PAIRS };

enum { ASSAY_MAC_MAX_ORDER = 256 };

/* Every parameter is a number: a format, mode or choice is the number of its enumerator; of an
 * order it is the length of `places`. */
#define ASSAY_MAC_MEMBER(name, kind, min, max, value, doc) int64_t name;
typedef struct assay_mac {
    ASSAY_MAC_PARAMETERS(ASSAY_MAC_MEMBER)
    uint8_t places[ASSAY_MAC_MAX_ORDER];
} assay_mac;

/* Rows of dot products. Patterns are stored as in .npy files: unsigned integers as wide as the
 * format's layout says (mac_layout_of: 8, 16, 32 or 64 bits), scales one per block of each row. The
 * k patterns of a row are contiguous; `c` NULL means +0. */
typedef struct assay_mac_rows {
    size_t k;
    const void *a, *b;             /* [rows, k] */
    const void *c;                 /* [rows], format `acc` */
    const void *scale_a, *scale_b; /* [rows, k / scale_block]; NULL where there are none */
} assay_mac_rows;
typedef struct mac_watch mac_watch; /* terms.h */

/* Pattern i of such an array. */
static inline uint64_t mac_load(int64_t format, const void *data, size_t i)
{
    switch (mac_layout_of((enum assay_mac_format)format)->bits) {
    case 8:
        return ((const uint8_t *)data)[i];
    case 16:
        return ((const uint16_t *)data)[i];
    case 32:
        return ((const uint32_t *)data)[i];
    default:
        return ((const uint64_t *)data)[i];
    }
}
static inline void mac_store(int64_t format, void *data, size_t i, uint64_t pattern)
{
    switch (mac_layout_of((enum assay_mac_format)format)->bits) {
    case 8:
        ((uint8_t *)data)[i] = (uint8_t)pattern;
        break;
    case 16:
        ((uint16_t *)data)[i] = (uint16_t)pattern;
        break;
    case 32:
        ((uint32_t *)data)[i] = (uint32_t)pattern;
        break;
    default:
        ((uint64_t *)data)[i] = pattern;
    }
}

/* The number of which k must be a multiple. */
size_t mac_multiple(const assay_mac *m);

/* d[i] = c[i] + row i of A times row i of B, as a pattern of `out`; n of each. Undefined if k is
 * not such a multiple, or scales are missing. ASSAY_ERR_MEMORY or ASSAY_OK. */
assay_status mac_dots(const assay_mac *m, size_t n, const assay_mac_rows *rows, void *d,
                      assay_error *err);
/* d[i, j] = c[i, j] + row i of A times row j of B: [n, columns], as is c; B is [columns, k]. */
assay_status mac_matmul(const assay_mac *m, size_t n, size_t columns, const assay_mac_rows *rows,
                        void *d, assay_error *err);

/* A unit file: its record, its name, and what is known about the unit: sources, confidence, open
 * questions. */
typedef struct assay_mac_unit {
    char name[64], description[256], contract[512];
    assay_mac record;
} assay_mac_unit;

/* Reads a unit file's text; `file` is its name in messages. ASSAY_ERR_INPUT or _SCHEME, with the
 * place of the fault. */
assay_status mac_read(const char *file, const char *text, size_t length, assay_mac_unit *out,
                      assay_error *err);
/* The same for a unit defined inside a scheme. */
struct assay_tree;
assay_status mac_read_tree(const char *file, const struct assay_tree *t, assay_mac_unit *out,
                           assay_error *err);
/* A shipped unit by name, or (if the name has a '/' or ends in .yaml) a file. */
assay_status mac_open(const char *name, assay_mac_unit *out, assay_error *err);
/* Whether a name means a unit rather than a scheme: a shipped unit, or a file with the key `unit`.
 */
bool mac_is_unit(const char *name);
/* The names of the shipped units, sorted, NULL at the end; and a unit's text, or NULL. */
const char *const *assay_mac_units(void);
const char *assay_mac_unit_text(const char *name, size_t *length);

#endif
