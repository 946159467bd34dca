/* Cases of shape and type inference: a graph in the text form, and the refusal or none. */
#ifndef ASSAY_TEST_INFER_CASES_H
#define ASSAY_TEST_INFER_CASES_H

#include <stddef.h>

typedef struct infer_case {
    const char *inputs; /* items before the node */
    const char *node;   /* the node */
    const char *refusal;
} infer_case;

#define X4 "input x: f32[2,6,8,10]"
#define Q  "q(0.5,3)"

extern const infer_case infer_elements[], infer_moves[];
extern const size_t infer_n_elements, infer_n_moves;

#endif
