/* Number formats of the PTX ISA, exact: no rounding, no infinities. */
#ifndef TEST_PEER_CUDA_FAKE_NUMBERS_H
#define TEST_PEER_CUDA_FAKE_NUMBERS_H

#include <stdint.h>

int number_bits(const char *format);
double number_decoded(const char *format, uint32_t code);
/* Of a normal number that the format has. */
uint32_t number_encoded(const char *format, double x);

#endif
