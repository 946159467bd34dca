/* The parameter record: a target's arithmetic as plain numbers.
 *
 * Made from record.def, where each parameter is documented. All fields are int32 (enumerations,
 * numbers, yes/no) except lists of rounding steps. Integers only: apply/ includes this. */
#ifndef ASSAY_SCHEMES_RECORD_H
#define ASSAY_SCHEMES_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_MAX_STEPS 3

/* Up to three roundings, each discarding `bits` low bits (0: all that remain) by `mode`, an
 * enum assay_rounding. */
typedef struct assay_steps {
    int32_t n;
    struct {
        int32_t bits, mode;
    } step[ASSAY_MAX_STEPS];
} assay_steps;

#define ENUM(name)                                                                                 \
    enum assay_##name                                                                              \
    {
#define VALUE(ID, text) ASSAY_##ID,
#define ENUM_END(name)                                                                             \
    }                                                                                              \
    ;
#include "schemes/record/record.def"

#define SECTION(name, doc) typedef struct assay_rule_##name {
#define SECTION_END(name)                                                                          \
    }                                                                                              \
    assay_rule_##name;
#define FIELD(section, name, kind, of, min, max, value, doc) int32_t name;
#define STEPS(section, name, value, doc)                     assay_steps name;
#include "schemes/record/record.def"

typedef struct assay_record {
#define SECTION(name, doc) assay_rule_##name name;
#include "schemes/record/record.def"
} assay_record;

/* ---- reflection (record.c) ---- */

enum assay_field_kind { ASSAY_FIELD_INT, ASSAY_FIELD_BOOL, ASSAY_FIELD_ENUM, ASSAY_FIELD_STEPS };

typedef struct assay_field {
    const char *section, *name, *doc;
    enum assay_field_kind kind;
    const char *const *choices; /* ENUM: texts, NULL at the end; value = index */
    int32_t min, max;           /* INT */
    size_t offset;              /* in assay_record */
} assay_field;

typedef union assay_field_value {
    int32_t number;
    assay_steps steps;
} assay_field_value;

/* The fields in order; *n receives their number. */
const assay_field *assay_record_fields(size_t *n);
/* Index of a field, or -1. */
int assay_record_find(const char *section, const char *name);
bool assay_record_has_section(const char *section);
const char *assay_record_section_doc(const char *section);
void assay_record_default(assay_record *r);

assay_field_value assay_record_get(const assay_record *r, const assay_field *f);
void assay_record_set(assay_record *r, const assay_field *f, assay_field_value v);
bool assay_field_equal(const assay_field *f, assay_field_value a, assay_field_value b);

/* A value as text, as the YAML form has it: "31", "yes", "wrap", "[31 half-up, half-away]". */
void assay_field_print(const assay_field *f, assay_field_value v, char *buf, size_t size);
/* The reverse for one scalar text; for STEPS one step is appended to v->steps. When it fails,
 * `why` says what was expected. */
bool assay_field_parse(const assay_field *f, const char *text, assay_field_value *v, char *why,
                       size_t size);
/* Whether the record makes sense as a whole; when not, `why` says what is possible. */
bool assay_record_check(const assay_record *r, char *why, size_t size);

#endif
