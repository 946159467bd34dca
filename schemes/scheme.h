/* A scheme: a vtable and its record of parameters.
 *
 * Rooms, lowest first (see README.md):
 *   round.def        the one place that rounds
 *   record/          the record: every axis of a target's arithmetic, orthogonal, as data
 *   apply/           row functions, integers only (-mgeneral-regs-only)
 *   derive/          real scales to integers, floating point allowed; one file per op class
 *   read/            scheme files and plugins: opened, parsed with line and column, validated
 *   presets/         one YAML file per target, embedded in the library at build time */
#ifndef ASSAY_SCHEMES_SCHEME_H
#define ASSAY_SCHEMES_SCHEME_H

#include "schemes/round.h"
#include "schemes/vtable.h"

struct assay_scheme {
    const assay_scheme_vtable *vt;
    const char *name;        /* "tflite", "my-npu" */
    const char *description; /* one line */
    const char *text;        /* canonical text of the effective record (what is digested) */
    char digest[33];         /* XXH3-128 hex of `text` */
    const void *record;      /* what schemes/record/data.h holds; NULL: a plugin's or a mac's */
    const void *mac;         /* what schemes/mac/scheme.h holds, of a file with `mac`; else NULL */
    void *plugin_handle;     /* dlopen handle or NULL */
};

/* Opens a scheme by preset name, by path of a YAML file (a name with '/' or ending in .yaml), or
 * by path of a shared object (ending in .so). Free with assay_scheme_free. */
assay_status assay_scheme_open(const char *name_or_path, assay_scheme **out, assay_error *err);
/* From text in memory; `file` names it in messages. */
assay_status assay_scheme_parse(const char *file, const char *text, size_t length,
                                assay_scheme **out, assay_error *err);
/* The same for a text that stands for itself: one that extends another is refused, so that nothing
 * but the text is read. */
assay_status assay_scheme_parse_whole(const char *file, const char *text, size_t length,
                                      assay_scheme **out, assay_error *err);
void assay_scheme_free(assay_scheme *s);

/* Preset names in order, NULL at the end. */
const char *const *assay_scheme_presets(void);

/* What a target can hold; the quantizer asks before it builds integer nodes. */
typedef struct assay_scheme_caps {
    unsigned activation_bits, weight_bits, bias_bits; /* default widths */
    bool activation_signed, weight_signed;
    bool activation_zero_point;  /* may activations have zero points other than 0 ... */
    bool zero_point_middle_only; /* ... or only 0 / the middle of the range */
    bool wide_zero_point;        /* the same for activations of more than 8 bits */
    bool weight_zero_point;
    bool weight_narrow; /* weights in [-(2^(b-1)-1), 2^(b-1)-1] */
    bool per_channel;   /* weights per output channel */
    int64_t block;      /* weights per block of so many inputs, where there are more; 0: not so */
    bool power_of_two;  /* every scale must be a power of two */
    /* What networks that come quantized may have beside this. */
    bool activation_either_sign, weight_either_sign, weight_least_code;
    enum assay_rounding constant_round; /* of constants that are made codes */
} assay_scheme_caps;
void assay_scheme_get_caps(const assay_scheme *s, assay_scheme_caps *caps);

/* What a target demands of an op's parameters; the quantizer honours it when it chooses them.
 *
 * Fixed output: the output's scale and zero point are the target's own whatever the data (TFLite:
 * softmax and sigmoid 1/256 at the least code, tanh and l2_norm 1/128 at 0). True when they are. */
bool assay_scheme_fixed_output(const assay_scheme *s, const char *op, assay_elem out, float *scale,
                               int32_t *zero_point);
/* No zero point: sums of codes (add_n, cumsum) count it once too often, which leaves 0 alone
 * (add.extra_zero_point). */
bool assay_scheme_wants_no_zero_point(const assay_scheme *s, const char *op, unsigned bits);
/* The greatest magnitude that a sum of codes of so many bits may have (add_n, cumsum) before it
 * wraps in 32 bits, because add.kind shifts it to the left; INT64_MAX where nothing shifts it. */
int64_t assay_scheme_sum_room(const assay_scheme *s, const char *op, unsigned bits);
/* Same parameters: the op's arithmetic is for inputs and output of one scale and zero point (an
 * average pool that only divides, a relu that only clamps codes, an add without alignment). */
bool assay_scheme_same_params(const assay_scheme *s, const char *op);
/* Does the target have one integer op for this op on codes of so many bits between conversions of a
 * QDQ network? False: it computes floats there (unfused_ops). Plugins have it for all they prepare.
 */
