/* The layout of a device's dumps where their shape does not show it: channels as many as
 * rows and columns, and files of bytes or hex, which have no shape. */
#ifndef ASSAY_INTERP_BLAME_LAYOUTS_H
#define ASSAY_INTERP_BLAME_LAYOUTS_H

#include "interp/blame/device.h"

/* How many dumps of a rank had a shape that says: golden's, channels first of golden's last [0],
 * and last of golden's first [1]. */
typedef struct blame_layouts {
    int straight, transposed[2];
} blame_layouts;

/* Counts a dump of shape `found`. by_rank [ASSAY_MAX_RANK + 1]. */
void blame_layouts_count(blame_layouts *by_rank, const assay_type *golden, const assay_type *found);
/* Dumps of codes, floats and accumulators whose shape is that of several layouts are transposed
 * where those of their rank are; where these differ, or there are none, but the device's other
 * dumps are transposed, where it brings more elements to golden's. Dumps without a shape are in the
 * layout in which most of those of their rank are golden's tensors, golden's own before others. */
assay_status blame_layouts_arrange(blame_device *d, const blame_layouts *by_rank, assay_error *err);

#endif
