/* Textures, surfaces and the arrays that they read. An array is slices of rows of elements in device memory without gaps;
   a GPU tiles it, which no function of the runtime shows. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

enum { ARRAY, MIPMAPPED, LINEAR, PITCHED };                   /* resources */
enum { UNSIGNED = 1, FLOAT = 2, LAYERED = 1, SURFACE = 2, CUBEMAP = 4, GATHER = 8, FACES = 6 }; /* kind of a channel; flags of an array */
enum { MOST_LEVELS = 32, INVALID_PITCH = 12, INVALID_CHANNELS = 20, INVALID_FILTER = 26 };

typedef struct { int x, y, z, w, kind; } channels;
typedef struct { char *bytes; size_t width, height, pitch, depth; channels format; unsigned flags; } array;
typedef struct { array *levels; unsigned count; } mipmapped; /* each level half as large as the one before */
typedef struct { void *pointer; channels format; size_t width, height, pitch; } pitched; /* of LINEAR width is the size */
typedef struct { int type; union { array *array; mipmapped *levels; pitched rows; int reserved[32]; } of; unsigned flags; } resource;
typedef struct { int address[3], filter, read, srgb; float border[4]; int normalized; unsigned anisotropy;
                 int between; float bias, lowest, highest; int no_trilinear, seamless; } sampling; /* between: levels */

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

static int known_size(extent size, unsigned flags)
{
    if (!size.width)
        return 0;
    if (flags & CUBEMAP)
        return size.height == size.width && size.depth && (flags & LAYERED ? size.depth % FACES == 0 : size.depth == FACES);
    return (size.height || !size.depth || flags & LAYERED) && (size.depth || !(flags & LAYERED));
}

static size_t slices(extent size) { return size.depth ? size.depth : 1; }

static array array_at(word address, const channels *format, extent size, unsigned flags)
{
    size_t pitch = size.width * element_size(*format);
    return (array){(char *)(uintptr_t)address, size.width, size.height, pitch, size.depth, *format, flags};
}

static size_t bytes_of(const channels *format, extent size)
{
    return size.width * element_size(*format) * (size.height ? size.height : 1) * slices(size);
}

static cudaError_t check_array(const void *result, const channels *format, extent size, unsigned flags)
{
    if (flags & ~(unsigned)(LAYERED | SURFACE | CUBEMAP | GATHER))
        return refuse("arrays of sparse memory");
    if (!result || !format || !known_size(size, flags))
        return finish(INVALID_VALUE);
    return known_format(*format) ? SUCCESS : finish(INVALID_CHANNELS);
}

EXPORT cudaError_t cudaMalloc3DArray(array **result, const channels *format, extent size, unsigned flags)
{
    word address;
    cudaError_t error = check_array(result, format, size, flags);
    if (error)
        return error;
    error = ASK(ALLOCATE, &address, 1, bytes_of(format, size), DEVICE_MEMORY);
    if (error)
        return finish(error);
    *result = malloc(sizeof **result);
    **result = array_at(address, format, size, flags);
    return SUCCESS;
}

EXPORT cudaError_t cudaMallocArray(array **result, const channels *format, size_t width, size_t height, unsigned flags)
{
    return cudaMalloc3DArray(result, format, (extent){width, height, 0}, flags);
}

static size_t half(size_t size) { return size > 1 ? size / 2 : size; }

EXPORT cudaError_t cudaFreeMipmappedArray(mipmapped *which)
{
    cudaError_t error = SUCCESS;
    flush_output();
    for (unsigned level = 0; which && level < which->count && !error; level++)
        error = ASK(RELEASE, NULL, 0, W(which->levels[level].bytes));
    if (which)
        free(which->levels);
    free(which);
    return finish(error);
}

EXPORT cudaError_t cudaMallocMipmappedArray(mipmapped **result, const channels *format, extent size, unsigned count,
                                            unsigned flags)
{
    cudaError_t error = check_array(result, format, size, flags);
    if (error)
        return error;
    unsigned most = 1;
    for (size_t left = size.width | size.height | (flags & (LAYERED | CUBEMAP) ? 0 : size.depth); left > 1; left /= 2)
        most++;
    count = !count ? 1 : count < most ? count : most;
    mipmapped *own = malloc(sizeof *own);
    *own = (mipmapped){malloc(count * sizeof(array)), 0};
    for (; own->count < count && !error; own->count += !error) {
        word address;
        error = ASK(ALLOCATE, &address, 1, bytes_of(format, size), DEVICE_MEMORY);
        if (!error)
            own->levels[own->count] = array_at(address, format, size, flags);
        size = (extent){half(size.width), half(size.height), flags & (LAYERED | CUBEMAP) ? size.depth : half(size.depth)};
    }
    if (error)
        return cudaFreeMipmappedArray(own), finish(error);
    *result = own;
    return SUCCESS;
}

