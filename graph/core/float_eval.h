/* A check for every file that computes with floats: each operation rounds to its own type, as IEEE
 * 754 says. Where C may keep more (FLT_EVAL_METHOD 1 or 2: s390x in strict C11, x87), sums round
 * twice and bits differ; meson.build looks for the compiler's mode in which this holds. 16: so for
 * float and wider. Files without floats (ASSAY_NO_FLOATS): clang without the registers says 2.
 */
#ifndef ASSAY_GRAPH_FLOAT_EVAL_H
#define ASSAY_GRAPH_FLOAT_EVAL_H

#include <float.h>

#ifndef ASSAY_NO_FLOATS
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,
               "floats are computed in a wider type, which changes bits; give the compiler "
               "-fexcess-precision=fast, or -msse2 -mfpmath=sse on x86");
#endif

#endif
