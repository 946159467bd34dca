/* Range of the codes of a choice of parameters. */
#include "opt/calibrate/qparams.h"

void calibrate_choice_codes(const assay_choice *c, int64_t *lo, int64_t *hi)
{
    assay_elem e = c->elem;
    if (e.bits > 30)
        e.bits = 30;
    *lo = assay_elem_min(e) + (c->narrow && e.is_signed ? 1 : 0);
    *hi = assay_elem_max(e);
}
