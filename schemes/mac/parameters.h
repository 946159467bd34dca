/* The parameters of mac.def as a table: their words, their values in a record, what contradicts.
 */
#ifndef ASSAY_SCHEMES_MAC_PARAMETERS_H
#define ASSAY_SCHEMES_MAC_PARAMETERS_H

#include "schemes/mac/mac.h"

#define ASSAY_MAC_CHOICE_ID(KIND, words) ASSAY_MAC_##KIND,
enum assay_mac_parameter_kind {
    ASSAY_MAC_FORMAT,
    ASSAY_MAC_MODE,
    ASSAY_MAC_MODE_OR_NONE,
    ASSAY_MAC_INT,
    ASSAY_MAC_INT_OR_NONE,
    ASSAY_MAC_PATTERN,
    ASSAY_MAC_ORDER,
    ASSAY_MAC_CHOICES(ASSAY_MAC_CHOICE_ID)
};

/* A line of mac.def. */
typedef struct assay_mac_parameter {
    const char *name;
    enum assay_mac_parameter_kind kind;
    int64_t min, max, value;
    size_t offset;
    const char *doc;
} assay_mac_parameter;

const assay_mac_parameter *mac_parameters(size_t *n);
int64_t *mac_member(assay_mac *m, const assay_mac_parameter *p);
/* Every default; ASSAY_MAC_MUST where there is none. */
assay_mac mac_defaults(void);

/* Sets a value (for an order: nothing) from its word; false if the word is not a value. */
bool mac_parse(const assay_mac_parameter *p, const char *text, int64_t *out);
/* What is expected of p's value; `out` is room for it. */
const char *mac_expected(const assay_mac_parameter *p, char *out, size_t size);
/* The value of p in m as a unit file has it. */
void mac_print(const assay_mac_parameter *p, const assay_mac *m, char *out, size_t size);

/* How many words p's choice has; 0 where p is not a choice. */
int64_t mac_choices(const assay_mac_parameter *p);

/* What no parameter can say alone: the fault in one line, or NULL. */
const char *mac_contradiction(const assay_mac *m);
/* Puts every parameter that nothing reads in m to its default (NEED of mac.def). */
void mac_drop_unread(assay_mac *m);

#endif
