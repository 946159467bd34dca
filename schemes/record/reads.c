/* Fields and the conditions under which they are read; see reads.h. */
#include "schemes/record/reads.h"

#include <string.h>

static bool is_integer(const assay_record *r)
{
    const int32_t e = r->rescale.encoding;
    return e == ASSAY_ENCODE_MULTIPLIER || e == ASSAY_ENCODE_SHIFT || e == ASSAY_ENCODE_GLOW;
}

#define add_is(r, kind_) ((r)->add.kind == ASSAY_ADD_##kind_)

#define WHEN(ID, condition, words) WHEN_##ID,
enum when {
#include "schemes/record/reads.def"
};

#define WHEN(ID, condition, words) words,
static const char *const words[] = {
#include "schemes/record/reads.def"
};

#define READ(section, field, ID) {offsetof(assay_record, section.field), WHEN_##ID},
static const struct {
    size_t offset;
    enum when when;
} rows[] = {
#include "schemes/record/reads.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows };

static bool holds(const assay_record *r, enum when when)
{
    switch (when) {
#define WHEN(ID, condition, words)                                                                 \
    case WHEN_##ID:                                                                                \
        return condition;
#include "schemes/record/reads.def"
    }
    return true;
}

const char *assay_reads_not(const assay_record *r, const assay_field *f)
{
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i].offset == f->offset)
            return holds(r, rows[i].when) ? NULL : words[rows[i].when];
    return NULL;
}

void assay_reads_normalize(assay_record *r)
{
    assay_record plain;
    assay_record_default(&plain);
    for (int i = 0; i < N_ROWS; i++)
        if (!holds(r, rows[i].when))
            memcpy((char *)r + rows[i].offset, (const char *)&plain + rows[i].offset,
                   sizeof(int32_t));
}
