/* Common parts of passes: uses, constants, changing a node in place. Internal to opt/. */
#ifndef ASSAY_OPT_PASS_H
#define ASSAY_OPT_PASS_H

#include "graph/core/arena.h"
#include "opt/lower/opt.h"

/* A constant of the network: data that no run changes. */
static inline bool lower_is_constant(const assay_graph *g, int value)
{
    return value >= 0 && g->value[value].data && !g->value[value].is_variable;
}

static inline bool lower_is_f32_constant(const assay_graph *g, int value)
{
    return lower_is_constant(g, value) && g->value[value].type.elem.kind == ASSAY_KIND_F32;
}

/* Uses of every value, graph outputs included; malloc'd, NULL when out of memory. */
int *lower_rewrite_uses(const assay_graph *g);

/* Marks for nodes to drop; malloc'd and clear, with room for `extra` nodes to come. */
bool *lower_rewrite_dead(const assay_graph *g, int extra);

/* Makes `node` the producer of value `out` instead of its output 0 (which loses its producer). */
void lower_rewrite_output(assay_graph *g, int node, int out);

/* Replaces input `slot` of a node, which may be one past its last. */
assay_status lower_rewrite_input(assay_graph *g, int node, int slot, int value, assay_error *err);

/* Adds a constant named BASE:SUFFIX. `data` as for assay_graph_add_constant. */
assay_status lower_rewrite_constant(assay_graph *g, const char *base, const char *suffix,
                                    const assay_type *type, const void *data, int *id,
                                    assay_error *err);

/* Nodes that only index need no arithmetic of the target. */
bool lower_needs_target(const assay_node *n);

/* Puts the attributes of an op on codes into the target's terms: where padding of an average pool
 * counts, whether what ceil_mode hangs over does. */
void lower_fit_attributes(const assay_scheme *s, const assay_graph *g, assay_node *n);

/* Whether the target can compute node n of g (*can): by its declaration, and by preparing a unit.
 * When it cannot, `why` (`size` bytes) says so in words. ASSAY_ERR_MEMORY: undecided. */
assay_status lower_target_computes(const assay_scheme *s, const assay_graph *g, const assay_node *n,
                                   bool *can, char *why, size_t size, assay_error *err);

#endif
