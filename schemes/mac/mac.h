/* A matrix unit's dot product, as its record says (mac.def). Integers only, but for reading files.
 */
#ifndef ASSAY_SCHEMES_MAC_MAC_H
#define ASSAY_SCHEMES_MAC_MAC_H

#include <stddef.h>

#include "graph/base.h"
#include "schemes/mac/formats.h"
#include "schemes/mac/mac.def"

/* Every parameter is a number: a format's or a mode's is that of its enumeration. */
#define ASSAY_MAC_MEMBER(name, kind, min, max, value, doc) int64_t name;
typedef struct assay_mac {
    ASSAY_MAC_PARAMETERS(ASSAY_MAC_MEMBER)
} assay_mac;

/* One dot product: k patterns of A and of B (k a multiple of `group` and of `scale_block`), the
 * accumulator's pattern, and where the unit has block scales k / scale_block codes of each. */
typedef struct assay_mac_row {
    size_t k;
    const uint32_t *a, *b;
    uint32_t c;
    const uint8_t *scale_a, *scale_b;
} assay_mac_row;

/* The pattern, in format `out`, of c + sum of a[i] * b[i], step after step, K ascending. */
uint32_t mac_dot(const assay_mac *m, const assay_mac_row *row);

/* A unit file: its record and who it is. */
typedef struct assay_mac_unit {
    char name[64], description[256];
    assay_mac record;
} assay_mac_unit;

/* Reads a unit file's text; `file` names it in messages. ASSAY_ERR_INPUT or _SCHEME with the place
 * of what is wrong. */
assay_status mac_read(const char *file, const char *text, size_t length, assay_mac_unit *out,
                      assay_error *err);
/* A shipped unit by name, or (a name with '/' or ending in .yaml) a file. */
assay_status mac_open(const char *name, assay_mac_unit *out, assay_error *err);
/* Names of the shipped units, in order, NULL at the end; and a unit's text, or NULL. */
const char *const *assay_mac_units(void);
const char *assay_mac_unit_text(const char *name, size_t *length);

#endif
