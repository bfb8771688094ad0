/* Device memory: allocation, copies, filling. The bytes are mapped here, so a copy is a copy. */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PITCH = 512, TO_DEVICE = 1, TO_HOST = 2, ANY_KIND = 4 };

static cudaError_t allocate(void **pointer, size_t size, word kind)
{
    word address;
    if (!pointer)
        return finish(INVALID_VALUE);
    cudaError_t error = ASK(ALLOCATE, &address, 1, size, kind);
    if (!error)
        *pointer = (void *)(uintptr_t)address;
    return finish(error);
}

static void **of_graphs; /* allocations by graphs */
static size_t of_graphs_count;

static cudaError_t release(void *pointer)
{
    flush_output();
    for (size_t i = 0; i < of_graphs_count; i++)
        if (of_graphs[i] == pointer)
            return SUCCESS;
    return finish(pointer ? ASK(RELEASE, NULL, 0, W(pointer)) : SUCCESS);
}

EXPORT cudaError_t cudaMalloc(void **pointer, size_t size) { return allocate(pointer, size, DEVICE_MEMORY); }
EXPORT cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    return size ? allocate(pointer, size, MANAGED_MEMORY) : finish(INVALID_VALUE);
}
EXPORT cudaError_t cudaMallocHost(void **pointer, size_t size) { return allocate(pointer, size, HOST_MEMORY); }
EXPORT cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned flags)
{
    (void)flags;
    return allocate(pointer, size, HOST_MEMORY);
}
/* Memory that a graph allocates has the same address in every launch of the graph: it stays until the program ends. */
cudaError_t allocate_for_graph(void **pointer, size_t size)
{
    cudaError_t error = allocate(pointer, size, DEVICE_MEMORY);
    if (!error) {
        of_graphs = realloc(of_graphs, (of_graphs_count + 1) * sizeof *of_graphs);
        of_graphs[of_graphs_count++] = *pointer;
    }
    return error;
}
EXPORT cudaError_t cudaMallocAsync(void **pointer, size_t size, void *stream)
{
    return captured_by(stream) ? allocate_for_graph(pointer, size) : allocate(pointer, size, DEVICE_MEMORY);
}
EXPORT cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, void *pool, void *stream)
{
    (void)pool;
    return cudaMallocAsync(pointer, size, stream);
}
EXPORT cudaError_t cudaFree(void *pointer) { return release(pointer); }
EXPORT cudaError_t cudaFreeHost(void *pointer) { return release(pointer); }
EXPORT cudaError_t cudaFreeAsync(void *pointer, void *stream)
{
    return captured_by(stream) ? SUCCESS : release(pointer); /* a graph would free it in each launch */
}

EXPORT cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return allocate(pointer, *pitch * height, DEVICE_MEMORY);
}

EXPORT cudaError_t cudaMalloc3D(pitched_ptr *result, extent size)
{
    result->xsize = size.width;
    result->ysize = size.height;
    return cudaMallocPitch(&result->ptr, &result->pitch, size.width, size.height * size.depth);
}

/* --- host memory that the device sees --- */

EXPORT cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    word answer[4];
    (void)flags;
    cudaError_t error = ASK(POINTER, answer, 4, W(host));
    if (!error)
        *device = (void *)(uintptr_t)answer[3];
    return finish(error ? error : answer[0] ? SUCCESS : INVALID_VALUE);
}

/* The pages of the program's own memory become pages of the heap: both sides see the same bytes at both addresses. */
EXPORT cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned flags)
{
    word start = W(pointer) & ~(word)(PAGE - 1), end = (W(pointer) + size + PAGE - 1) & ~(word)(PAGE - 1), address;
    (void)flags;
    if (!pointer || !size)
        return finish(INVALID_VALUE);
    cudaError_t error = ASK(ALLOCATE, &address, 1, end - start, HOST_MEMORY);
    if (error)
        return finish(error);
    memcpy((void *)address, (void *)start, end - start);
    if (mremap((void *)address, 0, end - start, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == MAP_FAILED)
        return finish(INVALID_VALUE);
    return finish(ASK(REGISTER, NULL, 0, start, end - start, address));
}

EXPORT cudaError_t cudaHostUnregister(void *pointer) { return finish(ASK(UNREGISTER, NULL, 0, W(pointer))); }

EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    (void)host;
    *flags = 2;
    return SUCCESS;
}

