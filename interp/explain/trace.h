/* The steps of an element, as words (steps.c, told.c). */
#ifndef ASSAY_INTERP_EXPLAIN_TRACE_H
#define ASSAY_INTERP_EXPLAIN_TRACE_H

#include "schemes/apply/unit.h"

typedef struct explain_step {
    char *name; /* "product", "rounding 1", ...; of the same in binary "product, binary" */
    char *text;
} explain_step;

typedef struct explain_trace {
    int n;
    explain_step *step;
    int64_t value; /* the element as computed: a code, or a float's bits */
    bool is_float; /* of the output */
    bool short_of_memory;
    const char *honest; /* why there are no more steps; NULL: they lead to the code */
} explain_trace;

/* Adds a step; also for callers that continue where the node ends. */
void explain_say(explain_trace *t, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for texts that were allocated, which the trace takes; NULL: out of memory. */
void explain_add(explain_trace *t, char *name, char *text);
/* The value in words: a code, or a float. */
void explain_say_value(explain_trace *t, const char *name, int64_t value);
/* A step that a function of unit u told. */
void explain_say_told(explain_trace *t, const assay_unit *u, const assay_told *step);
void explain_trace_free(explain_trace *t);

#endif
