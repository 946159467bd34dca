/* Faults of a model, things not supported, and the bound of the work that one may make. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/tflite/model/model.h"

assay_status tfl_charge(tfl_import *m, uint64_t amount)
{
    if (amount > m->budget)
        return assay_fail(m->err, ASSAY_ERR_LIMIT,
                          "%s: tensors share so many bytes of the file that the network would be "
                          "far larger than the file",
                          m->name);
    m->budget -= amount;
    return ASSAY_OK;
}

assay_status tfl_no_memory(tfl_import *m)
{
    return assay_out_of_memory(m->err);
}

/* ---- faults ---- */

const char *tfl_op_name(const tfl_op *op)
{
    return op->n_out > 0 && op->out[0] >= 0 ? op->m->tensors.at[op->out[0]].name : "";
}

/* "subgraph 2: " inside a body of control flow. */
static const char *place_of(const tfl_import *m, char text[40])
{
    text[0] = '\0';
    if (m->depth || m->inlined)
        snprintf(text, 40, "subgraph %d: ", m->subgraph);
    return text;
}

assay_status tfl_fail(const tfl_op *op, const char *format, ...)
{
    char text[400], place[40];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(op->m->err, ASSAY_ERR_INPUT, "%s: %soperator %d (%s, '%.120s'): %s",
                      op->m->name, place_of(op->m, place), op->index, op->kind, tfl_op_name(op),
                      text);
}

#define MAX_FAULTS 256

assay_status tfl_unsupported(const tfl_op *op, const char *format, ...)
{
    tfl_import *m = op->m;
    char reason[200], text[sizeof m->why], place[40];
    tfl_fault *f = NULL;
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    snprintf(text, sizeof text, "%s%.100s%s%s", place_of(m, place), op->kind, *reason ? ": " : "",
             reason);
    memcpy(m->why, text, sizeof text);
    for (int i = 0; !f && i < m->n_faults; ++i)
        if (strcmp(m->fault[i].what, text) == 0)
            f = &m->fault[i];
    if (!f && m->n_faults == MAX_FAULTS) {
        ++m->hidden_faults;
        return ASSAY_ERR_UNSUPPORTED;
    }
    if (!m->fault)
        m->fault = assay_arena_array(m->temp, MAX_FAULTS, sizeof *m->fault);
    if (!m->fault)
        return tfl_no_memory(m);
    if (!f) {
        f = &m->fault[m->n_faults];
        f->what = assay_arena_string(m->temp, text);
        if (!f->what)
            return tfl_no_memory(m);
        ++m->n_faults;
    }
    if (f->count < (int)(sizeof f->first / sizeof *f->first))
        f->first[f->count] = op->index;
    ++f->count;
    return ASSAY_ERR_UNSUPPORTED;
}
