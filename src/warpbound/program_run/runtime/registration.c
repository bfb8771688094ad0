/* What the compiler registers before main: fat binaries, kernels, variables. warpbound gets a fat binary when it is
   first needed. */
#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct variable {
    struct module *module;
    const void *host;
    const char *name;
    size_t size;
    void **managed; /* the pointer that stands for a __managed__ variable on the host */
} variable;

typedef struct module {
    const char *image;
    word number; /* warpbound's, from 1 */
    cudaError_t error;
} module;

typedef struct { uint32_t magic, version; const char *image; void *name; } wrapper;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kernel **kernels;
static variable *variables;
static size_t kernel_count, variable_count;

EXPORT void **__cudaRegisterFatBinary(void *fat)
{
    module *made = calloc(1, sizeof *made);
    made->image = ((wrapper *)fat)->image;
    return (void **)made;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

EXPORT void __cudaUnregisterFatBinary(void **handle) { (void)handle; } /* the program ends */

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid,
                                   void *bid, void *block, void *grid, int *warps)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warps;
    kernel *made = calloc(1, sizeof *made);
    made->module = (module *)handle;
    made->host = host;
    made->name = name;
    pthread_mutex_lock(&lock);
    kernels = realloc(kernels, (kernel_count + 1) * sizeof *kernels);
    kernels[kernel_count++] = made;
    pthread_mutex_unlock(&lock);
}

static void add_variable(variable made)
{
    pthread_mutex_lock(&lock);
    variables = realloc(variables, (variable_count + 1) * sizeof *variables);
    variables[variable_count++] = made;
    pthread_mutex_unlock(&lock);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
                              int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    add_variable((variable){(module *)handle, host, name, size, NULL});
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t size,
                                     int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    add_variable((variable){(module *)handle, host, name, size, host});
}

EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dimensions,
                                  int normalized, int external)
{
    (void)handle, (void)host, (void)device, (void)name, (void)dimensions, (void)normalized, (void)external;
    refuse("texture references");
}

EXPORT void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dimensions,
                                  int external)
{
    (void)handle, (void)host, (void)device, (void)name, (void)dimensions, (void)external;
    refuse("surface references");
}

static size_t image_size(const char *image)
{
    uint16_t header;
    uint64_t rest;
    memcpy(&header, image + 6, sizeof header);
    memcpy(&rest, image + 8, sizeof rest);
    return header + rest;
}

static cudaError_t loaded(module *which)
{
    if (!which->number && !which->error) {
        question what = {MODULE, NULL, 0, which->image, image_size(which->image), &which->number, 1};
        which->error = ask(&what, NULL, 0, NULL);
    }
    return which->error;
}

static cudaError_t resolved(kernel *which)
{
    if (which->number)
        return SUCCESS;
    cudaError_t error = loaded(which->module);
    if (error)
        return error;
    parameter room[4096 / sizeof(parameter)];
    word answer[9];
    size_t size;
    question what = {KERNEL, &which->module->number, 1, which->name, strlen(which->name), answer, 9};
    error = ask(&what, room, sizeof room, &size);
    if (error)
        return error;
    which->parameters = malloc(size);
    memcpy(which->parameters, room, size);
    memcpy(which->attributes, answer + 1, sizeof which->attributes);
    which->number = answer[0];
    return SUCCESS;
}

kernel *kernel_of(const void *function, cudaError_t *error)
{
    kernel *result = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < kernel_count && !result; i++)
        if (kernels[i]->host == function || kernels[i] == function)
            result = kernels[i];
    pthread_mutex_unlock(&lock);
    *error = result ? resolved(result) : INVALID_DEVICE_FUNCTION;
    return *error ? NULL : result;
}

static cudaError_t address_of(variable *which, char **address, size_t *size)
{
    cudaError_t error = loaded(which->module);
    if (error)
        return error;
    word answer[2];
    question what = {VARIABLE, &which->module->number, 1, which->name, strlen(which->name), answer, 2};
    error = ask(&what, NULL, 0, NULL);
    if (!error) {
        *address = (char *)(uintptr_t)answer[0];
        *size = answer[1];
    }
    return error;
}

cudaError_t variable_of(const void *symbol, char **address, size_t *size)
{
    for (size_t i = 0; i < variable_count; i++)
        if (variables[i].host == symbol)
            return address_of(&variables[i], address, size);
    return INVALID_SYMBOL;
}

EXPORT char __cudaInitModule(void **handle)
{
    for (size_t i = 0; i < variable_count; i++) {
        variable *which = &variables[i];
        char *address;
        size_t size;
        if ((void **)which->module == handle && which->managed && !address_of(which, &address, &size))
            *which->managed = address;
    }
    return 1;
}

EXPORT cudaError_t __cudaGetKernel(void **kernel_handle, const void *function)
{
    for (size_t i = 0; i < kernel_count; i++)
        if (kernels[i]->host == function) {
            *kernel_handle = kernels[i];
            return SUCCESS;
        }
    return INVALID_DEVICE_FUNCTION;
}

EXPORT cudaError_t cudaGetKernel(void **kernel_handle, const void *function)
{
    return finish(__cudaGetKernel(kernel_handle, function));
}

/* --- symbols --- */

EXPORT cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    char *address;
    size_t size;
    cudaError_t error = variable_of(symbol, &address, &size);
    if (!error)
        *pointer = address;
    return finish(error);
}

EXPORT cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    char *address;
    return finish(variable_of(symbol, &address, size));
}

EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size, size_t offset, int kind,
                                           void *stream)
{
    char *address;
    size_t room;
    cudaError_t error = variable_of(symbol, &address, &room);
    if (!error && (offset > room || size > room - offset))
        error = INVALID_VALUE;
    return finish(error ? error : copy(address + offset, from, size, kind, stream, 0));
}

EXPORT cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset, int kind)
{
    return cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, NULL);
}

EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset, int kind,
                                             void *stream)
{
    char *address;
    size_t room;
    cudaError_t error = variable_of(symbol, &address, &room);
    if (!error && (offset > room || size > room - offset))
        error = INVALID_VALUE;
    return finish(error ? error : copy(to, address + offset, size, kind, stream, 1));
}

EXPORT cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset, int kind)
{
    return cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, NULL);
}