typedef struct { int type, device; void *devicePointer, *hostPointer; long reserved[8]; } pointer_attributes;

EXPORT cudaError_t cudaPointerGetAttributes(pointer_attributes *result, const void *pointer)
{
    word answer[4]; /* kind (0: none of ours), start, size, its address on the device */
    cudaError_t error = ASK(POINTER, answer, 4, W(pointer));
    if (error)
        return finish(error);
    result->type = answer[0] == DEVICE_MEMORY ? 2 : answer[0] == MANAGED_MEMORY ? 3 : answer[0] == HOST_MEMORY ? 1 : 0;
    result->device = answer[0] ? 0 : -2;
    result->devicePointer = answer[0] ? (void *)(uintptr_t)answer[3] : NULL;
    result->hostPointer = answer[0] == DEVICE_MEMORY ? NULL : answer[0] ? (void *)pointer : NULL;
    return SUCCESS;
}

EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    word answer[2];
    cudaError_t error = ASK(MEMORY_LEFT, answer, 2, 0);
    *free_bytes = answer[0];
    *total = answer[1];
    return finish(error);
}

/* --- copies and filling --- */

/* Rows of bytes: the ends are checked by warpbound, which takes note of what has changed and how long it takes. */
cudaError_t do_transfer(transfer_request of, void *stream, int blocking)
{
    if (blocking)
        flush_output();
    if (of.kind < 0 || of.kind > ANY_KIND)
        return finish(21);
    if (!of.width || !of.rows)
        return SUCCESS;
    if (!of.to || !of.from)
        return finish(INVALID_VALUE);
    graph *recording = captured_by(stream);
    if (recording)
        return graph_add_transfer(recording, of), SUCCESS;
    cudaError_t error = ASK(COPY, NULL, 0, W(of.to), (of.rows - 1) * of.to_pitch + of.width, W(of.from),
                            (of.rows - 1) * of.from_pitch + of.width, of.width * of.rows, stream_number(stream),
                            (word)blocking);
    if (error)
        return finish(error);
    for (size_t row = 0; row < of.rows; row++)
        memmove((char *)of.to + row * of.to_pitch, (const char *)of.from + row * of.from_pitch, of.width);
    return SUCCESS;
}

static cudaError_t transfer(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                            int kind, void *stream, int blocking)
{
    return do_transfer((transfer_request){to, to_pitch, from, from_pitch, width, rows, kind}, stream, blocking);
}

