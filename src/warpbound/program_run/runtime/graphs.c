/* Graphs: lists of work that are done in the order in which their nodes were made, which no dependence contradicts. */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

typedef enum { KERNEL_NODE, COPY_NODE, FILL_NODE, HOST_NODE, EMPTY_NODE } node_type;

typedef struct node {
    node_type type;
    struct node *original; /* of which this one is a copy */
    launch_request launch;
    transfer_request transfer;
    fill_request fill;
    void (*function)(void *);
    void *data;
} node;

struct graph {
    node **nodes;
    size_t count;
};

graph *new_graph(void) { return calloc(1, sizeof(graph)); }

static node *add(graph *to, node made)
{
    node *kept = malloc(sizeof *kept);
    *kept = made;
    to->nodes = realloc(to->nodes, (to->count + 1) * sizeof *to->nodes);
    to->nodes[to->count++] = kept;
    return kept;
}

static launch_request owned(launch_request request)
{
    void *bytes = malloc(request.size ? request.size : 1);
    memcpy(bytes, request.bytes, request.size);
    request.bytes = bytes;
    return request;
}

void graph_add_launch(graph *to, launch_request what) { add(to, (node){.type = KERNEL_NODE, .launch = owned(what)}); }
void graph_add_transfer(graph *to, transfer_request what) { add(to, (node){.type = COPY_NODE, .transfer = what}); }
void graph_add_fill(graph *to, fill_request what) { add(to, (node){.type = FILL_NODE, .fill = what}); }
void graph_add_host(graph *to, void (*function)(void *), void *data)
{
    add(to, (node){.type = HOST_NODE, .function = function, .data = data});
}

static cudaError_t done(const node *what, void *stream)
{
    switch (what->type) {
    case KERNEL_NODE:
        return send_launch(what->launch, stream);
    case COPY_NODE:
        return do_transfer(what->transfer, stream, 0);
    case FILL_NODE:
        return do_fill(what->fill, stream);
    case HOST_NODE:
        flush_output();
        what->function(what->data);
        return SUCCESS;
    default:
        return SUCCESS;
    }
}

static graph *copy_of(const graph *from)
{
    graph *made = new_graph();
    for (size_t i = 0; i < from->count; i++) {
        node *copied = add(made, *from->nodes[i]);
        copied->original = from->nodes[i];
        if (copied->type == KERNEL_NODE)
            copied->launch = owned(copied->launch);
    }
    return made;
}

EXPORT cudaError_t cudaGraphCreate(graph **result, unsigned flags)
{
    (void)flags;
    *result = new_graph();
    return SUCCESS;
}
EXPORT cudaError_t cudaGraphDestroy(graph *which)
{
    (void)which; /* nodes may be asked for until the program ends */
    return SUCCESS;
}
EXPORT cudaError_t cudaGraphExecDestroy(graph *which) { return cudaGraphDestroy(which); }
EXPORT cudaError_t cudaGraphClone(graph **result, graph *from)
{
    *result = copy_of(from);
    return SUCCESS;
}
EXPORT cudaError_t cudaGraphInstantiate(graph **result, graph *from) { return cudaGraphClone(result, from); }
EXPORT cudaError_t cudaGraphInstantiateWithFlags(graph **result, graph *from) { return cudaGraphClone(result, from); }
EXPORT cudaError_t cudaGraphUpload(graph *which, void *stream)
{
    (void)which, (void)stream;
    return SUCCESS;
}
EXPORT cudaError_t cudaGraphLaunch(graph *which, void *stream)
{
    cudaError_t error = SUCCESS;
    for (size_t i = 0; i < which->count && !error; i++)
        error = done(which->nodes[i], stream);
    return finish(error);
}

EXPORT cudaError_t cudaGraphGetNodes(graph *which, node **nodes, size_t *count)
{
    for (size_t i = 0; nodes && i < which->count && i < *count; i++)
        nodes[i] = which->nodes[i];
    *count = which->count;
    return SUCCESS;
}
EXPORT cudaError_t cudaGraphNodeGetType(node *which, int *type)
{
    static const int numbers[] = {0, 1, 2, 3, 5};
    *type = numbers[which->type];
    return SUCCESS;
}
EXPORT cudaError_t cudaGraphAddDependencies(graph *which)
{
    (void)which;
    return SUCCESS;
}
EXPORT cudaError_t cudaGraphExecUpdate(graph *which, graph *from, int *result)
{
    graph *fresh = copy_of(from);
    int equal = which->count == from->count;
    for (size_t i = 0; equal && i < which->count; i++)
        equal = which->nodes[i]->type == from->nodes[i]->type;
    if (!equal)
        return finish(910); /* cudaErrorGraphExecUpdateFailure */
    which->nodes = fresh->nodes;
    (void)result;
    return SUCCESS;
}

