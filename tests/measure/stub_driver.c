// A driver library without a GPU, in the words of NVIDIA's own header: what the bindings hand over is checked where it
// arrives. Device memory is the host's; a launch only takes time on a clock of its own that never runs ahead of its queue.
#define _GNU_SOURCE
#include <cuda.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SM_COUNT 132
#define OPT_IN 232448
#define EMPTY_S 2e-6    // of every launch
#define SM_HZ 1.8e9
#define KEPT (1 << 20)  // bytes of a copy that are really made

// The environment makes it another GPU: STUB_COUNT of them (CUDA_VISIBLE_DEVICES leaves some of them), STUB_NAME,
// STUB_SMS, STUB_MIB of memory, STUB_CAPABILITY (86 for 8.6), STUB_LAYOUT=7 (the newest file of machine code that it
// reads is CUDA 12's); and makes things go wrong: STUB_FAILS="CALL STATUS",
// STUB_HANGS=KERNEL, STUB_TRAPS=KERNEL (an illegal address, after which nothing works), STUB_SLOWS=N (after so many looks
// at the clock it is a quarter lower).
static long set_to(const char *name, long otherwise) { return getenv(name) ? atol(getenv(name)) : otherwise; }
static int visible(void) {
    const char *listed = getenv("CUDA_VISIBLE_DEVICES");
    int found = 0;
    if (!listed) return set_to("STUB_COUNT", 1);
    for (const char *at = listed; *at >= '0' && *at <= '9' && atoi(at) < set_to("STUB_COUNT", 1); at++, found++)
        if (!(at = strchr(at, ','))) return found + 1;
    return found;
}
static size_t allocated;
static int trapped, watched;

struct Kernel { const char *image; size_t size; char name[128]; int most_shared, params; };
struct Event { double when; };
static double gpu_ready;  // when the queue will be empty
static int context_is_current;

static CUresult bad(CUresult status, const char *why) {
    fprintf(stderr, "stub: %s\n", why);
    return status;
}
static CUresult planned_failure(const char *call) {  // STUB_FAILS="cuModuleLoadData 200"
    const char *wanted = getenv("STUB_FAILS");
    size_t length = strlen(call);
    return wanted && !strncmp(wanted, call, length) && wanted[length] == ' ' ? atoi(wanted + length) : CUDA_SUCCESS;
}
#define PLANNED if (planned_failure(__func__)) return planned_failure(__func__)
#define IN_CONTEXT PLANNED; if (!context_is_current) return CUDA_ERROR_INVALID_CONTEXT; \
    if (trapped) return CUDA_ERROR_ILLEGAL_ADDRESS

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double queue(double seconds) { return gpu_ready = (gpu_ready > now() ? gpu_ready : now()) + seconds; }

