/* Launches and what may be asked about kernels. */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

enum { SHARED, CONSTANT, LOCAL, THREADS, REGISTERS, ARCHITECTURE, PARAMETERS, PARAMETER_BYTES };

typedef struct { dim3 grid, block; size_t shared; void *stream; } configuration;

static __thread configuration pushed[8];
static __thread int depth;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    if (depth < 8)
        pushed[depth++] = (configuration){grid, block, shared, stream};
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void **stream)
{
    if (!depth)
        return INVALID_CONFIGURATION;
    configuration top = pushed[--depth];
    *grid = top.grid;
    *block = top.block;
    *shared = top.shared;
    *stream = top.stream;
    return SUCCESS;
}

launch_request pack_launch(kernel *what, dim3 grid, dim3 block, void **arguments, size_t shared)
{
    static __thread char bytes[32768];
    size_t size = what->attributes[PARAMETER_BYTES];
    memset(bytes, 0, size);
    for (word i = 0; i < what->attributes[PARAMETERS]; i++)
        memcpy(bytes + what->parameters[i].offset, arguments[i], what->parameters[i].size);
    return (launch_request){.what = what, .grid = grid, .block = block, .shared = shared, .bytes = bytes, .size = size};
}

cudaError_t send_launch(launch_request of, void *stream)
{
    word in[] = {of.what->number, of.grid.x, of.grid.y, of.grid.z, of.block.x, of.block.y, of.block.z, of.shared,
                 stream_number(stream), of.cluster.x, of.cluster.y, of.cluster.z, of.flags};
    question question = {LAUNCH, in, sizeof in / sizeof *in, of.bytes, of.size, NULL, 0};
    graph *recording = captured_by(stream);
    if (recording)
        return graph_add_launch(recording, of), SUCCESS;
    return ask(&question, NULL, 0, NULL);
}

static cudaError_t launch_function(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                   void *stream, unsigned flags)
{
    cudaError_t error;
    kernel *what = kernel_of(function, &error);
    if (!what)
        return finish(error);
    launch_request request = pack_launch(what, grid, block, arguments, shared);
    request.flags = flags;
    return finish(send_launch(request, stream));
}

EXPORT cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                    void *stream)
{
    return launch_function(function, grid, block, arguments, shared, stream, 0);
}
EXPORT cudaError_t __cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                      void *stream)
{
    return launch_function(function, grid, block, arguments, shared, stream, 0);
}
EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                               void *stream)
{
    return launch_function(function, grid, block, arguments, shared, stream, COOPERATIVE);
}

typedef struct { int id; char padding[4]; union { char bytes[64]; int number; dim3 size; } value; } launch_attribute;
typedef struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
    launch_attribute *attributes;
    unsigned count;
} launch_configuration;

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

EXPORT cudaError_t cudaLaunchKernelExC(const launch_configuration *how, const void *function, void **arguments)
{
    cudaError_t error;
    kernel *what = kernel_of(function, &error);
    if (!what)
        return finish(error);
    launch_request request = pack_launch(what, how->grid, how->block, arguments, how->shared);
    for (unsigned i = 0; i < how->count; i++) {
        if (how->attributes[i].id == ATTRIBUTE_COOPERATIVE && how->attributes[i].value.number)
            request.flags |= COOPERATIVE;
        if (how->attributes[i].id == ATTRIBUTE_CLUSTER)
            request.cluster = how->attributes[i].value.size;
    }
    return finish(send_launch(request, how->stream));
}

/* --- attributes --- */

typedef struct {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic_shared, carveout;
#if CUDART >= 12
    int cluster_needed, cluster_width, cluster_height, cluster_depth, cluster_policy, cluster_free;
#endif
} function_attributes;

EXPORT cudaError_t cudaFuncGetAttributes(function_attributes *result, const void *function)
{
    cudaError_t error;
    kernel *what = kernel_of(function, &error);
    if (!what)
        return finish(error);
    const word *known = what->attributes;
    memset(result, 0, sizeof *result);
    result->shared = known[SHARED];
    result->constant = known[CONSTANT];
    result->local = known[LOCAL];
    result->threads = (int)known[THREADS];
    result->registers = (int)known[REGISTERS];
    result->ptx = result->binary = (int)known[ARCHITECTURE];
    result->dynamic_shared = what->dynamic_shared ? what->dynamic_shared : 49152 - (int)known[SHARED];
    result->carveout = -1;
    return SUCCESS;
}

enum { MAX_DYNAMIC_SHARED = 8, CARVEOUT = 9 };

EXPORT cudaError_t cudaFuncSetAttribute(const void *function, int attribute, int value)
{
    cudaError_t error;
    kernel *what = kernel_of(function, &error);
    if (!what)
        return finish(error);
    if (attribute == MAX_DYNAMIC_SHARED) {
        error = ASK(ALLOW_SHARED, NULL, 0, what->number, (word)value);
        if (error)
            return finish(error);
        what->dynamic_shared = value;
    }
    if (attribute == CARVEOUT)
        return finish(ASK(CARVE, NULL, 0, what->number, (word)(int64_t)value));
    return SUCCESS;
}

EXPORT cudaError_t cudaFuncSetCacheConfig(const void *function, int preference)
{
    (void)function, (void)preference;
    return SUCCESS;
}
EXPORT cudaError_t cudaFuncSetSharedMemConfig(const void *function, int size)
{
    (void)function, (void)size;
    return SUCCESS;
}

EXPORT cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    cudaError_t error;
    kernel *what = kernel_of(function, &error);
    if (what)
        *name = what->name;
    return finish(error);
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                          size_t shared, unsigned flags)
{
    cudaError_t error;
    word answer = 0;
    kernel *what = kernel_of(function, &error);
    (void)flags;
    if (what)
        error = ASK(OCCUPANCY, &answer, 1, what->number, (word)threads, shared);
    *blocks = (int)answer;
    return finish(error);
}
EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                                 size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, const void *function, int blocks, int threads)
{
    cudaError_t error;
    word answer = 0;
    kernel *what = kernel_of(function, &error);
    if (what)
        error = ASK(SHARED_LEFT, &answer, 1, what->number, (word)blocks, (word)threads);
    *size = answer;
    return finish(error);
}
