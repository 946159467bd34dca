/* Attributes of nodes: plain structs made from attr.def, with reflection for text, hashing and
 * comparison (graph/core/attr.c). */
#ifndef ASSAY_GRAPH_ATTR_H
#define ASSAY_GRAPH_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"

#define ASSAY_ATTR_LIST 12

typedef struct assay_list {
    int n;
    int64_t v[ASSAY_ATTR_LIST];
} assay_list;

typedef struct assay_float_list {
    int n;
    float v[ASSAY_ATTR_LIST];
} assay_float_list;

/* Enumerations; the text form uses the lower-case names. */
enum assay_layout { ASSAY_LAYOUT_NCHW, ASSAY_LAYOUT_NHWC };
enum assay_gelu { ASSAY_GELU_NONE, ASSAY_GELU_TANH };
enum assay_pad_mode {
    ASSAY_PAD_CONSTANT,
    ASSAY_PAD_REFLECT,
    ASSAY_PAD_EDGE,
    ASSAY_PAD_SYMMETRIC,
    ASSAY_PAD_WRAP
};
enum assay_reduction {
    ASSAY_REDUCTION_ADD,
    ASSAY_REDUCTION_MUL,
    ASSAY_REDUCTION_MIN,
    ASSAY_REDUCTION_MAX
};
enum assay_d2s_order { ASSAY_D2S_DCR, ASSAY_D2S_CRD };
enum assay_resize_mode { ASSAY_RESIZE_NEAREST, ASSAY_RESIZE_LINEAR, ASSAY_RESIZE_CUBIC };
enum assay_resize_coordinate {
    ASSAY_COORD_HALF_PIXEL,
    ASSAY_COORD_PYTORCH_HALF_PIXEL,
    ASSAY_COORD_ALIGN_CORNERS,
    ASSAY_COORD_ASYMMETRIC,
    ASSAY_COORD_HALF_PIXEL_SYMMETRIC,
    ASSAY_COORD_TFLITE_HALF_PIXEL, /* fixed-point half pixel of TFLite's resize kernels */
    /* half_pixel_centers and align_corners at once: (i + 1/2) * (in - 1) / (out - 1), which moves
     * pixels even where the extents are equal */
    ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS
};
enum assay_resize_nearest {
    ASSAY_NEAREST_ROUND_PREFER_FLOOR,
    ASSAY_NEAREST_ROUND_PREFER_CEIL,
    ASSAY_NEAREST_FLOOR,
    ASSAY_NEAREST_CEIL
};
enum assay_grid_padding { ASSAY_GRID_ZEROS, ASSAY_GRID_BORDER, ASSAY_GRID_REFLECTION };
/* Floats in order of assay_kind, f32 first. */
enum assay_float_elem {
    ASSAY_FLOAT_F32,
    ASSAY_FLOAT_F16,
    ASSAY_FLOAT_BF16,
    ASSAY_FLOAT_TF32,
    ASSAY_FLOAT_F8E4M3FN,
    ASSAY_FLOAT_F8E4M3FNUZ,
    ASSAY_FLOAT_F8E5M2,
    ASSAY_FLOAT_F8E5M2FNUZ,
    ASSAY_FLOAT_F6E3M2,
    ASSAY_FLOAT_F6E2M3,
    ASSAY_FLOAT_F4E2M1,
    ASSAY_FLOAT_F8E8M0,
    ASSAY_FLOAT_INT8MX
};
/* How a block's greatest magnitude becomes its scale (schemes/mac/scale.h has the formulas). */
enum assay_scale_rule {
    ASSAY_SCALE_AMAX,
    ASSAY_SCALE_FLOOR,
    ASSAY_SCALE_CEIL,
    ASSAY_SCALE_EVEN,
    ASSAY_SCALE_ROUND_UP
};
/* How an element is taken to its scale. */
enum assay_scale_by { ASSAY_SCALE_BY_DIVIDE, ASSAY_SCALE_BY_RECIPROCAL };
/* The power of two that a number between two becomes; nearest: the upper one from halfway on. */
enum assay_power_round { ASSAY_POWER_UP, ASSAY_POWER_DOWN, ASSAY_POWER_NEAREST };
/* Target kinds of cast. */
enum assay_cast_elem {
    ASSAY_CAST_F32,
    ASSAY_CAST_BOOL,
    ASSAY_CAST_I8,
    ASSAY_CAST_U8,
    ASSAY_CAST_I16,
    ASSAY_CAST_U16,
    ASSAY_CAST_I32,
    ASSAY_CAST_U32,
    ASSAY_CAST_I64,
    ASSAY_CAST_F16, /* float32, rounded to what float16 has */
    ASSAY_CAST_BF16,
    ASSAY_CAST_I4,
    ASSAY_CAST_U4,
    ASSAY_CAST_I2,
    ASSAY_CAST_U2
};

