/* Vocabulary of every floor: status and error, element kinds and tensor types.
 *
 * Public: users get it through assay.h. It includes nothing of ours. */
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
    ASSAY_ERR_UNSUPPORTED, /* well-formed, but an op, type or attribute that is not supported */
    ASSAY_ERR_IO,          /* cannot open, read, write, rename; disk full */
    ASSAY_ERR_MEMORY,      /* allocation failed */
    ASSAY_ERR_LIMIT,       /* a size beyond what is accepted */
    ASSAY_ERR_SCHEME,      /* the scheme refuses: a width, a range, a trap on overflow */
    ASSAY_ERR_INTERNAL     /* a broken invariant of ours: please report */
} assay_status;

typedef struct assay_error {
    assay_status status;
    char text[768]; /* one line without a final newline; lists are parted by semicolons */
} assay_error;

/* Fills *err (may be NULL) and returns `status`, so that a caller can `return assay_fail(...)`. */
assay_status assay_fail(assay_error *err, assay_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* ---- types ------------------------------------------------------------------------------- */

typedef enum assay_kind {
    ASSAY_KIND_NONE = 0, /* no value: an optional input that is absent */
    ASSAY_KIND_INT,      /* integer of `bits` 1..32 or 64, signed or not; codes or indices */
    ASSAY_KIND_F32,
    ASSAY_KIND_BOOL,
    /* Small floats: an element is its pattern, unsigned, of which `bits` are used. */
    ASSAY_KIND_F16,
    ASSAY_KIND_BF16,
    ASSAY_KIND_TF32, /* an f32 of which the upper 19 bits are read */
    ASSAY_KIND_F8E4M3FN,
    ASSAY_KIND_F8E4M3FNUZ,
    ASSAY_KIND_F8E5M2,
    ASSAY_KIND_F8E5M2FNUZ,
    ASSAY_KIND_F6E3M2,
    ASSAY_KIND_F6E2M3,
    ASSAY_KIND_F4E2M1,
    ASSAY_KIND_F8E8M0, /* scales: a power of two */
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
    ASSAY_Q_AXIS,     /* one for each index of `axis` */
    ASSAY_Q_BLOCK     /* one for each run of `block` indices along `axis`, C order otherwise */
} assay_granularity;

/* real = scale[i] * (q - zero_point[i]); `count` entries, owned by whoever owns the type. */
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

/* ---- networks: graph/core/graph.h says what is in one ------------------------------------ */

typedef struct assay_graph assay_graph;
void assay_graph_free(assay_graph *g);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
