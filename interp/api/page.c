/* A report of files as a page, or as node data. */
#include <limits.h>

#include "interp/api/options.h"
#include "interp/report/report.h"

assay_status assay_write_report(const char *const *file, size_t n, const char *page,
                                const assay_report_options *options, assay_error *err)
{
    assay_report_options o;
    report *r = NULL;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    if (!status && (n == 0 || n > INT_MAX))
        status = assay_fail(err, ASSAY_ERR_INPUT, "a report cannot be made of %zu files", n);
    if (!status)
        status =
            report_open(file, o.name ? o.name : file, (int)n, o.tensors ? o.tensors : "*", &r, err);
    if (!status && page)
        status = report_write_html(r, page, err);
    if (!status && o.model_explorer)
        status = report_write_explorer(r, o.model_explorer, err);
    report_free(r);
    return status;
}