#define ASSAY_C_I int64_t
#define ASSAY_C_B bool
#define ASSAY_C_F float
#define ASSAY_C_L assay_list
#define ASSAY_C_G assay_float_list
#define ASSAY_C_E int
#define ATTRS(name)                                                                                \
    typedef struct assay_attr_##name {                                                             \
        char unused_;
#define ATTRS_END(name)                                                                            \
    }                                                                                              \
    assay_attr_##name;
#define ATTR(name, kind, field, names, value) ASSAY_C_##kind field;
#include "graph/core/attr.def"

/* Which member of the union an op uses. */
typedef enum assay_attrs_id {
#define ATTRS(name) ASSAY_ATTRS_##name,
#include "graph/core/attr.def"
    ASSAY_ATTRS_COUNT
} assay_attrs_id;

typedef union assay_attrs {
#define ATTRS(name) assay_attr_##name name;
#include "graph/core/attr.def"
} assay_attrs;

/* Whether a resize may move the pixels along an axis although its extent stays. */
static inline bool assay_resize_shifts(const assay_attr_resize *a, int axis)
{
    bool last = a->layout == ASSAY_LAYOUT_NHWC;
    return a->coordinate == ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS &&
           (last ? axis >= 1 && axis < a->size.n - 1 : axis >= 2);
}

/* ---- reflection: what attr.def says, as data ---- */
typedef struct assay_attr_field {
    const char *name;
    char kind;                /* I B F L G E, see attr.def */
    size_t offset;            /* in assay_attrs */
    const char *const *names; /* E: names in order of value, NULL at the end */
    const char *value;        /* the default, as text */
} assay_attr_field;

typedef struct assay_attrs_info {
    const char *name;
    int n_fields;
    const assay_attr_field *field;
} assay_attrs_info;

const assay_attrs_info *assay_attrs_get(assay_attrs_id id);
const assay_attr_field *assay_attr_find(assay_attrs_id id, const char *name); /* or NULL */

/* Sets one field to its default. */
void assay_attr_default(const assay_attr_field *f, assay_attrs *a);
/* Sets every field to its default; the rest of the union is zeroed. */
void assay_attrs_defaults(assay_attrs_id id, assay_attrs *a);
/* Copies the fields of one struct (of a list the n entries in use, not the rest). */
void assay_attrs_copy(assay_attrs_id id, assay_attrs *to, const assay_attrs *from);
/* Field by field; floats by bits, so that equal means prints equal. */
bool assay_attr_equal(const assay_attr_field *f, const assay_attrs *a, const assay_attrs *b);
bool assay_attrs_equal(assay_attrs_id id, const assay_attrs *a, const assay_attrs *b);
/* Enumerations in range, list lengths in range, no NaN. `what` names the owner in messages. */
assay_status assay_attrs_check(assay_attrs_id id, const assay_attrs *a, const char *what,
                               assay_error *err);

/* One field's value as text: 3, true, 0.5, [1,2], nchw. Appends to buf (graph/core/buf.h). */
struct assay_buf;
void assay_attr_print(const assay_attr_field *f, const assay_attrs *a, struct assay_buf *buf);
/* Parses what assay_attr_print prints; `text` is NUL-terminated, white space is allowed. */
assay_status assay_attr_parse(const assay_attr_field *f, const char *text, assay_attrs *a,
                              assay_error *err);

#endif
