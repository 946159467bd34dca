/* NVIDIA's driver, loaded when it is there: one card, kernels of PTX text, buffers. Each function
 * says its own error on standard error, in one line, and is false then. */
#ifndef TEST_PEER_CUDA_DRIVER_H
#define TEST_PEER_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct card {
    char name[128];
    int capability; /* 10 times major + minor */
    int driver;     /* the CUDA version of the driver, 1000 times major + 10 times minor */
};

typedef void *kernel;
typedef unsigned long long buffer; /* an address on the card */

/* Exit status of a program that finds no driver or no card. */
enum { NO_CARD = 77 };

bool driver_is_there(void); /* the driver loads, and there is a card; the reason where not */
bool driver_open(struct card *c);
bool driver_compile(const char *ptx, kernel *k); /* the PTX text's entry `rows` */
bool driver_buffer(size_t bytes, buffer *b);     /* zeros */
bool driver_put(buffer b, const void *data, size_t bytes);
bool driver_get(void *data, buffer b, size_t bytes);
bool driver_run(kernel k, unsigned blocks, unsigned threads, void **arguments);

#endif
