/* Steps that a scheme's own functions told (schemes/apply/tell.h), as words. */
#include <inttypes.h>
#include <math.h>

#include "interp/explain/forms.h"

void explain_say_told(explain_trace *t, const assay_unit *u, const assay_told *step)
{
    const char *name = step->name;
    const int64_t a = step->a, b = step->b;
    switch (step->kind) {
    case ASSAY_TOLD_INTEGER:
        explain_say(t, name, "%" PRId64, a);
        break;
    case ASSAY_TOLD_FIXED:
        explain_say(t, name, "%" PRId64 " / 2^%" PRId64 " = %.9g", a, b, ldexp((double)a, -(int)b));
        break;
    case ASSAY_TOLD_F32:
        explain_say(t, name, "%.9g (0x%08" PRIx32 ")", explain_real((uint32_t)a), (uint32_t)a);
        break;
    case ASSAY_TOLD_F64:
        explain_say(t, name, "%.17g (0x%016" PRIx64 ")", explain_real64((uint64_t)a), (uint64_t)a);
        break;
    case ASSAY_TOLD_SUM:
        explain_say(t, name, "%" PRId64 " + %" PRId64 " = %" PRId64, a, b, a + b);
        break;
    case ASSAY_TOLD_PRODUCT:
        explain_say(t, name, "%" PRId64 " * %" PRId64 " = %" PRId64, a, b, a * b);
        break;
    case ASSAY_TOLD_SHIFT:
        explain_say_shift(t, name, a, (unsigned)b, step->mode);
        break;
    case ASSAY_TOLD_QUOTIENT:
        explain_say_quotient(t, name, a, b, step->mode);
        break;
    case ASSAY_TOLD_ROUNDED:
        explain_say(t, name, "%.9g (0x%08" PRIx32 ") -> %" PRId64 ", %s", explain_real((uint32_t)a),
                    (uint32_t)a, b, assay_rounding_name(step->mode));
        break;
    case ASSAY_TOLD_BOUNDS:
        explain_say(t, "bounds", "%" PRId64 "..%" PRId64, a, b);
        break;
    case ASSAY_TOLD_RESCALE:
        explain_say_rescale(t, u, &(explain_rescale){.r = step->rescale, .acc = a});
        break;
    }
}
