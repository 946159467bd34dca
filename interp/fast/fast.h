/* The fast engine: the reference's bits, faster.
 *
 * Prepared once per program, a fast node holds packed weights and everything else that can be
 * computed before the input is known. It belongs to the program, is read-only while running, and
 * may run in many threads at once. Exact integer sums are reordered freely, functions of one 8- or
 * 16-bit code or of two 8-bit codes become tables, rescales of sums and element-wise functions run
 * in the scheme's vector forms, and moves and resizes work row by row. Nodes that cannot be proved
 * exact are left to the reference kernels. */
#ifndef ASSAY_INTERP_FAST_FAST_H
#define ASSAY_INTERP_FAST_FAST_H

#include "interp/fast/isa.h"
#ifdef _OPENMP
#include <omp.h>
#endif
#include "interp/kernel/kernel.h"

typedef struct assay_fast assay_fast;
/* Whether a node cares how a channels-first network's values are stored. */
enum assay_layouts {
    ASSAY_LAYOUTS_FIXED, /* as the network says */
    ASSAY_LAYOUTS_ALIKE, /* any, all inputs and outputs the same */
    ASSAY_LAYOUTS_FREE   /* input 0 and output 0 either way, independently */
};

/* The common head of all prepared nodes. */
struct assay_fast {
    assay_status (*run)(const assay_fast *f, assay_call *call, assay_error *err);
    void (*free)(assay_fast *f);
    size_t scratch; /* bytes of the call's scratch, which is 64-aligned */
    int threads;    /* of OpenMP within the node */

    enum assay_layouts layouts;
    /* Says whether input 0 and output 0 are stored channels last although the network is channels
     * first; called before any run. NULL where that makes no difference to the node. */
    void (*arrange)(assay_fast *f, bool in_last, bool out_last);
};

/* What a node is prepared from; all borrowed, and living as long as the program. */
typedef struct assay_fast_setup {
    const assay_graph *graph;
    const assay_node *node;
    const assay_scheme_vtable *vt;
    const assay_unit *unit;
    const assay_isa_kernels *kernels;
    int threads;
} assay_fast_setup;

/* *out is NULL when the node is the reference's: an accumulator whose order matters or whose sums
 * might leave int32, weights that are not constant, codes of unusual width, ops without a fast
 * form. Fails only for want of memory. */
assay_status fast_prepare(const assay_fast_setup *s, assay_fast **out, assay_error *err);
void fast_free(assay_fast *f); /* NULL is allowed */
/* Chooses which values between the nodes (fast[], NULL: the reference's) are stored channels last.
 * Then only the network's inputs and outputs hold what the graph says. False: no memory. */
bool fast_arrange(const assay_graph *g, assay_fast *const *fast);

/* One op (family) each; the same contract. */
assay_status fast_conv(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_fc(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_fc_blocks(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_matmul(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_unary(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_binary(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_max_pool(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_quantize(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_dequantize(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_transpose(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_reduce(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_resize_nearest(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_resize_linear(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_row(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_scaled_matmul(const assay_fast_setup *s, assay_fast **out, assay_error *err);
assay_status fast_avg_pool(const assay_fast_setup *s, assay_fast **out, assay_error *err);

/* ---- small things that they share ---- */

/* Whether the scheme may refuse accumulators of `sums`: the node is then left to the reference,
 * which checks each of them. */
static inline bool fast_may_refuse(const assay_fast_setup *s, assay_interval sums)
{
    return ASSAY_SCHEME_HAS(s->vt, facts, may_refuse) && s->vt->facts->may_refuse(s->unit, sums);
}

/* Codes of t less its zero point, one for all. */
static inline assay_interval fast_codes_of(const assay_type *t)
{
    const int64_t zero = t->q.granularity == ASSAY_Q_NONE ? 0 : t->q.zero_point[0];
    return (assay_interval){assay_elem_min(t->elem) - zero, assay_elem_max(t->elem) - zero};
}

/* Zeroed memory, 64-aligned; NULL when out of memory. Released with free(). */
void *fast_alloc(size_t bytes);
assay_status fast_memory(const assay_fast_setup *s, assay_error *err);

/* Which of so many workers of fast_each this is: its part of the scratch. One worker has no
 * region of its own, and may be any thread of the caller's. */
static inline size_t fast_worker(int workers)
{
#ifdef _OPENMP
    return workers > 1 ? (size_t)omp_get_thread_num() : 0;
#else
    (void)workers;
    return 0;
#endif
}

/* Stored in one byte. */
static inline bool fast_is_byte(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 8;
}

/* Threads worth waking for so much work (in cycles or so). */
static inline int fast_threads(int threads, int64_t work)
{
    return work < 50000 ? 1 : threads;
}

/* body(user, i) for i = 0 .. n - 1, each worker its part in order. For one there is no parallel
 * region: its end is a system call, even with one thread. */
void fast_each(int workers, int64_t n, void (*body)(void *user, int64_t i), void *user);

/* The code that a byte stands for, and whether it is one of element e. */
static inline bool fast_code(assay_elem e, int byte, int32_t *code)
{
    *code = e.is_signed ? (int8_t)byte : byte;
    return *code >= assay_elem_min(e) && *code <= assay_elem_max(e);
}

/* The scheme's vector form of the node's binary or unary on rows of codes, or NULL. */
assay_codes_fn fast_codes(const assay_fast_setup *s);

#endif
