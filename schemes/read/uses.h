/* Parts of a scheme file that the records in force read. */
#ifndef ASSAY_SCHEMES_USES_H
#define ASSAY_SCHEMES_USES_H

#include "schemes/prepare/asks.h"
#include "schemes/read/read.h"

/* While a file is read: drops what it inherited and no record in force reads, and refuses what it
 * states so itself: with a value other than the default where an encoding or a kind leaves it
 * unread, with any where it is given to an op, or to nodes, that never ask for it.
 * ASSAY_ERR_SCHEME, ASSAY_ERR_MEMORY. */
assay_status assay_reads_drop(const assay_reading *c);
assay_status assay_reads_check(const assay_reading *c);

#endif
