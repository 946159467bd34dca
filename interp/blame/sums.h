/* Accumulators that a device dumped, where it did not dump the node's output and beside it. */
#ifndef ASSAY_INTERP_BLAME_SUMS_H
#define ASSAY_INTERP_BLAME_SUMS_H

#include "interp/blame/layouts.h"
#include "interp/golden/dumps.h"

/* Those of tensor i of the golden bundle, into to->sums and to->golden_sums; nothing where there
 * are none or the bundle has none of its own. *at: the dump, or -1; *found: what it holds. Its
 * layout is counted in by_rank. ASSAY_ERR_INPUT: another shape, or neither int32 nor int64. */
assay_status blame_sums_of_dumps(const assay_bundle *golden, int i, const assay_dumps *dumps,
                                 int *at, assay_type *found, blame_layouts *by_rank,
                                 blame_tensor *to, assay_error *err);
/* The same from entry `at` of another bundle. */
assay_status blame_sums_of_bundle(const assay_bundle *golden, int i, const assay_bundle *other,
                                  int at, blame_layouts *by_rank, blame_tensor *to,
                                  assay_error *err);

/* What the node's consumers are replayed from: the device's sums, the replay's where they were not
 * observed, through the golden rescale. in: the node's inputs. t->replayed where the two do not go
 * together. */
assay_status blame_sums_believe(const blame_device *d, const assay_node *n, const void *const *in,
                                blame_tensor *t, assay_error *err);
#endif
