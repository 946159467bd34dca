/* Data of a scheme of the built-in families: the base record, the overrides for wide codes, for
 * ops and for nodes, multipliers given by a device's compiler, and the contract. */
#ifndef ASSAY_SCHEMES_DATA_H
#define ASSAY_SCHEMES_DATA_H

#include "graph/core/op.h"
#include "schemes/record/record.h"
#include "schemes/scheme.h"

/* What a scheme without a record is, in words. */
static inline const char *assay_scheme_sort(const assay_scheme *s)
{
    return s->mac ? "scheme of matrix units" : "plugin";
}

#define ASSAY_MAX_EXTENDS 9 /* files of a scheme */

/* Overrides apply in this order, later ones win. Depthwise is a grouped conv, or one of one channel
 * that the source had as depthwise (attribute of conv), named beside the ops. */
enum assay_scope {
    ASSAY_SCOPE_WIDE, /* nodes whose first input has codes of more than 8 bits */
    ASSAY_SCOPE_OP,
    ASSAY_SCOPE_DEPTHWISE,
    ASSAY_SCOPE_WIDE_OP, /* both */
    ASSAY_SCOPE_WIDE_DEPTHWISE,
    ASSAY_SCOPE_UNSIGNED_OP, /* nodes of an op whose first input has unsigned codes */
    ASSAY_SCOPE_UNSIGNED_DEPTHWISE,
    ASSAY_SCOPE_NODE
};
#define ASSAY_SCOPES 8
/* What stands for a depthwise conv where ops are named. */
#define ASSAY_DEPTHWISE "depthwise"

/* What overrides may depend on beside op and name: flags. */
enum assay_variant {
    ASSAY_VARIANT_WIDE = 1,     /* codes of more than 8 bits */
    ASSAY_VARIANT_UNSIGNED = 2, /* as in TFLite's legacy 8-bit scheme */
    ASSAY_VARIANT_DEPTHWISE = 4 /* what is called so above */
};
#define ASSAY_VARIANTS 8 /* sets of these */

/* Of a rescale without a node: that of nodes with codes of this type, wide: of more than 8 bits. */
static inline unsigned assay_variant_of_codes(bool wide, assay_elem type)
{
    return (wide ? (unsigned)ASSAY_VARIANT_WIDE : 0U) |
           (type.is_signed ? 0U : (unsigned)ASSAY_VARIANT_UNSIGNED);
}

/* The lists of unfused ops, by what they are of; CLAMPED: with an activation behind that clamps
 * more than the codes of the result; BARE: with operands whose conversions have no zero point. */
enum assay_unfused {
    ASSAY_UNFUSED,
    ASSAY_UNFUSED_WIDE,
    ASSAY_UNFUSED_NARROW,
    ASSAY_UNFUSED_MIXED,
    ASSAY_UNFUSED_CLAMPED,
    ASSAY_UNFUSED_BARE,
    ASSAY_UNFUSED_LISTS
};

static inline bool assay_scope_is_named(enum assay_scope s)
{
    return s != ASSAY_SCOPE_WIDE && s != ASSAY_SCOPE_UNSIGNED_DEPTHWISE;
}

typedef struct assay_override {
    enum assay_scope scope;
    char *name; /* op or node, ASSAY_DEPTHWISE; "" for scopes without names */
    int field;  /* index into assay_record_fields */
    assay_field_value value;
    int origin;                  /* 1 + the file that states it */
    const struct assay_tree *at; /* while its file is read: where; NULL: inherited */
} assay_override;
/* The op whose record an override takes part in, "" where it is any; and whether it is in force. */
const char *assay_override_op(const assay_override *o);
bool assay_override_applies(const assay_override *o, const char *op, const char *node,
                            unsigned variant);
/* Whether two overrides are always in force together: of one scope and name. */
bool assay_override_beside(const assay_override *a, const assay_override *b);

/* Rescale parameters of one node that replace derivation, in the target's own shift convention. */
typedef struct assay_precomputed {
    char *node;
    size_t n; /* 1 or the number of output channels */
    int64_t *multiplier, *shift;
    bool has_zero_point;
    int32_t zero_point; /* replaces the output zero point */
    bool has_diff_min;
    int32_t diff_min; /* of softmax: the least difference from a row's greatest code that counts */
} assay_precomputed;

/* What a target says about a rule of the optimizer: how many codes it may change results by, or
 * ASSAY_RULE_NEVER. */
typedef struct assay_rule_policy {
    char *rule;
    int64_t bound;
} assay_rule_policy;

#define ASSAY_CONTRACTS 3

/* Ratios of scales, 2^from <= ratio < 2^to, that the claim of an op is limited to. */
typedef struct assay_ratios {
    bool limited;
    int from, to;
} assay_ratios;

