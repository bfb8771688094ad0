/* The one device: its properties come from warpbound's catalogue of boards. */
#define _GNU_SOURCE
#include "runtime.h"

#include <string.h>

static int valid(int device) { return device == 0; }

EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return SUCCESS;
}
EXPORT cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return SUCCESS;
}
EXPORT cudaError_t cudaSetDevice(int device) { return valid(device) ? SUCCESS : finish(INVALID_DEVICE); }
EXPORT cudaError_t cudaInitDevice(int device, unsigned flags, unsigned how)
{
    (void)flags, (void)how;
    return cudaSetDevice(device);
}
EXPORT cudaError_t cudaChooseDevice(int *device, const void *properties)
{
    (void)properties;
    *device = 0;
    return SUCCESS;
}
EXPORT cudaError_t cudaSetValidDevices(int *devices, int count)
{
    return count && !valid(devices[0]) ? finish(INVALID_DEVICE) : SUCCESS;
}
EXPORT cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    (void)flags;
    return SUCCESS;
}
EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = 8; /* mapping of host memory */
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceReset(void)
{
    flush_output();
    return SUCCESS;
}
EXPORT cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return SUCCESS;
}
EXPORT cudaError_t cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

/* layout : major release of CUDA whose struct the caller knows */
static cudaError_t properties(void *result, int device, word layout)
{
    if (!result || !valid(device))
        return finish(result ? INVALID_DEVICE : INVALID_VALUE);
    question what = {PROPERTIES, &layout, 1, "", 0, NULL, 0};
    size_t size;
    return finish(ask(&what, result, 4096, &size));
}

EXPORT cudaError_t cudaGetDeviceProperties(void *result, int device)
{
    return properties(result, device, CUDART == 12 ? 11 : CUDART); /* release 12 kept the old struct under the old name */
}
EXPORT cudaError_t cudaGetDeviceProperties_v2(void *result, int device) { return properties(result, device, 12); }

EXPORT cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    word answer = 0;
    if (!valid(device))
        return finish(INVALID_DEVICE);
    cudaError_t error = ASK(ATTRIBUTE, &answer, 1, (word)attribute);
    *value = (int)answer;
    return finish(error);
}

static const char bus[] = "0000:01:00.0";

EXPORT cudaError_t cudaDeviceGetPCIBusId(char *result, int length, int device)
{
    if (!valid(device))
        return finish(INVALID_DEVICE);
    strncpy(result, bus, (size_t)length);
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *name)
{
    *device = 0;
    return strcmp(name, bus) ? finish(INVALID_DEVICE) : SUCCESS;
}

EXPORT cudaError_t cudaDeviceCanAccessPeer(int *possible, int device, int peer)
{
    (void)device, (void)peer;
    *possible = 0;
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return finish(INVALID_DEVICE);
}
EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return finish(INVALID_DEVICE);
}

/* --- preferences and limits: kept, where they may be read back --- */

static int cache_config, shared_config;
enum { MALLOC_HEAP = 2 }; /* cudaLimitMallocHeapSize */
static size_t limits[8] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0}; /* stack, printf, heap, ... as drivers begin */

EXPORT cudaError_t cudaDeviceSetCacheConfig(int preference)
{
    cache_config = preference;
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceGetCacheConfig(int *preference)
{
    *preference = cache_config;
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceSetSharedMemConfig(int size)
{
    shared_config = size;
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceGetSharedMemConfig(int *size)
{
    *size = shared_config;
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceSetLimit(int which, size_t value)
{
    if (which < 0 || which > 7)
        return finish(INVALID_VALUE);
    cudaError_t error = which == MALLOC_HEAP ? ASK(LIMIT_MALLOC, NULL, 0, value) : SUCCESS;
    if (!error)
        limits[which] = value;
    return finish(error);
}
EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, int which)
{
    if (which < 0 || which > 7)
        return finish(INVALID_VALUE);
    *value = limits[which];
    return SUCCESS;
}
EXPORT cudaError_t cudaThreadSetLimit(int which, size_t value) { return cudaDeviceSetLimit(which, value); }
EXPORT cudaError_t cudaThreadGetLimit(size_t *value, int which) { return cudaDeviceGetLimit(value, which); }
EXPORT cudaError_t cudaCtxResetPersistingL2Cache(void) { return SUCCESS; }
EXPORT cudaError_t cudaProfilerStart(void) { return SUCCESS; }
EXPORT cudaError_t cudaProfilerStop(void) { return SUCCESS; }
