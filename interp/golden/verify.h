/* Verifying a bundle: what verify.c, verify_files.c and verify_replay.c share. */
#ifndef ASSAY_INTERP_VERIFY_H
#define ASSAY_INTERP_VERIFY_H

#include "interp/golden/bundle.h"

typedef struct assay_verifier {
    const assay_bundle *bundle;
    void (*report)(void *, const char *);
    void *user;
    assay_verify_result *out;
} assay_verifier;

/* One line for a fault: "WHAT: FAULT". */
void golden_verifier_say(const assay_verifier *c, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Every file that the manifest names against its digest and its other forms; files that it does not
 * name; the manifest against its own digest. ASSAY_ERR_IO where a file is there and cannot be read.
 */
assay_status golden_verify_files(const assay_verifier *c, assay_error *err);

/* What the manifest says against what it would say of a fresh run. */
assay_status golden_verify_replay(const assay_verifier *c, const assay_program_options *engine,
                                  assay_error *err);

#endif
