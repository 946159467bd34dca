/* Vocabulary of all layers: status and error, element kinds and tensor types.
 *
 * Public: users get it through assay.h. It includes none of Assay's other headers. */
#ifndef ASSAY_GRAPH_BASE_H
#define ASSAY_GRAPH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* the library hides every symbol but those declared so */
#endif

#define ASSAY_VERSION  "0.1.0"
#define ASSAY_MAX_RANK 6

/* ---- status and errors ------------------------------------------------------------------- */

typedef enum assay_status {
    ASSAY_OK = 0,
    ASSAY_ERR_INPUT,       /* malformed or inconsistent input: file, model, profile, arguments */
    ASSAY_ERR_UNSUPPORTED, /* well-formed, but with an unsupported op, type or attribute */
    ASSAY_ERR_IO,          /* cannot open, read, write or rename; disk full */
    ASSAY_ERR_MEMORY,      /* allocation failed */
    ASSAY_ERR_LIMIT,       /* a size above the accepted limit */
    ASSAY_ERR_SCHEME,      /* the scheme refuses a width or a range, or traps on overflow */
    ASSAY_ERR_INTERNAL     /* a broken invariant of Assay itself: please report */
} assay_status;

typedef struct assay_error {
    assay_status status;
    char text[768]; /* one line without a final newline; lists are separated by semicolons */
} assay_error;

/* Fills *err (may be NULL) and returns `status`, so that callers can `return assay_fail(...)`. */
assay_status assay_fail(assay_error *err, assay_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* ---- types ------------------------------------------------------------------------------- */

typedef enum assay_kind {
    ASSAY_KIND_NONE = 0, /* no value: an absent optional input */
    ASSAY_KIND_INT,      /* integer of `bits` 1..32 or 64, signed or not; codes or indices */
    ASSAY_KIND_F32,
    ASSAY_KIND_BOOL,
    /* Small floats: an element is an unsigned bit pattern, `bits` of which are used. */
    ASSAY_KIND_F16,
    ASSAY_KIND_BF16,
    ASSAY_KIND_TF32, /* an f32 of which only the upper 19 bits are read */
    ASSAY_KIND_F8E4M3FN,
    ASSAY_KIND_F8E4M3FNUZ,
    ASSAY_KIND_F8E5M2,
    ASSAY_KIND_F8E5M2FNUZ,
    ASSAY_KIND_F6E3M2,
    ASSAY_KIND_F6E2M3,
    ASSAY_KIND_F4E2M1,
    ASSAY_KIND_F8E8M0, /* a scale: a power of two */
    ASSAY_KIND_INT8MX  /* MX's INT8: two's complement, in units of 2^-6 */
} assay_kind;

typedef struct assay_elem {
    uint8_t kind; /* assay_kind */
    uint8_t bits;
    bool is_signed;
} assay_elem;

typedef enum assay_granularity {
    ASSAY_Q_NONE = 0, /* not quantized */
    ASSAY_Q_TENSOR,   /* one scale and zero point */
    ASSAY_Q_AXIS,     /* one of each per index of `axis` */
    ASSAY_Q_BLOCK     /* one of each per run of `block` indices along `axis`, in C order */
} assay_granularity;

/* real = scale[i] * (q - zero_point[i]); `count` entries, owned by the owner of the type. */
typedef struct assay_qparams {
    assay_granularity granularity;
    int axis;
    int64_t block;
    size_t count;
    const float *scale;
    const int32_t *zero_point;
} assay_qparams;

typedef struct assay_type {
    assay_elem elem;
    int rank;
    int64_t dim[ASSAY_MAX_RANK];
    assay_qparams q;
} assay_type;

/* ---- networks: their contents are declared in graph/core/graph.h ------------------------- */

typedef struct assay_graph assay_graph;
void assay_graph_free(assay_graph *g);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
