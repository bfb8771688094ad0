/* What the files of this replacement of libcudart share: types of the CUDA runtime API as they lie in memory, and the
   connection to warpbound.

   The replacement keeps no state of the device. Device memory is a file that the program maps at HEAP; warpbound maps
   the same file, so a device pointer means the same byte on both sides. All else is a question over a socket. */
#ifndef WARPBOUND_RUNTIME_H
#define WARPBOUND_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#include "operations.h" /* written by warpbound.program_run.protocol: numbers of the questions, HEAP, HEAP_B */

#define EXPORT __attribute__((visibility("default")))

typedef int cudaError_t;
typedef uint64_t word;

enum {
    SUCCESS = 0, INVALID_VALUE = 1, NO_MEMORY = 2, NOT_INITIALIZED = 3, INVALID_CONFIGURATION = 9, INVALID_SYMBOL = 13,
    INVALID_DEVICE_FUNCTION = 98, INVALID_DEVICE = 101, INVALID_HANDLE = 400, ILLEGAL_ADDRESS = 700, ASSERT = 710,
    LAUNCH_FAILURE = 719, NOT_SUPPORTED = 801
};

typedef struct { unsigned x, y, z; } dim3;
typedef struct { void *ptr; size_t pitch, xsize, ysize; } pitched_ptr;
typedef struct { size_t width, height, depth; } extent;
typedef struct { size_t x, y, z; } position;

/* one question: the words of `in` and `size` more bytes; the answer's words go to `out`, its bytes are kept (answered_text) */
typedef struct {
    uint32_t operation;
    const word *in;
    size_t words;
    const void *bytes;
    size_t size;
    word *out;
    size_t out_words;
} question;

cudaError_t ask(const question *what, void *bytes, size_t room, size_t *size);
cudaError_t ask_words(uint32_t operation, word *out, size_t out_words, size_t words, const word *in);
cudaError_t finish(cudaError_t error);      /* remembers an error for cudaGetLastError */
cudaError_t refuse(const char *name);       /* a function of CUDA that warpbound does not have */
cudaError_t lasting(void);                  /* the error after which nothing works any more, if any */
word stream_number(void *stream);           /* its number; bit 63: it does not wait for the default stream */
void flush_output(void);                    /* prints what kernels have printed */

#define ASK(operation, out, out_words, ...) \
    ask_words(operation, out, out_words, sizeof((word[]){__VA_ARGS__}) / sizeof(word), (word[]){__VA_ARGS__})
#define W(value) ((word)(uintptr_t)(value))

static inline int on_device(const void *pointer) { return W(pointer) - HEAP < HEAP_B; }

/* kernels and variables that the program has registered (registration.c) */
typedef struct { uint32_t offset, size; } parameter;

typedef struct kernel {
    struct module *module;
    const void *host;
    const char *name;
    word number;            /* warpbound's, from 1; 0 until it is known */
    word attributes[8];     /* shared, constant, local bytes; threads; registers; architecture; parameters; their bytes */
    parameter *parameters;
    int dynamic_shared;     /* cudaFuncAttributeMaxDynamicSharedMemorySize */
    int carveout;
    int cluster_free;
} kernel;

kernel *kernel_of(const void *function, cudaError_t *error);
cudaError_t variable_of(const void *symbol, char **address, size_t *size);

/* work that is done at once, or later by a graph */
typedef struct { kernel *what; dim3 grid, block, cluster; size_t shared; unsigned flags; const void *bytes; size_t size; } launch_request;
typedef struct { void *to; size_t to_pitch; const void *from; size_t from_pitch, width, rows; int kind; } transfer_request;
typedef struct { void *to; size_t pitch; unsigned value, element; size_t width, rows; } fill_request; /* width in bytes */

typedef struct {
    void *srcArray;
    position srcPos;
    pitched_ptr srcPtr;
    void *dstArray;
    position dstPos;
    pitched_ptr dstPtr;
    extent size;
    int kind;
} copy_3d;

launch_request pack_launch(kernel *what, dim3 grid, dim3 block, void **arguments, size_t shared); /* bytes: until the next one */
cudaError_t send_launch(launch_request request, void *stream);
cudaError_t do_transfer(transfer_request request, void *stream, int blocking);
cudaError_t do_fill(fill_request request, void *stream);
cudaError_t without_arrays(copy_3d *which);  /* arrays become pitched memory, and x and the width bytes (textures.c) */
transfer_request slice(const copy_3d *parameters, size_t z);

/* graphs (graphs.c) */
typedef struct graph graph;
graph *new_graph(void);
cudaError_t allocate_for_graph(void **pointer, size_t size);
graph *captured_by(void *stream); /* the graph that records what the stream is given; NULL: none */
void graph_add_launch(graph *to, launch_request what);
void graph_add_transfer(graph *to, transfer_request what);
void graph_add_fill(graph *to, fill_request what);
void graph_add_host(graph *to, void (*function)(void *), void *data);

cudaError_t copy(void *to, const void *from, size_t size, int kind, void *stream, int blocking);

#endif
