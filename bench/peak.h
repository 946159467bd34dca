/* The machine's int8 peak: multiply-accumulates a second of a loop of dot products on registers. */
#ifndef ASSAY_BENCH_PEAK_H
#define ASSAY_BENCH_PEAK_H

/* By the instruction set that the fast engine takes here (ASSAY_ISA, else the best one), whose name
 * goes into *isa; 0 where that is plain C. An unknown ASSAY_ISA ends the process with a line. */
double bench_peak(const char **isa);

/* peak_loop.c */
double bench_peak_vnni(void);
double bench_peak_avx2(void);

#endif
