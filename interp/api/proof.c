/* Certificates, checked. */
#include "opt/check/proof.h"
#include "interp/api/options.h"
#include "interp/api/report.h"

assay_status assay_check_proof(const char *name, const char *certificate, size_t size,
                               const assay_graph *model, const assay_graph *result,
                               const assay_scheme *plugin, bool *good, char **report,
                               assay_error *err)
{
    const assay_proof_networks networks = {.model = model, .result = result, .plugin = plugin};
    assay_proof_report found = {0};
    assay_error why;
    const assay_status status = check_proof(certificate, size, name, &networks, &found, &why);

    if (report)
        *report = NULL;
    if (status && status != ASSAY_ERR_INPUT) {
        if (err)
            *err = why;
        return status;
    }
    *good = !status;
    if (!report)
        return ASSAY_OK;
    return assay_text_of_json(assay_proof_json(&found, *good ? NULL : why.text), report, err);
}
