/* Cost of quantizing each node: alone, among all others, and in place. */
#ifndef ASSAY_INTERP_SENSITIVITY_H
#define ASSAY_INTERP_SENSITIVITY_H

#include "interp/measure/fidelity.h"
#include "opt/quantize/quantize.h"

/* What to quantize, how, and the samples to judge it on. */
typedef struct assay_trial {
    const assay_graph *floating; /* canonical */
    const assay_profile *profile;
    const assay_scheme *scheme;
    const assay_quantize_options *options;
    const assay_samples *samples;
    int threads; /* over samples; 0: all cores */
    assay_recorded
        *recorded; /* the float outputs, for several trials with these samples; or NULL */
} assay_trial;

/* Quantizes, runs both networks, and compares. sqnr of values by name: name[k] is one of the float
 * network, and its codes have the same name in the integer one; NaN where there are none. *made
 * receives the integer network unless NULL; report as in quantize_network. */
assay_status measure_trial_run(const assay_trial *t, const char *const *name, int n, double *sqnr,
                               assay_fidelity *out, assay_graph **made,
                               assay_quantize_report *report, assay_error *err);

typedef struct assay_sensitivity_row {
    char *node, *op, *value; /* the integer node and the value that it makes */
    assay_elem elem;         /* of its codes */
    double isolated;         /* dB of its own output when all else is float */
    double cumulative;       /* dB of its own output in the whole integer network */
    assay_fidelity alone;    /* of the network when this node is the only integer one */
    assay_fidelity without;  /* of the network when this node is the only float one */
} assay_sensitivity_row;

typedef struct assay_sensitivity {
    assay_fidelity whole;
    int n;
    assay_sensitivity_row *row; /* in execution order; nodes that only index are left out */
} assay_sensitivity;
void measure_sensitivity_free(assay_sensitivity *s);

/* Measures every node that t's options make an integer one, with the activation that is fused into
 * it. `step`, when not NULL, is called before each of the 2n + 1 measurements. Isolated is NaN for
 * a node that is not quantized when it is alone. */
assay_status measure_sensitivity_measure(const assay_trial *t,
                                         void (*step)(void *, int done, int of), void *user,
                                         assay_sensitivity *out, assay_error *err);

#endif
