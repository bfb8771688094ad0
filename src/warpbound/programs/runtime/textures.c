/* Textures, surfaces and the arrays that they read. An array is rows of elements in device memory without gaps; a GPU
   tiles it, which no function of the runtime shows. */
#include "runtime.h"

#include <stdlib.h>

enum { ARRAY, MIPMAPPED, LINEAR, PITCHED };                   /* resources */
enum { FLOAT = 2, SURFACE = 2, GATHER = 8 };     /* kind of a channel; flags of an array */
enum { INVALID_PITCH = 12, INVALID_CHANNELS = 20, INVALID_FILTER = 26 };

typedef struct { int x, y, z, w, kind; } channels;
typedef struct { char *bytes; size_t width, height, pitch; channels format; unsigned flags; } array;
typedef struct { void *pointer; channels format; size_t width, height, pitch; } pitched; /* of LINEAR width is the size */
typedef struct { int type; union { array *array; pitched rows; int reserved[32]; } of; unsigned flags; } resource;
typedef struct { int address[3], filter, read, srgb; float border[4]; int normalized; } sampling; /* and more */

static size_t element_size(channels of) { return (size_t)(of.x + of.y + of.z + of.w) / 8; }

/* one, two or four channels of the same size */
static int known_format(channels of)
{
    int same = (!of.y || of.y == of.x) && (!of.z || (of.z == of.x && of.y)) && of.w == of.z;
    int size = of.x == 32 || of.x == 16 || (of.x == 8 && of.kind != FLOAT);
    return same && size && of.kind >= 0 && of.kind <= FLOAT;
}

EXPORT channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (channels){x, y, z, w, kind}; }

/* --- arrays --- */

EXPORT cudaError_t cudaMallocArray(array **result, const channels *format, size_t width, size_t height, unsigned flags)
{
    word address;
    if (!result || !format || !width)
        return finish(INVALID_VALUE);
    if (flags & ~(unsigned)(SURFACE | GATHER))
        return refuse("arrays of layers, cubes or sparse memory");
    if (!known_format(*format))
        return finish(INVALID_CHANNELS);
    size_t pitch = width * element_size(*format);
    cudaError_t error = ASK(ALLOCATE, &address, 1, pitch * (height ? height : 1), DEVICE_MEMORY);
    if (error)
        return finish(error);
    *result = malloc(sizeof **result);
    **result = (array){(char *)(uintptr_t)address, width, height, pitch, *format, flags};
    return SUCCESS;
}

EXPORT cudaError_t cudaMalloc3DArray(array **result, const channels *format, extent size, unsigned flags)
{
    if (size.depth || flags & ~(unsigned)(SURFACE | GATHER))
        return refuse("arrays of three dimensions, layers or cubes");
    return cudaMallocArray(result, format, size.width, size.height, flags);
}

EXPORT cudaError_t cudaFreeArray(array *which)
{
    if (!which)
        return SUCCESS;
    flush_output();
    cudaError_t error = ASK(RELEASE, NULL, 0, W(which->bytes));
    free(which);
    return finish(error);
}

EXPORT cudaError_t cudaGetChannelDesc(channels *format, const array *of)
{
    *format = of->format;
    return SUCCESS;
}

EXPORT cudaError_t cudaArrayGetInfo(channels *format, extent *size, unsigned *flags, const array *of)
{
    if (format)
        *format = of->format;
    if (size)
        *size = (extent){of->width, of->height, 0};
    if (flags)
        *flags = of->flags;
    return SUCCESS;
}

/* --- copies: x in bytes, y in rows --- */

/* The first byte of a rectangle of an array; NULL: it does not lie inside. */
static char *rectangle(const array *of, size_t x, size_t y, size_t width, size_t rows)
{
    size_t height = of && of->height ? of->height : 1;
    int inside = of && x <= of->pitch && width <= of->pitch - x && y <= height && rows <= height - y;
    return inside ? of->bytes + y * of->pitch + x : NULL;
}

/* The first byte of a run of bytes that goes on from row to row. */
static char *run(const array *of, size_t x, size_t y, size_t size)
{
    size_t height = of && of->height ? of->height : 1;
    int inside = of && x < of->pitch && y < height && size <= (height - y) * of->pitch - x;
    return inside ? of->bytes + y * of->pitch + x : NULL;
}

static cudaError_t rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t count, int kind,
                        void *stream)
{
    if (!to || !from)
        return finish(INVALID_VALUE);
    if (width > to_pitch || width > from_pitch)
        return finish(INVALID_PITCH);
    return do_transfer((transfer_request){to, to_pitch, from, from_pitch, width, count, kind}, stream, 0);
}

