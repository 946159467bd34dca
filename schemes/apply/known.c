/* Records that the short forms of arithmetic may compute; see known.h. */
#include "schemes/apply/known.h"

#include <string.h>

#define KNOWN(section, field)                                                                      \
    {offsetof(assay_record, section.field), sizeof(((assay_record *)0)->section.field)},
static const apply_place places[] = {
#include "schemes/apply/known.def"
};

const apply_place *apply_known(size_t *n)
{
    *n = sizeof places / sizeof *places;
    return places;
}

bool apply_is_plain_beside(const assay_record *r, const assay_record *plain,
                           const apply_place *known, size_t n)
{
    assay_record like = *plain;
    like.types = r->types;
    like.accepts = r->accepts;
    for (size_t i = 0; i < n; i++)
        memcpy((char *)&like + known[i].offset, (const char *)r + known[i].offset, known[i].size);
    return memcmp(&like, r, sizeof like) == 0;
}
