/* Schemes of matrix units: networks whose products run on units of small floats, and all between
 * them in binary32 by stated steps (functions.h). Files with the keys scheme, description and mac.
 *
 * scaled_matmul under a unit, of a row of A and one of B, K filled up with zeros to whole steps:
 *   unit with block scales    y = dot(a, b, scales of a, scales of b)
 *   one scale per row, or more  y = dot(a, b), times (scale of a * scale of b)
 *   several along K           y = fma(scale of a * scale of b, dot of the run, y), run after run, y
 *                             from +0; a run: as long as both scales hold (DeepGEMM's promotion)
 * then times (scale's scale of a * of b) where there are any; plus the bias where there is one;
 * rounded to `floats` where that is not f32. Products and sums here are binary32, each rounded
 * once, half to even. */
#ifndef ASSAY_SCHEMES_MAC_SCHEME_H
#define ASSAY_SCHEMES_MAC_SCHEME_H

#include "graph/core/op.h"
#include "schemes/mac/mac.h"
#include "schemes/mac/scale.def"
#include "schemes/mac/scheme.def"
#include "schemes/scheme.h"

#define ASSAY_MAC_SCALES_ID(ID, name, rows, columns, to, rule, second) ASSAY_MAC_SCALES_##ID,
enum assay_mac_scales { ASSAY_MAC_SCALES(ASSAY_MAC_SCALES_ID) };

/* A line of scale.def. */
typedef struct assay_mac_sharing {
    const char *name;
    int64_t rows, columns; /* of a block; 0: all */
    enum assay_mac_format to;
    enum assay_scale_rule rule;
    bool second;
} assay_mac_sharing;
const assay_mac_sharing *mac_sharing_of(enum assay_mac_scales s);

enum { ASSAY_MAC_UNITS = 8 };

#define ASSAY_MAC_SCHEME_MEMBER(name, kind, value, doc) int64_t name;
typedef struct assay_mac_scheme {
    char name[64], description[256];
    int n_units;
    assay_mac_unit unit[ASSAY_MAC_UNITS];
    bool shipped[ASSAY_MAC_UNITS]; /* referred to by name; else its parameters are in the scheme's
                                      own text */
    ASSAY_MAC_SCHEME_PARAMETERS(ASSAY_MAC_SCHEME_MEMBER)
} assay_mac_scheme;

/* Whether a scheme's text has the section. Unreadable text has none; fails only when out of memory.
 */
assay_status mac_scheme_is(const char *text, size_t length, bool *is, assay_error *err);
/* Reads a scheme's text; `file` is its name in messages. */
assay_status mac_scheme_parse(const char *file, const char *text, size_t length, assay_scheme **out,
                              assay_error *err);
/* The unit for operands in these formats, or NULL. */
const assay_mac *mac_scheme_unit(const assay_mac_scheme *s, enum assay_mac_format a,
                                 enum assay_mac_format b);

/* The names of the shipped schemes, sorted, NULL at the end; and a scheme's text, or NULL. */
const char *const *assay_mac_schemes(void);
const char *assay_mac_scheme_text(const char *name, size_t *length);

extern const assay_scheme_vtable mac_vtable;

/* Whether op produces or reads small floats by its attributes alone. Where no scheme of matrix
 * units is in effect, such an op is computed under this one. */
bool mac_converts(enum assay_op op);
extern const assay_scheme mac_conversions;

/* The format of an element type, for f32 and the small floats; and the reverse. */
bool mac_format_of(assay_elem e, enum assay_mac_format *f);
enum assay_float_elem mac_elem_of(enum assay_mac_format f);
bool mac_is_elem(enum assay_mac_format f);

#endif
