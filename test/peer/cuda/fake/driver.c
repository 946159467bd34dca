/* A libcuda.so.1 for tests: the functions that peer_cuda calls, on the machine of machine.h.
 * FAKE_CAPABILITY in the environment is 10 times the compute capability, 90 where there is none;
 * FAKE_DRIVER the driver's CUDA version, 13010.
 * FAKE_FAULT is card (no device), init (the driver does not start), jit (kernels are refused),
 * memory (no allocation succeeds), launch (no kernel runs), wrong (every seventh row's result has
 * another low bit), place (product k of an instruction counts k + 1 times) or pair (matrix.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

enum {
    GOOD = 0,
    NO_MEMORY = 2,
    NOT_INITIALIZED = 3,
    BAD_PTX = 218,
    BAD_ADDRESS = 700,
    FAILED = 719
};

static struct program loaded;
static struct {
    uint64_t start;
    size_t bytes;
} buffers[16];
static size_t n_buffers;

bool machine_fault(const char *name)
{
    const char *fault = getenv("FAKE_FAULT");
    return fault && strcmp(fault, name) == 0;
}

static int number(const char *name, int usual)
{
    const char *text = getenv(name);
    return text ? atoi(text) : usual;
}

static int capability(void)
{
    return number("FAKE_CAPABILITY", 90);
}

bool machine_holds(uint64_t address, size_t bytes)
{
    for (size_t i = 0; i < n_buffers; i++)
        if (address % bytes == 0 && buffers[i].start <= address &&
            address + bytes <= buffers[i].start + buffers[i].bytes)
            return true;
    return false;
}

int cuInit(unsigned flags)
{
    (void)flags;
    return machine_fault("init") ? NOT_INITIALIZED : GOOD;
}

int cuGetErrorString(int status, const char **text)
{
    static const struct {
        int status;
        const char *text;
    } words[] = {{NO_MEMORY, "out of memory"},
                 {NOT_INITIALIZED, "initialization error"},
                 {BAD_PTX, "a PTX JIT compilation failed"},
                 {BAD_ADDRESS, "an illegal memory access was encountered"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].status == status) {
            *text = words[i].text;
            return GOOD;
        }
    return 1;
}

int cuDriverGetVersion(int *version)
{
    *version = number("FAKE_DRIVER", 13010);
    return GOOD;
}

int cuDeviceGetCount(int *n)
{
    *n = !machine_fault("card");
    return GOOD;
}

int cuDeviceGet(int *device, int i)
{
    *device = i;
    return GOOD;
}

int cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    snprintf(name, (size_t)size, "NVIDIA Fake %d", capability());
    return GOOD;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    *value = attribute == 75 ? capability() / 10 : capability() % 10;
    return attribute == 75 || attribute == 76 ? GOOD : 1;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = &loaded;
    return GOOD;
}

int cuCtxSetCurrent(void *context)
{
    return context == &loaded ? GOOD : 1;
}

int cuModuleLoadDataEx(void **module, const void *ptx, unsigned n, int *options, void **values)
{
    char unused[4], *log = n == 2 && options[0] == 5 && options[1] == 6 ? values[0] : unused;
    const size_t size = log == unused ? sizeof unused : (size_t)values[1];
    *module = &loaded;
    if (machine_fault("jit")) {
        snprintf(log, size,
                 "ptxas fatal   : Unsupported .version 8.7; current version is '8.4'\nmore");
        return BAD_PTX;
    }
    return machine_load(ptx, &loaded, log, size) ? GOOD : BAD_PTX;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return strcmp(name, "rows") == 0 ? GOOD : 1;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    void *memory = machine_fault("memory") || n_buffers == 16 ? NULL : malloc(bytes);
    if (!memory)
        return NO_MEMORY;
    *address = (uint64_t)(uintptr_t)memory;
    buffers[n_buffers].start = *address;
    buffers[n_buffers++].bytes = bytes;
    return GOOD;
}

int cuMemsetD8_v2(uint64_t address, unsigned char value, size_t bytes)
{
    memset((void *)(uintptr_t)address, value, bytes);
    return GOOD;
}

int cuMemcpyHtoD_v2(uint64_t address, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)address, from, bytes);
    return GOOD;
}

/* The last buffer is that of results. */
int cuMemcpyDtoH_v2(void *to, uint64_t address, size_t bytes)
{
    uint32_t *words = to;
    memcpy(to, (void *)(uintptr_t)address, bytes);
    for (size_t i = 3; machine_fault("wrong") && i < bytes / 4; i += 7)
        words[i] ^= 1;
    return GOOD;
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned ty, unsigned tz, unsigned shared, void *stream, void **arguments,
                   void **extra)
{
    bool good = function == &loaded && y == 1 && z == 1 && ty == 1 && tz == 1 && shared == 0 &&
                !stream && !extra && threads <= MOST_THREADS && !machine_fault("launch");
    struct block *b = malloc(sizeof *b);
    if (!b || !good) {
        free(b);
        return FAILED;
    }
    for (unsigned i = 0; good && i < x; i++) {
        memset(b, 0xa5, sizeof *b); /* registers hold anything at first */
        b->threads = threads;
        b->number = i;
        b->parameters = arguments;
        good = machine_run(&loaded, b);
    }
    free(b);
    return good ? GOOD : BAD_ADDRESS;
}

int cuCtxSynchronize(void)
{
    return GOOD;
}
