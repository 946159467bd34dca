/* The parameters of mac.def as a table: their words, their values in a record, and contradictions.
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
/* Sets every default; ASSAY_MAC_MUST where there is none. */
assay_mac mac_defaults(void);

/* Sets p's value from a word (an order has none: nothing is set); false if the word is not a value.
 */
bool mac_parse(const assay_mac_parameter *p, const char *text, int64_t *out);
/* Text for messages: what is expected as p's value; `out` is room for it. */
const char *mac_expected(const assay_mac_parameter *p, char *out, size_t size);
/* The value of p in m as a unit file writes it. */
void mac_print(const assay_mac_parameter *p, const assay_mac *m, char *out, size_t size);

/* The number of words of p's choice; 0 if p is not a choice. */
int64_t mac_choices(const assay_mac_parameter *p);

/* A fault that only several parameters together have, in one line; or NULL. */
const char *mac_contradiction(const assay_mac *m);
/* Sets the parameters that nothing reads in m to their defaults (NEED of mac.def). */
void mac_drop_unread(assay_mac *m);

#endif