/* --- nodes, one by one --- */

typedef struct { void *function; dim3 grid, block; unsigned shared; void **arguments, **extra; } kernel_parameters;
typedef struct { void *to; size_t pitch; unsigned value, element; size_t width, height; } fill_parameters;
typedef struct { void (*function)(void *); void *data; } host_parameters;

static cudaError_t request_of(const kernel_parameters *what, launch_request *result)
{
    cudaError_t error;
    kernel *which = kernel_of(what->function, &error);
    if (which)
        *result = pack_launch(which, what->grid, what->block, what->arguments, what->shared);
    return error;
}

EXPORT cudaError_t cudaGraphAddKernelNode(node **result, graph *to, const void *after, size_t count,
                                          const kernel_parameters *what)
{
    launch_request request;
    cudaError_t error = request_of(what, &request);
    (void)after, (void)count;
    if (!error)
        *result = add(to, (node){.type = KERNEL_NODE, .launch = owned(request)});
    return finish(error);
}

EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(graph *where, node *which, const kernel_parameters *what)
{
    launch_request request;
    cudaError_t error = request_of(what, &request);
    for (size_t i = 0; i < where->count && !error; i++)
        if (where->nodes[i]->original == which)
            where->nodes[i]->launch = owned(request);
    return finish(error);
}

EXPORT cudaError_t cudaGraphKernelNodeSetParams(node *which, const kernel_parameters *what)
{
    launch_request request;
    cudaError_t error = request_of(what, &request);
    if (!error)
        which->launch = owned(request);
    return finish(error);
}

EXPORT cudaError_t cudaGraphAddMemcpyNode(node **result, graph *to, const void *after, size_t count, const copy_3d *what)
{
    (void)after, (void)count;
    copy_3d plain = *what;
    cudaError_t error = without_arrays(&plain);
    *result = NULL;
    for (size_t z = 0; z < plain.size.depth && !error; z++)
        *result = add(to, (node){.type = COPY_NODE, .transfer = slice(&plain, z)});
    return error;
}

EXPORT cudaError_t cudaGraphAddMemcpyNode1D(node **result, graph *to, const void *after, size_t count, void *target,
                                            const void *from, size_t size, int kind)
{
    (void)after, (void)count;
    *result = add(to, (node){.type = COPY_NODE, .transfer = {target, size, from, size, size, 1, kind}});
    return SUCCESS;
}

EXPORT cudaError_t cudaGraphAddMemsetNode(node **result, graph *to, const void *after, size_t count,
                                          const fill_parameters *what)
{
    (void)after, (void)count;
    fill_request request = {what->to, what->pitch, what->value, what->element, what->width * what->element, what->height};
    *result = add(to, (node){.type = FILL_NODE, .fill = request});
    return SUCCESS;
}

EXPORT cudaError_t cudaGraphAddHostNode(node **result, graph *to, const void *after, size_t count,
                                        const host_parameters *what)
{
    (void)after, (void)count;
    *result = add(to, (node){.type = HOST_NODE, .function = what->function, .data = what->data});
    return SUCCESS;
}

EXPORT cudaError_t cudaGraphAddEmptyNode(node **result, graph *to, const void *after, size_t count)
{
    (void)after, (void)count;
    *result = add(to, (node){.type = EMPTY_NODE});
    return SUCCESS;
}

typedef struct { char properties[88]; const void *access; size_t accesses, size; void *pointer; } allocation;

EXPORT cudaError_t cudaGraphAddMemAllocNode(node **result, graph *to, const void *after, size_t count, allocation *what)
{
    cudaError_t error = allocate_for_graph(&what->pointer, what->size);
    return error ? error : cudaGraphAddEmptyNode(result, to, after, count);
}
EXPORT cudaError_t cudaGraphAddMemFreeNode(node **result, graph *to, const void *after, size_t count, void *pointer)
{
    (void)pointer;
    return cudaGraphAddEmptyNode(result, to, after, count);
}

EXPORT cudaError_t cudaGraphAddChildGraphNode(node **result, graph *to, const void *after, size_t count, graph *child)
{
    (void)after, (void)count;
    graph *copied = copy_of(child);
    for (size_t i = 0; i < copied->count; i++)
        add(to, *copied->nodes[i]);
    *result = add(to, (node){.type = EMPTY_NODE});
    return SUCCESS;
}
