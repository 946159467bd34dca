/* One allocation of the program's fails, chosen by its number. The linker wraps malloc and its kin
 * (test/meson.build), so that the library itself needs no hook. */
#ifndef ASSAY_TEST_ALLOC_FAILS_H
#define ASSAY_TEST_ALLOC_FAILS_H

#include <stdbool.h>

/* Allocations until one fails; 0: none does, or the one that was chosen has. */
extern long alloc_countdown;

/* Counts one allocation; whether it is the one that fails. For what a test wraps besides. */
bool alloc_fails(void);

#endif