cudaError_t copy(void *to, const void *from, size_t size, int kind, void *stream, int blocking)
{
    return transfer(to, size, from, size, size, 1, kind, stream, blocking);
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t size, int kind) { return copy(to, from, size, kind, NULL, 1); }
EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
    return copy(to, from, size, kind, stream, 0);
}
EXPORT cudaError_t cudaMemcpyPeer(void *to, int device, const void *from, int other, size_t size)
{
    return device || other ? finish(INVALID_DEVICE) : copy(to, from, size, ANY_KIND, NULL, 1);
}
EXPORT cudaError_t cudaMemcpyPeerAsync(void *to, int device, const void *from, int other, size_t size, void *stream)
{
    return device || other ? finish(INVALID_DEVICE) : copy(to, from, size, ANY_KIND, stream, 0);
}
EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, int kind, void *stream)
{
    if (width > to_pitch || width > from_pitch)
        return finish(12);
    return transfer(to, to_pitch, from, from_pitch, width, height, kind, stream, 0);
}
EXPORT cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                int kind)
{
    flush_output();
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

transfer_request slice(const copy_3d *p, size_t z)
{
    const char *from = (const char *)p->srcPtr.ptr
                       + ((p->srcPos.z + z) * p->srcPtr.ysize + p->srcPos.y) * p->srcPtr.pitch + p->srcPos.x;
    char *to = (char *)p->dstPtr.ptr + ((p->dstPos.z + z) * p->dstPtr.ysize + p->dstPos.y) * p->dstPtr.pitch + p->dstPos.x;
    return (transfer_request){to, p->dstPtr.pitch, from, p->srcPtr.pitch, p->size.width, p->size.height, p->kind};
}

EXPORT cudaError_t cudaMemcpy3DAsync(const copy_3d *p, void *stream)
{
    copy_3d plain = *p;
    cudaError_t error = without_arrays(&plain);
    for (size_t z = 0; z < plain.size.depth && !error; z++)
        error = do_transfer(slice(&plain, z), stream, 0);
    return error;
}

EXPORT cudaError_t cudaMemcpy3D(const copy_3d *parameters)
{
    flush_output();
    return cudaMemcpy3DAsync(parameters, NULL);
}

cudaError_t do_fill(fill_request of, void *stream)
{
    if (!of.width || !of.rows)
        return SUCCESS;
    graph *recording = captured_by(stream);
    if (recording)
        return graph_add_fill(recording, of), SUCCESS;
    cudaError_t error = ASK(FILL, NULL, 0, W(of.to), (of.rows - 1) * of.pitch + of.width, of.width * of.rows,
                            stream_number(stream));
    if (error)
        return finish(error);
    for (size_t row = 0; row < of.rows; row++) {
        char *to = (char *)of.to + row * of.pitch;
        if (of.element == 1)
            memset(to, (int)of.value, of.width);
        else
            for (size_t at = 0; at < of.width; at += of.element)
                memcpy(to + at, &of.value, of.element);
    }
    return SUCCESS;
}

static cudaError_t fill(void *to, size_t pitch, int value, size_t width, size_t rows, void *stream)
{
    return do_fill((fill_request){to, pitch, (unsigned)value, 1, width, rows}, stream);
}

EXPORT cudaError_t cudaMemset(void *to, int value, size_t size) { return fill(to, size, value, size, 1, NULL); }
EXPORT cudaError_t cudaMemsetAsync(void *to, int value, size_t size, void *stream)
{
    return fill(to, size, value, size, 1, stream);
}
EXPORT cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill(to, pitch, value, width, height, NULL);
}
EXPORT cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    return fill(to, pitch, value, width, height, stream);
}
EXPORT cudaError_t cudaMemset3DAsync(pitched_ptr to, int value, extent size, void *stream)
{
    cudaError_t error = SUCCESS;
    for (size_t z = 0; z < size.depth && !error; z++)
        error = fill((char *)to.ptr + z * to.ysize * to.pitch, to.pitch, value, size.width, size.height, stream);
    return error;
}
EXPORT cudaError_t cudaMemset3D(pitched_ptr to, int value, extent size) { return cudaMemset3DAsync(to, value, size, NULL); }

/* --- hints: all managed memory is where it is needed --- */

EXPORT cudaError_t cudaMemPrefetchAsync(const void *pointer) { return pointer ? SUCCESS : finish(INVALID_VALUE); }
EXPORT cudaError_t cudaMemPrefetchAsync_v2(const void *pointer) { return cudaMemPrefetchAsync(pointer); }
EXPORT cudaError_t cudaMemAdvise(const void *pointer) { return pointer ? SUCCESS : finish(INVALID_VALUE); }
EXPORT cudaError_t cudaMemAdvise_v2(const void *pointer) { return cudaMemAdvise(pointer); }

/* --- pools: there is one, and it keeps nothing --- */

static char pool;

EXPORT cudaError_t cudaDeviceGetDefaultMemPool(void **result, int device)
{
    *result = &pool;
    return device ? finish(INVALID_DEVICE) : SUCCESS;
}
EXPORT cudaError_t cudaDeviceGetMemPool(void **result, int device) { return cudaDeviceGetDefaultMemPool(result, device); }
EXPORT cudaError_t cudaDeviceSetMemPool(int device, void *which)
{
    (void)which;
    return device ? finish(INVALID_DEVICE) : SUCCESS;
}
EXPORT cudaError_t cudaMemPoolCreate(void **result, const void *properties)
{
    (void)properties;
    *result = &pool;
    return SUCCESS;
}
EXPORT cudaError_t cudaMemPoolDestroy(void *which)
{
    (void)which;
    return SUCCESS;
}
EXPORT cudaError_t cudaMemPoolSetAttribute(void *which, int attribute, void *value)
{
    (void)which, (void)attribute, (void)value;
    return SUCCESS;
}
EXPORT cudaError_t cudaMemPoolGetAttribute(void *which, int attribute, void *value)
{
    (void)which;
    if (attribute < 4)
        *(int *)value = 1;
    else
        *(uint64_t *)value = 0;
    return SUCCESS;
}
EXPORT cudaError_t cudaMemPoolTrimTo(void *which, size_t size)
{
    (void)which, (void)size;
    return SUCCESS;
}
