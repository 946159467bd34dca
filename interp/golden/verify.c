/* Verifying a bundle: its files against its manifest, and its manifest against a fresh run. */
#include "interp/golden/verify.h"

#include <string.h>

/* A network or an input that was tampered with may not run at all: that is the fault that its file
 * was found with already. */
static bool is_known_fault(const assay_verify_result *r, assay_status status)
{
    return status && r->files_bad > 0 && status != ASSAY_ERR_IO && status != ASSAY_ERR_MEMORY &&
           status != ASSAY_ERR_INTERNAL;
}

assay_status golden_bundle_verify(const char *dir, const assay_program_options *engine,
                                  void (*report)(void *, const char *), void *user,
                                  assay_verify_result *out, assay_error *err)
{
    assay_bundle *b;
    assay_error inner = {0};
    assay_status status = golden_bundle_open(dir, &b, err);

    memset(out, 0, sizeof *out);
    if (status)
        return status;
    const assay_verifier c = {b, report, user, out};
    out->tensors = b->n_tensors;
    status = golden_verify_files(&c, &inner);
    if (!status && engine) {
        status = golden_verify_replay(&c, engine, &inner);
        if (is_known_fault(out, status)) {
            out->entries_bad++;
            golden_verifier_say(&c, "a fresh run", "%s", inner.text);
            status = ASSAY_OK;
        }
    }
    if (status && err)
        *err = inner;
    golden_bundle_free(b);
    return status;
}
