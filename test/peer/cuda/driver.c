/* The driver's functions by name from libcuda.so.1, as the CUDA Driver API documents them; the
 * primary context of the first card. The process ends soon: the context's end frees kernels and
 * buffers. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

enum { MAJOR = 75, MINOR = 76 };            /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_* */
enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 }; /* CU_JIT_ERROR_LOG_BUFFER, its _SIZE_BYTES */

/* Name in the library, name here, parameters. */
#define FUNCTIONS(F)                                                                               \
    F(cuInit, init, (unsigned))                                                                    \
    F(cuGetErrorString, error_string, (int, const char **))                                        \
    F(cuDriverGetVersion, version, (int *))                                                        \
    F(cuDeviceGetCount, count, (int *))                                                            \
    F(cuDeviceGet, device, (int *, int))                                                           \
    F(cuDeviceGetName, device_name, (char *, int, int))                                            \
    F(cuDeviceGetAttribute, attribute, (int *, int, int))                                          \
    F(cuDevicePrimaryCtxRetain, retain, (void **, int))                                            \
    F(cuCtxSetCurrent, set_current, (void *))                                                      \
    F(cuModuleLoadDataEx, load, (void **, const void *, unsigned, int *, void **))                 \
    F(cuModuleGetFunction, function, (void **, void *, const char *))                              \
    F(cuMemAlloc_v2, allocate, (buffer *, size_t))                                                 \
    F(cuMemsetD8_v2, set, (buffer, unsigned char, size_t))                                         \
    F(cuMemcpyHtoD_v2, put, (buffer, const void *, size_t))                                        \
    F(cuMemcpyDtoH_v2, get, (void *, buffer, size_t))                                              \
    F(cuLaunchKernel, launch,                                                                      \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,       \
       void **, void **))                                                                          \
    F(cuCtxSynchronize, synchronize, (void))

static struct {
#define MEMBER(symbol, name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
} cuda;

/* The address of a function as ISO C lets it be taken from dlsym. */
static bool find(void *library, const char *symbol, void *member)
{
    void *address = dlsym(library, symbol);
    memcpy(member, &address, sizeof address);
    if (!address)
        fprintf(stderr, "cuda: libcuda.so.1 has no %s: the driver is too old\n", symbol);
    return address != NULL;
}

static bool good(int status, const char *what)
{
    const char *why = NULL;
    if (status == 0)
        return true;
    if (cuda.error_string(status, &why) != 0 || !why)
        why = "an error that the driver has no words for";
    fprintf(stderr, "cuda: %s: %s (%d)\n", what, why, status);
    return false;
}

static bool load_library(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "cuda: no driver here: %s\n", dlerror());
        return false;
    }
#define FIND(symbol, name, parameters)                                                             \
    if (!find(library, #symbol, &cuda.name))                                                       \
        return false;
    FUNCTIONS(FIND)
    return true;
}

bool driver_is_there(void)
{
    int n = 0;
    if (!load_library() || !good(cuda.init(0), "cuInit") ||
        !good(cuda.count(&n), "cuDeviceGetCount"))
        return false;
    if (n == 0)
        fprintf(stderr, "cuda: no card here\n");
    return n > 0;
}

bool driver_open(struct card *c)
{
    int device, major, minor;
    void *context;
    if (!good(cuda.version(&c->driver), "cuDriverGetVersion") ||
        !good(cuda.device(&device, 0), "cuDeviceGet") ||
        !good(cuda.device_name(c->name, sizeof c->name, device), "cuDeviceGetName") ||
        !good(cuda.attribute(&major, MAJOR, device), "cuDeviceGetAttribute") ||
        !good(cuda.attribute(&minor, MINOR, device), "cuDeviceGetAttribute") ||
        !good(cuda.retain(&context, device), "cuDevicePrimaryCtxRetain"))
        return false;
    c->capability = 10 * major + minor;
    return good(cuda.set_current(context), "cuCtxSetCurrent");
}

/* The log's first line alone. */
bool driver_compile(const char *ptx, kernel *k)
{
    char log[4096] = "";
    int options[] = {ERROR_LOG, ERROR_LOG_SIZE};
    void *values[] = {log,
                      (void *)(uintptr_t)sizeof log}; /* a number in a pointer, as documented */
    void *module;
    const int status = cuda.load(&module, ptx, 2, options, values);
    if (status != 0) {
        char what[256];
        snprintf(what, sizeof what, "cuModuleLoadDataEx: %.*s", (int)strcspn(log, "\n"), log);
        return good(status, what);
    }
    return good(cuda.function(k, module, "rows"), "cuModuleGetFunction");
}

bool driver_buffer(size_t bytes, buffer *b)
{
    return good(cuda.allocate(b, bytes), "cuMemAlloc") &&
           good(cuda.set(*b, 0, bytes), "cuMemsetD8");
}

bool driver_put(buffer b, const void *data, size_t bytes)
{
    return good(cuda.put(b, data, bytes), "cuMemcpyHtoD");
}

bool driver_get(void *data, buffer b, size_t bytes)
{
    return good(cuda.get(data, b, bytes), "cuMemcpyDtoH");
}

bool driver_run(kernel k, unsigned blocks, unsigned threads, void **arguments)
{
    return good(cuda.launch(k, blocks, 1, 1, threads, 1, 1, 0, NULL, arguments, NULL),
                "cuLaunchKernel") &&
           good(cuda.synchronize(), "cuCtxSynchronize");
}
