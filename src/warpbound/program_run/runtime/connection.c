/* The connection to warpbound, errors, and what kernels print. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int channel = -1;
static pid_t owner;                     /* a process that forks does not take its context along */
static __thread cudaError_t last_error;
static cudaError_t lasting_error;       /* after a fault of a kernel nothing works any more */
static char *output;
static size_t output_size;

static void lost(const char *why)
{
    fprintf(stderr, "warpbound: the program lost its connection to warpbound (%s).\n", why);
    _exit(1);
}

static void send_all(const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t sent = send(channel, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            lost("sending failed");
        at += sent;
        size -= (size_t)sent;
    }
}

static void receive_all(void *bytes, size_t size)
{
    for (char *at = bytes; size;) {
        ssize_t got = recv(channel, at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            lost("it ended");
        at += got;
        size -= (size_t)got;
    }
}

static int receive_file(void)
{
    char byte;
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message))
        lost("no memory came");
    int file;
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

/* Connect at the first call: programs that never use the device, and those that they start, are left alone. */
static cudaError_t connected(void)
{
    if (channel >= 0)
        return getpid() == owner ? SUCCESS : NOT_INITIALIZED;
    const char *path = getenv("WARPBOUND_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof address.sun_path)
        return NOT_INITIALIZED;
    strcpy(address.sun_path, path);
    channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (channel < 0 || connect(channel, (struct sockaddr *)&address, sizeof address))
        lost("no answer at its socket");
    owner = getpid();
    word hello[] = {(word)owner, CUDART};
    send_all(hello, sizeof hello);
    int file = receive_file();
    void *heap = mmap((void *)HEAP, HEAP_B, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE,
                      file, 0);
    close(file);
    if (heap != (void *)HEAP)
        lost("its addresses are taken");
    return SUCCESS;
}

static cudaError_t ask_locked(const question *what, void *bytes, size_t room, size_t *size)
{
    cudaError_t error = connected();
    if (error)
        return error;
    uint32_t head[4] = {what->operation, (uint32_t)what->words, (uint32_t)what->size, 0};
    send_all(head, sizeof head);
    send_all(what->in, what->words * sizeof(word));
    send_all(what->bytes, what->size);
    receive_all(head, sizeof head); /* error, words, bytes, bytes that kernels have printed */
    for (size_t i = 0; i < head[1]; i++) {
        word value;
        receive_all(&value, sizeof value);
        if (i < what->out_words)
            what->out[i] = value;
    }
    for (size_t i = 0; i < head[2];) {
        char part[4096];
        size_t some = head[2] - i < sizeof part ? head[2] - i : sizeof part;
        receive_all(part, some);
        if (i < room)
            memcpy((char *)bytes + i, part, room - i < some ? room - i : some);
        i += some;
    }
    if (size)
        *size = head[2];
    if (head[3]) {
        output = realloc(output, output_size + head[3]);
        receive_all(output + output_size, head[3]);
        output_size += head[3];
    }
    if (head[0] == ILLEGAL_ADDRESS || head[0] == ASSERT || head[0] == LAUNCH_FAILURE)
        lasting_error = (cudaError_t)head[0];
    return (cudaError_t)head[0];
}

cudaError_t ask(const question *what, void *bytes, size_t room, size_t *size)
{
    pthread_mutex_lock(&lock);
    cudaError_t error = lasting_error ? lasting_error : ask_locked(what, bytes, room, size);
    pthread_mutex_unlock(&lock);
    return error;
}

cudaError_t ask_words(uint32_t operation, word *out, size_t out_words, size_t words, const word *in)
{
    question what = {operation, in, words, "", 0, out, out_words};
    return ask(&what, NULL, 0, NULL);
}

void flush_output(void)
{
    pthread_mutex_lock(&lock);
    if (output_size) {
        fwrite(output, 1, output_size, stdout);
        output_size = 0;
    }
    pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void at_end(void)
{
    if (channel >= 0 && getpid() == owner) {
        flush_output();
        fflush(stdout);
    }
}

/* --- errors --- */

cudaError_t finish(cudaError_t error)
{
    if (error)
        last_error = error;
    return error;
}

cudaError_t lasting(void) { return lasting_error; }

cudaError_t refuse(const char *name)
{
    question what = {REFUSED, NULL, 0, name, strlen(name), NULL, 0};
    ask(&what, NULL, 0, NULL);
    return finish(NOT_SUPPORTED);
}

EXPORT cudaError_t cudaGetLastError(void)
{
    cudaError_t error = lasting_error ? lasting_error : last_error;
    last_error = SUCCESS;
    return error;
}

EXPORT cudaError_t cudaPeekAtLastError(void) { return lasting_error ? lasting_error : last_error; }

typedef struct { cudaError_t error; const char *name, *text; } error_text;

static const error_text texts[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {26, "cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {710, "cudaErrorAssert", "device-side assert triggered"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {999, "cudaErrorUnknown", "unknown error"},
};

static const error_text *text_of(cudaError_t error)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].error == error)
            return &texts[i];
    return NULL;
}

EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    const error_text *text = text_of(error);
    return text ? text->name : "unrecognized error code";
}

EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    const error_text *text = text_of(error);
    return text ? text->text : "unrecognized error code";
}
