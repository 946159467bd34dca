/* The machine's int8 peak: multiply-accumulates a second of a loop of dot products on registers. */
#ifndef ASSAY_BENCH_PEAK_H
#define ASSAY_BENCH_PEAK_H

/* By vpdpbusd on 512-bit registers; 0 where the machine has none. */
double bench_peak_vnni(void);

#endif
