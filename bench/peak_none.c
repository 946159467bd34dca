/* Machines without the instruction. */
#include "bench/peak.h"

double bench_peak_vnni(void)
{
    return 0;
}
