/* Steps told while a unit computes one element: its own functions name the numbers that they go
 * through, for whoever explains the element. Nothing is told, at the cost of one look, where the
 * unit has no teller. */
#ifndef ASSAY_SCHEMES_APPLY_TELL_H
#define ASSAY_SCHEMES_APPLY_TELL_H

#include <stddef.h>
#include <stdint.h>

#include "schemes/round.h"

enum assay_told_kind {
    ASSAY_TOLD_INTEGER,  /* a */
    ASSAY_TOLD_FIXED,    /* a / 2^b */
    ASSAY_TOLD_F32,      /* a: binary32 bits */
    ASSAY_TOLD_F64,      /* a: binary64 bits */
    ASSAY_TOLD_SUM,      /* a + b */
    ASSAY_TOLD_PRODUCT,  /* a * b */
    ASSAY_TOLD_SHIFT,    /* a / 2^b, rounded by mode */
    ASSAY_TOLD_QUOTIENT, /* a / b, rounded by mode */
    ASSAY_TOLD_ROUNDED,  /* a, binary32 bits, made the integer b by mode */
    ASSAY_TOLD_BOUNDS,   /* to a .. b */
    ASSAY_TOLD_RESCALE   /* a by `rescale`, of one channel */
};

struct assay_rescale;

typedef struct assay_told {
    const char *name; /* lives on */
    enum assay_told_kind kind;
    int64_t a, b;
    enum assay_rounding mode;
    const struct assay_rescale *rescale; /* for as long as the call takes */
} assay_told;

typedef struct assay_teller {
    void (*tell)(void *to, const assay_told *step);
    void *to;
    size_t at; /* of a row: the element whose steps are told */
} assay_teller;

/* t where it asks for element i of a row, else NULL. */
static inline const assay_teller *apply_tell_at(const assay_teller *t, size_t i)
{
    return t && t->at == i ? t : NULL;
}

static inline void apply_tell_step(const assay_teller *t, const assay_told step)
{
    if (t)
        t->tell(t->to, &step);
}
static inline void apply_tell(const assay_teller *t, const char *name, int64_t v)
{
    apply_tell_step(t, (assay_told){.name = name, .kind = ASSAY_TOLD_INTEGER, .a = v});
}
static inline void apply_tell_fixed(const assay_teller *t, const char *name, int64_t v,
                                    int64_t bits)
{
    apply_tell_step(t, (assay_told){.name = name, .kind = ASSAY_TOLD_FIXED, .a = v, .b = bits});
}
static inline void apply_tell_f32(const assay_teller *t, const char *name, uint32_t bits)
{
    apply_tell_step(t, (assay_told){.name = name, .kind = ASSAY_TOLD_F32, .a = (int64_t)bits});
}
static inline void apply_tell_f64(const assay_teller *t, const char *name, uint64_t bits)
{
    apply_tell_step(t, (assay_told){.name = name, .kind = ASSAY_TOLD_F64, .a = (int64_t)bits});
}
static inline void apply_tell_sum(const assay_teller *t, const char *name, int64_t a, int64_t b)
{
    apply_tell_step(t, (assay_told){.name = name, .kind = ASSAY_TOLD_SUM, .a = a, .b = b});
}
static inline void apply_tell_product(const assay_teller *t, const char *name, int64_t a, int64_t b)
{
    apply_tell_step(t, (assay_told){.name = name, .kind = ASSAY_TOLD_PRODUCT, .a = a, .b = b});
}

static inline void apply_tell_rounded(const assay_teller *t, uint32_t bits, int64_t to,
                                      enum assay_rounding mode)
{
    apply_tell_step(t, (assay_told){.name = "rounded",
                                    .kind = ASSAY_TOLD_ROUNDED,
                                    .a = (int64_t)bits,
                                    .b = to,
                                    .mode = mode});
}
static inline void apply_tell_rescale(const assay_teller *t, const struct assay_rescale *r,
                                      int64_t x)
{
    apply_tell_step(t, (assay_told){.kind = ASSAY_TOLD_RESCALE, .a = x, .rescale = r});
}

/* assay_round_shift and assay_round_div, told. */
static inline int64_t apply_tell_shift(const assay_teller *t, const char *name, int64_t v,
                                       unsigned bits, enum assay_rounding mode)
{
    apply_tell_step(
        t, (assay_told){
               .name = name, .kind = ASSAY_TOLD_SHIFT, .a = v, .b = (int64_t)bits, .mode = mode});
    return assay_round_shift(v, bits, mode);
}
static inline int64_t apply_tell_div(const assay_teller *t, const char *name, int64_t v, int64_t d,
                                     enum assay_rounding mode)
{
    apply_tell_step(
        t, (assay_told){.name = name, .kind = ASSAY_TOLD_QUOTIENT, .a = v, .b = d, .mode = mode});
    return assay_round_div(v, d, mode);
}

#endif