EXPORT cudaError_t cudaMemcpy2DToArrayAsync(array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                            size_t height, int kind, void *stream)
{
    return rows(rectangle(to, x, y, width, height), to ? to->pitch : 0, from, pitch, width, height, kind, stream);
}
EXPORT cudaError_t cudaMemcpy2DToArray(array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                       size_t height, int kind)
{
    flush_output();
    return cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, NULL);
}
EXPORT cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const array *from, size_t x, size_t y, size_t width,
                                              size_t height, int kind, void *stream)
{
    return rows(to, pitch, rectangle(from, x, y, width, height), from ? from->pitch : 0, width, height, kind, stream);
}
EXPORT cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, const array *from, size_t x, size_t y, size_t width,
                                         size_t height, int kind)
{
    flush_output();
    return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, NULL);
}
EXPORT cudaError_t cudaMemcpy2DArrayToArray(array *to, size_t to_x, size_t to_y, const array *from, size_t x, size_t y,
                                            size_t width, size_t height, int kind)
{
    char *start = rectangle(from, x, y, width, height);
    return start ? cudaMemcpy2DToArray(to, to_x, to_y, start, from->pitch, width, height, kind) : finish(INVALID_VALUE);
}

EXPORT cudaError_t cudaMemcpyToArrayAsync(array *to, size_t x, size_t y, const void *from, size_t size, int kind,
                                          void *stream)
{
    return rows(run(to, x, y, size), size, from, size, size, 1, kind, stream);
}
EXPORT cudaError_t cudaMemcpyToArray(array *to, size_t x, size_t y, const void *from, size_t size, int kind)
{
    flush_output();
    return cudaMemcpyToArrayAsync(to, x, y, from, size, kind, NULL);
}
EXPORT cudaError_t cudaMemcpyFromArrayAsync(void *to, const array *from, size_t x, size_t y, size_t size, int kind,
                                            void *stream)
{
    return rows(to, size, run(from, x, y, size), size, size, 1, kind, stream);
}
EXPORT cudaError_t cudaMemcpyFromArray(void *to, const array *from, size_t x, size_t y, size_t size, int kind)
{
    flush_output();
    return cudaMemcpyFromArrayAsync(to, from, x, y, size, kind, NULL);
}
EXPORT cudaError_t cudaMemcpyArrayToArray(array *to, size_t to_x, size_t to_y, const array *from, size_t x, size_t y,
                                          size_t size, int kind)
{
    char *start = run(from, x, y, size);
    return start ? cudaMemcpyToArray(to, to_x, to_y, start, size, kind) : finish(INVALID_VALUE);
}

/* --- objects --- */

/* What a resource is: rows of elements; of linear memory one row, height 0. */
static cudaError_t described(const resource *of, pitched *result)
{
    if (of->type == MIPMAPPED)
        return refuse("mipmapped arrays");
    if (of->type == ARRAY) {
        const array *own = of->of.array;
        if (!own)
            return finish(INVALID_VALUE);
        *result = (pitched){own->bytes, own->format, own->width, own->height, own->pitch};
        return SUCCESS;
    }
    *result = of->of.rows;
    if (!known_format(result->format))
        return finish(INVALID_CHANNELS);
    if (of->type == LINEAR) {
        result->height = 0;
        result->pitch = result->width;
        result->width /= element_size(result->format);
    }
    return SUCCESS;
}

static cudaError_t create(word *object, const resource *from, const sampling *how)
{
    pitched own;
    cudaError_t error = described(from, &own);
    if (error)
        return error;
    channels f = own.format;
    if (how->filter && f.kind != FLOAT && !how->read)
        return finish(INVALID_FILTER);
    return finish(ASK(DESCRIBE_TEXTURE, object, 1, W(own.pointer), own.width, own.height, own.pitch, (word)f.kind, (word)f.x,
                      (word)(1 + !!f.y + 2 * !!f.w), (word)how->address[0], (word)how->address[1], (word)how->filter,
                      (word)how->read, (word)how->normalized));
}

EXPORT cudaError_t cudaCreateTextureObject(word *object, const resource *from, const sampling *how, const void *view)
{
    if (!object || !from || !how)
        return finish(INVALID_VALUE);
    if (view)
        return refuse("resource views of textures");
    if (how->srgb)
        return refuse("textures with sRGB");
    if (how->border[0] != 0 || how->border[1] != 0 || how->border[2] != 0 || how->border[3] != 0)
        return refuse("border colours of textures");
    return create(object, from, how);
}

EXPORT cudaError_t cudaCreateSurfaceObject(word *object, const resource *from)
{
    if (!object || !from || from->type != ARRAY)
        return finish(INVALID_VALUE);
    return create(object, from, &(sampling){.filter = 0});
}

EXPORT cudaError_t cudaDestroyTextureObject(word object) { return finish(ASK(FORGET_TEXTURE, NULL, 0, object)); }
EXPORT cudaError_t cudaDestroySurfaceObject(word object) { return cudaDestroyTextureObject(object); }
