/* Engine `both`: a node by the fast engine and by the reference, compared; see both.h. */
#include "interp/run/both.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run_both_free(assay_both *b)
{
    free(b->codes);
    free(b->accumulators);
}

static bool grow(void **memory, size_t *have, size_t count, size_t size)
{
    if (count <= *have)
        return true;
    void *more = realloc(*memory, count * size);
    if (more) {
        *memory = more;
        *have = count;
    }
    return more != NULL;
}

/* Keeps what the fast engine left in output 0. */
static bool keep(assay_both *b, const assay_call *call)
{
    const size_t bytes = assay_type_bytes(call->out[0].type);
    const size_t sums = call->accumulators ? (size_t)assay_shape_count(call->out[0].type) : 0;
    void *codes = b->codes, *accumulators = b->accumulators;
    bool ok = grow(&codes, &b->bytes, bytes, 1) &&
              grow(&accumulators, &b->sums, sums, sizeof *b->accumulators);
    b->codes = codes;
    b->accumulators = accumulators;
    if (ok && bytes)
        memcpy(b->codes, call->out[0].data, bytes);
    if (ok && sums)
        memcpy(b->accumulators, call->accumulators, sums * sizeof *b->accumulators);
    return ok;
}

/* Element i as "[1,2,3]". */
static const char *coordinates(const assay_type *t, int64_t i, char *buf, size_t size)
{
    int64_t at[ASSAY_MAX_RANK];
    size_t used = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        at[d] = i % t->dim[d];
        i /= t->dim[d];
    }
    snprintf(buf, size, "[");
    for (int d = 0; d < t->rank && used < size; d++)
        used += (size_t)snprintf(buf + used, size - used, "%s%lld", d ? "," : "", (long long)at[d]);
    if (used < size)
        snprintf(buf + used, size - used, "]");
    return buf;
}

static assay_status differ(const assay_call *call, int64_t i, const char *what, int64_t ref,
                           int64_t fast, assay_error *err)
{
    char at[160];
    return assay_fail(err, ASSAY_ERR_INTERNAL,
                      "node '%s': %s of '%s' at %s is %lld by the reference, %lld by the fast "
                      "engine",
                      call->node->name, what, assay_node_out(call->graph, call->node, 0)->name,
                      coordinates(call->out[0].type, i, at, sizeof at), (long long)ref,
                      (long long)fast);
}

static assay_status compare(const assay_both *b, const assay_call *call, assay_error *err)
{
    const assay_type *y = call->out[0].type;
    const int64_t count = assay_shape_count(y);
    for (int64_t i = 0; i < count; i++) {
        const int64_t ref = assay_elem_get(y->elem, call->out[0].data, (size_t)i);
        const int64_t fast = assay_elem_get(y->elem, b->codes, (size_t)i);
        if (call->accumulators && call->accumulators[i] != b->accumulators[i])
            return differ(call, i, "the accumulator", call->accumulators[i], b->accumulators[i],
                          err);
        if (ref != fast)
            return differ(call, i, "the code", ref, fast, err);
    }
    return ASSAY_OK;
}

assay_status run_both_engines(assay_both *b, const assay_fast *fast, const assay_kernel *ref,
                              assay_call *call, assay_error *err)
{
    assay_status status = fast->run(fast, call, err);
    if (!status && !keep(b, call))
        status = assay_out_of_memory_for(err, "node '%s': comparing the engines", call->node->name);
    if (!status)
        status = ref->run(call, err);
    return !status && !call->trapped && !call->refused ? compare(b, call, err) : status;
}