bool assay_scheme_fuses(const assay_scheme *s, const char *op, unsigned bits);
/* The same where some operand's codes have fewer than 8 bits (narrow_unfused_ops). */
bool assay_scheme_fuses_narrow(const assay_scheme *s, const char *op);
/* The same where operands and result are of two types, or signed ones meet unsigned weights
 * (mixed_unfused_ops). */
bool assay_scheme_fuses_mixed(const assay_scheme *s, const char *op);
/* The same where an activation stands between op and quantize that clamps more than the codes do
 * (clamped_unfused_ops). */
bool assay_scheme_fuses_clamped(const assay_scheme *s, const char *op);
/* The same where the conversion of one of the first two operands is written without a zero point
 * (bare_unfused_ops). */
bool assay_scheme_fuses_bare(const assay_scheme *s, const char *op);
/* Does the target make one pair of conversions of two in a row (convert.merge_pairs)? */
bool assay_scheme_merges_pairs(const assay_scheme *s);
/* Does it compute on codes where the floats between conversions are float16 or bfloat16
 * (convert.group_narrow_floats)? */
bool assay_scheme_groups_narrow_floats(const assay_scheme *s);

/* Bits of the bias (32 or 64) that op takes beside codes of more than 8 bits (`wide`) or of at most
 * 8: 64 where its accumulator has them. */
unsigned assay_scheme_bias_bits(const assay_scheme *s, const char *op, bool wide);

/* Bits of op's accumulator beside codes of more than 8 bits (`wide`) or of at most 8; a plugin's
 * count as 32. */
unsigned assay_scheme_accumulator_bits(const assay_scheme *s, const char *op, bool wide);

/* Whether floats that stay floats are added one after the other. */
bool assay_scheme_floats_in_turn(const assay_scheme *s);

/* Whether an average pool of the target counts what the last window of ceil_mode hangs over. */
bool assay_scheme_counts_overhang(const assay_scheme *s);

/* The codes in which layer normalization takes constants: gamma's bits, and how many binary places
 * finer than gamma's scale beta's is. */
void assay_scheme_norm_codes(const assay_scheme *s, bool wide, unsigned *gamma_bits,
                             unsigned *beta_shift);

/* What one step of a weighted node's accumulators is worth, in multiples of the input's scale: the
 * scales of its weights spec->in[1], or one for each output channel where they are by block. `unit`
 * has room for as many as the weights have scales; *n receives their number. ASSAY_ERR_SCHEME: the
 * scheme has no arithmetic for such weights. */
assay_status assay_scheme_weight_units(const assay_scheme *s, const assay_unit_spec *spec,
                                       float *unit, size_t *n, assay_error *err);

/* Whether the scheme has arithmetic for the op on these types; when it does not, `why` (a buffer
 * of `n` bytes) says so in words for the quantizer's report. */
bool assay_scheme_supports(const assay_scheme *s, const assay_unit_spec *spec, char *why, size_t n);

/* ---- the contract: what a scheme claims ---- */

/* Whether results of the op under this scheme, of codes of `bits` bits, are claimed to be the
 * target's own bits. Data movement and choices among codes round nothing and are always exact. */
bool assay_scheme_is_exact(const assay_scheme *s, const char *op, unsigned bits);
/* The same where an operand has several scales, per channel or per block. */
bool assay_scheme_is_exact_by_channel(const assay_scheme *s, const char *op, unsigned bits);
/* Whether that holds, too, where operands and result differ in bits or sign. */
bool assay_scheme_is_exact_mixed(const assay_scheme *s, const char *op);
/* The same for results that are floats: by default of none, for a runtime's floats hang on its
 * order of addition and its approximations of functions. */
bool assay_scheme_is_exact_float(const assay_scheme *s, const char *op);
/* The claims in words, one per line: what is exact, what is approximate, what is not modelled. NULL
 * when nothing is said. */
enum assay_contract { ASSAY_CONTRACT_EXACT, ASSAY_CONTRACT_APPROXIMATE, ASSAY_CONTRACT_UNMODELLED };
const char *assay_scheme_contract(const assay_scheme *s, enum assay_contract which);

/* ---- what a target says about the optimizer's rules ---- */

/* The i-th word of the scheme (file key `rules`, or a plugin's): *rule its name, or NULL after the
 * last one; returns by how many codes the rule may change results, or ASSAY_RULE_NEVER. */
int64_t assay_scheme_rule_policy(const assay_scheme *s, size_t i, const char **rule);

#endif
