/* All that is asked of two schemes; see pair.h. */
#include "interp/decide/pair.h"

assay_status decide_compare(decide_pair *p, const decide_question *q, assay_error *err)
{
    assay_status status = ASSAY_OK;
    decide_records(p, q);
    if (q->scales > 0)
        status = decide_scales(p, q, err);
    if (!status && q->graph)
        status = decide_nodes(p, q->graph, err);
    return status;
}
