/* Set-up of float kernels, once a program. */
#ifndef ASSAY_INTERP_FLOAT_SETUP_H
#define ASSAY_INTERP_FLOAT_SETUP_H

/* Keeps the BLAS library, which is the process's, to one thread a call: images run side by side. */
void float_single_thread(void);

#endif
