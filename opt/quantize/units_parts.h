/* Parts of units.c: nodes of a network for matrix units, and operands of its products. */
#ifndef ASSAY_OPT_QUANTIZE_UNITS_PARTS_H
#define ASSAY_OPT_QUANTIZE_UNITS_PARTS_H

#include "graph/core/graph.h"
#include "schemes/mac/scheme.h"

typedef struct units_maker {
    assay_graph *g;
    const assay_mac_scheme *s;
    const char *prefix; /* of names: the node's output */
    int first_made;     /* nodes from here on are made here */
    assay_error *err;
    int n_given;          /* values of the network; those from here on are made here */
    const bool *constant; /* of them: a constant, or computed of constants alone */
} units_maker;

/* Patterns under scales; block: what shares one. Values; scale of scales: ASSAY_NO_VALUE where
 * there is none. */
typedef struct units_operand {
    int codes, scale, second;
    assay_list block;
} units_operand;

/* The scale 1 for all of such a value, a constant "BASE:SUFFIX": one that the network has under
 * that name, or a new one, with ":made" behind its name where another value has it. */
assay_status quantize_units_one(units_maker *m, const assay_type *scaled, const char *base,
                                const char *suffix, int *out);

/* Of every value whether it is a constant, or computed of constants alone: malloc'd, NULL without
 * memory. */
bool *quantize_units_constants(const assay_graph *g);
enum { UNITS_NAME = 512 };
/* "BASE:SUFFIX", and `again` "BASE:SUFFIX:made". */
assay_status quantize_units_name(units_maker *m, const char *base, const char *suffix, bool again,
                                 char name[UNITS_NAME]);
/* The failure of a name that the network has. */
assay_status quantize_units_taken(units_maker *m, const char *name);
/* Node `op` on n inputs; its one output is "BASE:SUFFIX", with ":made" behind it where the network
 * has that name, or the value that such a node gave before. */
assay_status quantize_units_add(units_maker *m, assay_op op, const int *in, int n_in,
                                const char *base, const char *suffix, const assay_attrs *attr,
                                int *out);

/* The patterns and scales that value x was decoded from and only moved since: moved likewise, into
 * *o. *is: whether there are such; nothing else is set where there are none. */
assay_status quantize_units_given(units_maker *m, int x, units_operand *o, bool *is);

/* The unit for a product of two operands as they were given (NULL: patterns are to be made); NULL:
 * the scheme has none that takes them. k: the elements of a row. */
const assay_mac *quantize_units_taking(const units_maker *m, const units_operand *a,
                                       const units_operand *b, int64_t k);

#endif