typedef struct assay_scheme_data {
    char *name, *description;
    char *contract[ASSAY_CONTRACTS];       /* one sentence a line; NULL when nothing is said */
    bool exact_op[ASSAY_OP_COUNT];         /* ops whose results the contract calls bit-exact */
    bool exact_narrow[ASSAY_OP_COUNT];     /* of those: for codes of at most 8 bits alone */
    bool exact_per_tensor[ASSAY_OP_COUNT]; /* of those: with one scale an operand alone */
    bool exact_one_type[ASSAY_OP_COUNT];   /* of those: operands and result of one type alone */
    bool exact_constant[ASSAY_OP_COUNT];   /* of those: with constant weights, bias, scale alone */
    /* ... where each operand's scale, of mul the product of both, is so many times the result's */
    assay_ratios exact_ratio[ASSAY_OP_COUNT];
    bool exact_float[ASSAY_OP_COUNT];  /* ... where they are computed in floats */
    int lost_by[ASSAY_OP_COUNT];       /* 1 + the field by which an inherited claim of exact_op was
                                          lost; 0: it was not */
    int float_lost_by[ASSAY_OP_COUNT]; /* ... of exact_float */
    bool claims_from, floats_from;     /* exact_op, exact_float were inherited, in part */
    char *from[ASSAY_MAX_EXTENDS];     /* the files read, the first ancestor first */
    int n_from;
    uint8_t *origin; /* of each field of the base: 1 + the file that states it, 0: none does */
    assay_record base;
    assay_override *override;
    size_t n_overrides;
    assay_precomputed *precomputed;
    size_t n_precomputed;
    assay_rule_policy *policy;
    size_t n_policies;
    bool in_float[ASSAY_OP_COUNT]; /* ops that the target does not compute in integers */
    /* ops that it computes in float where a network has them between conversions, for codes of at
     * most 8 bits, of more, where some operand's have fewer, where they are of two types, and where
     * an activation clamps more */
    bool unfused[ASSAY_UNFUSED_LISTS][ASSAY_OP_COUNT];
} assay_scheme_data;

assay_scheme_data *assay_scheme_data_new(void);
void assay_scheme_data_free(assay_scheme_data *d);

static inline const assay_scheme_data *assay_data(const assay_scheme *s)
{
    return s->record;
}

/* A scheme whose record is `r` for every op and node, with what `like` (a scheme with a record)
 * says of ops beside it; `precomputed` (copied; NULL: none) replaces what is derived. Its name is
 * like's. It has no canonical text and no digest: it is for trials, not for bundles.
 * ASSAY_ERR_SCHEME where the record makes no sense. Free with assay_scheme_free. */
assay_status assay_scheme_of_record(const assay_scheme *like, const assay_record *r,
                                    const assay_precomputed *precomputed, assay_scheme **out,
                                    assay_error *err);

/* Who vouches for a scheme text: its reader alone, or a test too, as for the presets' own texts. */
enum assay_vouched { ASSAY_VOUCHED_NOT, ASSAY_VOUCHED_TESTED };

/* Reads a scheme text over what *d holds (after `extends`, the parent's data; depth: how many texts
 * led here). Whether its records make sense and read all that it states is not asked again of a
 * text that is tested. */
assay_status assay_scheme_read(const char *file, const char *text, size_t length,
                               enum assay_vouched by, assay_scheme_data *d, int depth,
                               assay_error *err);

/* rule_policy.c: the key `rules`. */
struct assay_tree;
assay_status assay_rule_policies_read(const char *file, const struct assay_tree *t,
                                      assay_scheme_data *d, assay_error *err);
void assay_rule_policies_free(assay_scheme_data *d);

/* Text of a preset, or NULL. */
const char *assay_preset_text(const char *name, size_t *length);
/* Whole file into memory (at most 1 MiB), for scheme files. *text is the caller's. */
assay_status assay_scheme_read_file(const char *path, char **text, size_t *length,
                                    assay_error *err);

/* The record in force, fields that it does not read at their defaults, for an op (or
 * ASSAY_DEPTHWISE) and node; variant: flags of enum assay_variant. */
void assay_effective_record(const assay_scheme_data *d, const char *op, const char *node,
                            unsigned variant, assay_record *out);
/* The flags on which that record may depend; "": of any op. */
unsigned assay_variants_of(const assay_scheme_data *d, const char *op);
/* assay_scheme_fixed_output (scheme.h) under this record. */
bool assay_fixed_output(const assay_record *r, enum assay_op op, assay_elem out, float *scale,
                        int32_t *zero_point);
/* The canonical text (what is digested), malloc'ed; NULL when out of memory. */
char *assay_scheme_text(const assay_scheme_data *d);

#endif