CUresult CUDAAPI cuInit(unsigned flags) {
    PLANNED;
    return flags ? CUDA_ERROR_INVALID_VALUE : visible() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
CUresult CUDAAPI cuDriverGetVersion(int *version) { *version = 13000; return CUDA_SUCCESS; }
CUresult CUDAAPI cuDeviceGetCount(int *count) { PLANNED; *count = visible(); return CUDA_SUCCESS; }
CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return ordinal >= 0 && ordinal < visible() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice d) {
    snprintf(name, length, "%s", getenv("STUB_NAME") ? getenv("STUB_NAME") : "NVIDIA H200");
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuDeviceGetPCIBusId(char *id, int length, CUdevice d) { snprintf(id, length, "0000:1B:00.0"); return 0; }
CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice d) {
    *bytes = set_to("STUB_MIB", 141 << 10) << 20;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice d) {
    switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = set_to("STUB_CAPABILITY", 90) / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = set_to("STUB_CAPABILITY", 90) % 10; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = set_to("STUB_SMS", SM_COUNT); break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *value = 233472; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = OPT_IN; break;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 50 << 20; break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: *value = 6144; break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: *value = 3200000; break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: *value = 1980000; break;
    default: return bad(CUDA_ERROR_INVALID_VALUE, "an attribute that nobody needs");
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice d) { PLANNED; *context = (CUcontext)8; return 0; }
CUresult CUDAAPI cuCtxSetCurrent(CUcontext c) { context_is_current = c == (CUcontext)8; return CUDA_SUCCESS; }
CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned flags) {
    IN_CONTEXT;
    *stream = (CUstream)16;
    return flags == CU_STREAM_NON_BLOCKING ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult CUDAAPI cuStreamQuery(CUstream s) { IN_CONTEXT; return now() < gpu_ready ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; }
CUresult CUDAAPI cuStreamSynchronize(CUstream s) {
    IN_CONTEXT;
    while (now() < gpu_ready) {}
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------- modules

static const Elf64_Shdr *section(const char *image, const char *name) {
    const Elf64_Ehdr *head = (const void *)image;
    const Elf64_Shdr *every = (const void *)(image + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++)
        if (!strcmp(image + every[head->e_shstrndx].sh_offset + every[i].sh_name, name)) return every + i;
    return NULL;
}
CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image) {
    IN_CONTEXT;
    if (memcmp(image, ELFMAG, SELFMAG)) return bad(CUDA_ERROR_INVALID_IMAGE, "no ELF file");
    if (((const unsigned char *)image)[EI_ABIVERSION] > set_to("STUB_LAYOUT", 255)) return CUDA_ERROR_INVALID_IMAGE;
    const Elf64_Ehdr *head = image;
    const Elf64_Shdr *every = (const void *)((const char *)image + head->e_shoff);
    size_t size = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
    for (int i = 0; i < head->e_shnum; i++)
        if (every[i].sh_type != SHT_NOBITS && every[i].sh_offset + every[i].sh_size > size)
            size = every[i].sh_offset + every[i].sh_size;
    *module = memcpy(malloc(size), image, size);  // the caller's bytes may go away
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    IN_CONTEXT;
    char full[160];
    const char *image = (const char *)module;
    struct Kernel *kernel = calloc(1, sizeof *kernel);
    kernel->image = image;
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    snprintf(full, sizeof full, ".text.%s", name);
    if (!section(image, full)) return bad(CUDA_ERROR_NOT_FOUND, name);
    snprintf(full, sizeof full, ".nv.shared.%s", name);
    const Elf64_Shdr *shared = section(image, full), *info;
    kernel->most_shared = 48 * 1024 - (shared ? shared->sh_size : 0);
    snprintf(full, sizeof full, ".nv.info.%s", name);
    if ((info = section(image, full)))  // entries: format, attribute, size or value; 0x17 is about one parameter
        for (const unsigned char *at = (void *)(image + info->sh_offset), *end = at + info->sh_size; at < end;) {
            kernel->params += at[0] == 4 && at[1] == 0x17;
            at += at[0] == 4 ? 4 + (at[2] | at[3] << 8) : 4;
        }
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    IN_CONTEXT;
    *bytes = 1 << 16;
    *address = (CUdeviceptr)calloc(1, *bytes);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
    IN_CONTEXT;
    struct Kernel *kernel = (void *)function;
    if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return value >= -1 && value <= 100 ? CUDA_SUCCESS : bad(CUDA_ERROR_INVALID_VALUE, "carve-out");
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > OPT_IN) return CUDA_ERROR_INVALID_VALUE;
    kernel->most_shared = value;
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------- memory

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t bytes) {
    IN_CONTEXT;
    if (allocated + bytes > (size_t)set_to("STUB_MIB", 141 << 10) << 20) return CUDA_ERROR_OUT_OF_MEMORY;
    size_t *room = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    allocated += *room = bytes;
    *address = (CUdeviceptr)room + 4096;
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
    IN_CONTEXT;
    size_t *room = (size_t *)(address - 4096);
    allocated -= *room;
    return munmap(room, *room + 4096) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream s) {
    IN_CONTEXT;
    memcpy((void *)to, from, bytes < KEPT ? bytes : KEPT);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream s) {
    IN_CONTEXT;
    memcpy(to, (const void *)from, bytes);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes, CUstream s) {
    IN_CONTEXT;
    memset((void *)to, byte, bytes < KEPT ? bytes : KEPT);
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------- launches and events

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                unsigned bz, unsigned shared, CUstream stream, void **params, void **extra) {
    IN_CONTEXT;
    struct Kernel *kernel = (void *)function;
    if (stream != (CUstream)16 || extra) return bad(CUDA_ERROR_INVALID_VALUE, "stream or extra");
    if (!gx || gy > 65535 || gz > 65535 || !bx || bx * by * bz > 1024) return bad(CUDA_ERROR_INVALID_VALUE, "geometry");
    if ((int)shared > kernel->most_shared) return bad(CUDA_ERROR_INVALID_VALUE, "more shared memory than opted in to");
    for (int i = 0; i < kernel->params; i++)
        if (!params[i]) return bad(CUDA_ERROR_INVALID_VALUE, "a parameter is missing");
    double seconds = EMPTY_S;
    if (!strcmp(kernel->name, "hold")) seconds = 1e-9 * *(unsigned long long *)params[1];
    if (!strcmp(kernel->name, "burn")) seconds = 0.2;
    if (!strcmp(kernel->name, "watch_clock")) {
        unsigned long long *out = *(unsigned long long **)params[0], cycles = *(int *)params[1];
        out[0] = cycles, out[1] = 1e9 * cycles / (++watched > set_to("STUB_SLOWS", 1 << 30) ? 0.75 * SM_HZ : SM_HZ);
    }
    trapped = getenv("STUB_TRAPS") && !strcmp(kernel->name, getenv("STUB_TRAPS"));  // said by whatever comes next
    queue(getenv("STUB_HANGS") && !strcmp(kernel->name, getenv("STUB_HANGS")) ? 1e9 : seconds);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned flags) {
    IN_CONTEXT;
    *event = calloc(1, sizeof(struct Event));
    return flags == CU_EVENT_DEFAULT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult CUDAAPI cuEventRecord(CUevent event, CUstream s) {
    IN_CONTEXT;
    ((struct Event *)event)->when = queue(0.0);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventQuery(CUevent event) {
    IN_CONTEXT;
    return now() < ((struct Event *)event)->when ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
    IN_CONTEXT;
    *milliseconds = 1e3 * (((struct Event *)end)->when - ((struct Event *)begin)->when);
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuEventDestroy(CUevent event) { IN_CONTEXT; free(event); return CUDA_SUCCESS; }

// ---------------------------------------------------------------- how the bindings find all that

#define FOUND(name) if (!strcmp(symbol, #name)) *function = (void *)name
CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *result) {
    *function = NULL;
    FOUND(cuInit); FOUND(cuDriverGetVersion); FOUND(cuDeviceGetCount);
    FOUND(cuDeviceGet); FOUND(cuDeviceGetName); FOUND(cuDeviceGetPCIBusId);
    FOUND(cuDeviceTotalMem); FOUND(cuDeviceGetAttribute); FOUND(cuDevicePrimaryCtxRetain);
    FOUND(cuCtxSetCurrent); FOUND(cuStreamCreate); FOUND(cuStreamQuery);
    FOUND(cuStreamSynchronize); FOUND(cuModuleLoadData); FOUND(cuModuleGetFunction);
    FOUND(cuModuleGetGlobal); FOUND(cuFuncSetAttribute); FOUND(cuMemAlloc);
    FOUND(cuMemFree); FOUND(cuMemcpyHtoDAsync); FOUND(cuMemcpyDtoHAsync);
    FOUND(cuMemsetD8Async); FOUND(cuLaunchKernel); FOUND(cuEventCreate);
    FOUND(cuEventRecord); FOUND(cuEventQuery); FOUND(cuEventElapsedTime);
    FOUND(cuEventDestroy);
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