EXPORT cudaError_t cudaGetMipmappedArrayLevel(array **result, const mipmapped *of, unsigned level)
{
    if (!result || !of || level >= of->count)
        return finish(INVALID_VALUE);
    *result = &of->levels[level];
    return SUCCESS;
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
        *size = (extent){of->width, of->height, of->depth};
    if (flags)
        *flags = of->flags;
    return SUCCESS;
}

/* --- copies: x in bytes, y in rows; of an array of several slices the first one --- */

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

/* One side of a copy. Whether its box lies inside its array. */
static int side_without_array(void **which, position *at, pitched_ptr *memory, extent size)
{
    array *of = *which;
    if (!of)
        return memory->ptr != NULL;
    size_t rows = of->height ? of->height : 1;
    at->x *= element_size(of->format);
    *memory = (pitched_ptr){of->bytes, of->pitch, of->pitch, rows};
    *which = NULL;
    return at->x + size.width <= of->pitch && at->y + size.height <= rows
           && at->z + size.depth <= slices((extent){.depth = of->depth});
}

cudaError_t without_arrays(copy_3d *which)
{
    const array *from = which->srcArray, *to = which->dstArray;
    if (from && to && element_size(from->format) != element_size(to->format))
        return finish(INVALID_VALUE);
    which->size.width *= from ? element_size(from->format) : to ? element_size(to->format) : 1;
    int inside = side_without_array(&which->srcArray, &which->srcPos, &which->srcPtr, which->size);
    inside &= side_without_array(&which->dstArray, &which->dstPos, &which->dstPtr, which->size);
    return inside ? SUCCESS : finish(INVALID_VALUE);
}

/* --- objects --- */

/* What a resource is: slices of rows of elements; of linear memory one row, height 0. */
static cudaError_t described(const resource *of, array *result)
{
    if ((of->type == MIPMAPPED && !of->of.levels) || (of->type == ARRAY && !of->of.array))
        return finish(INVALID_VALUE);
    if (of->type == MIPMAPPED || of->type == ARRAY) {
        *result = of->type == ARRAY ? *of->of.array : of->of.levels->levels[0];
        return SUCCESS;
    }
    pitched own = of->of.rows;
    if (!known_format(own.format))
        return finish(INVALID_CHANNELS);
    *result = (array){own.pointer, own.width, own.height, own.pitch, 0, own.format, 0};
    if (of->type == LINEAR) {
        result->height = 0;
        result->pitch = own.width;
        result->width = own.width / element_size(own.format);
    }
    return SUCCESS;
}

static word bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static cudaError_t create(word *object, const resource *from, const sampling *how)
{
    array own;
    cudaError_t error = described(from, &own);
    if (error)
        return error;
    if (own.flags & CUBEMAP && how->seamless)
        return refuse("seamless cubes");
    channels f = own.format;
    int mip = from->type == MIPMAPPED;
    if ((how->filter || (mip && how->between)) && f.kind != FLOAT && !how->read)
        return finish(INVALID_FILTER);
    int integers = f.kind != FLOAT && !how->read;
    if (how->srgb && (integers || f.kind != UNSIGNED || f.x != 8))
        return refuse("sRGB of texels that are not fractions of 8 bits");
    if (integers && (how->border[0] != 0 || how->border[1] != 0 || how->border[2] != 0 || how->border[3] != 0))
        return refuse("border colours of integers");
    if (mip && !how->normalized)
        return finish(INVALID_VALUE);
    const mipmapped *all = mip ? from->of.levels : NULL;
    word levels[MOST_LEVELS] = {0};
    for (unsigned level = 1; all && level < all->count; level++)
        levels[level - 1] = W(all->levels[level].bytes);
    size_t size = all ? (all->count - 1) * sizeof *levels : 0;
    const word words[] = {
        W(own.bytes), own.width, own.height, own.pitch, own.depth, (own.flags & (LAYERED | CUBEMAP)) != 0, (word)f.kind,
        (word)f.x, (word)(1 + !!f.y + 2 * !!f.w), (word)how->address[0], (word)how->address[1], (word)how->address[2],
        (word)how->filter, (word)(how->srgb ? 2 : how->read), (word)how->normalized, (word)how->between,
        bits_of(how->bias), bits_of(how->lowest), bits_of(how->highest), bits_of(how->border[0]),
        bits_of(how->border[1]), bits_of(how->border[2]), bits_of(how->border[3]),
    };
    size_t room = 0;
    return finish(ask(&(question){DESCRIBE_TEXTURE, words, sizeof words / sizeof *words, levels, size, object, 1}, NULL, 0,
                      &room));
}

EXPORT cudaError_t cudaCreateTextureObject(word *object, const resource *from, const sampling *how, const void *view)
{
    if (!object || !from || !how)
        return finish(INVALID_VALUE);
    if (view)
        return refuse("resource views of textures");
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
