/* Streams and events. Every call has done its work when it returns; when the device would have done it, warpbound
   computes: that is what events measure. */
#define _GNU_SOURCE
#include "runtime.h"

#include <stdlib.h>

typedef struct stream { word number; unsigned flags; int priority; graph *recording; struct stream *next; } stream;
typedef struct { word number; unsigned flags; int recorded; graph *recording; } event;

static stream *streams;

static word numbers = 16; /* streams and events have numbers; 0, 1 and 2 are the streams that exist from the start */

static word next_number(void) { return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED); }

static int own(void *which) { return W(which) > 2; }

/* The number of a stream, and in bit 63 whether it does not wait for the default stream. */
static word number_of(void *which)
{
    stream *own_stream = which;
    return own(which) ? own_stream->number | (word)(own_stream->flags & 1) << 63 : W(which);
}

word stream_number(void *which) { return number_of(which); }

EXPORT cudaError_t cudaStreamCreateWithPriority(void **result, unsigned flags, int priority)
{
    stream *made = calloc(1, sizeof *made);
    *made = (stream){next_number(), flags, priority > 0 ? 0 : priority < -5 ? -5 : priority, NULL, streams};
    streams = made; /* never freed: a graph may end its recording later */
    *result = made;
    return SUCCESS;
}
EXPORT cudaError_t cudaStreamCreateWithFlags(void **result, unsigned flags)
{
    return cudaStreamCreateWithPriority(result, flags, 0);
}
EXPORT cudaError_t cudaStreamCreate(void **result) { return cudaStreamCreateWithPriority(result, 0, 0); }
EXPORT cudaError_t cudaStreamDestroy(void *which)
{
    return own(which) ? SUCCESS : finish(INVALID_HANDLE);
}
EXPORT cudaError_t cudaStreamGetFlags(void *which, unsigned *flags)
{
    *flags = own(which) ? ((stream *)which)->flags : 0;
    return SUCCESS;
}
EXPORT cudaError_t cudaStreamGetPriority(void *which, int *priority)
{
    *priority = own(which) ? ((stream *)which)->priority : 0;
    return SUCCESS;
}
EXPORT cudaError_t cudaStreamGetId(void *which, unsigned long long *number)
{
    *number = number_of(which);
    return SUCCESS;
}
EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return SUCCESS;
}

static cudaError_t synchronize(word which)
{
    flush_output();
    return finish(ASK(SYNCHRONIZE, NULL, 0, which));
}

EXPORT cudaError_t cudaStreamSynchronize(void *which) { return synchronize(number_of(which)); }
EXPORT cudaError_t cudaDeviceSynchronize(void) { return synchronize(EVERY_STREAM); }
EXPORT cudaError_t cudaThreadSynchronize(void) { return synchronize(EVERY_STREAM); }
EXPORT cudaError_t cudaStreamQuery(void *which)
{
    (void)which;
    return lasting();
}

EXPORT cudaError_t cudaStreamAddCallback(void *which, void (*callback)(void *, cudaError_t, void *), void *data,
                                         unsigned flags)
{
    (void)flags;
    flush_output();
    callback(which, SUCCESS, data);
    return SUCCESS;
}
EXPORT cudaError_t cudaLaunchHostFunc(void *which, void (*function)(void *), void *data)
{
    if (captured_by(which))
        return graph_add_host(captured_by(which), function, data), SUCCESS;
    flush_output();
    function(data);
    return SUCCESS;
}
EXPORT cudaError_t cudaStreamAttachMemAsync(void *which, void *pointer, size_t size, unsigned flags)
{
    (void)which, (void)pointer, (void)size, (void)flags;
    return SUCCESS;
}
graph *captured_by(void *which) { return own(which) ? ((stream *)which)->recording : NULL; }

EXPORT cudaError_t cudaStreamBeginCapture(void *which, int mode)
{
    (void)mode;
    if (!own(which))
        return finish(INVALID_VALUE);
    ((stream *)which)->recording = new_graph();
    return SUCCESS;
}
EXPORT cudaError_t cudaStreamEndCapture(void *which, graph **result)
{
    graph *ended = captured_by(which);
    if (!ended)
        return finish(INVALID_VALUE);
    for (stream *each = streams; each; each = each->next) /* and of the streams that have joined */
        if (each->recording == ended)
            each->recording = NULL;
    *result = ended;
    return SUCCESS;
}
EXPORT cudaError_t cudaStreamIsCapturing(void *which, int *status)
{
    *status = captured_by(which) != NULL;
    return SUCCESS;
}
EXPORT cudaError_t cudaStreamSetAttribute(void *which, int attribute, const void *value)
{
    (void)which, (void)attribute, (void)value;
    return SUCCESS;
}

/* --- events --- */

EXPORT cudaError_t cudaEventCreateWithFlags(void **result, unsigned flags)
{
    event *made = calloc(1, sizeof *made);
    *made = (event){next_number(), flags, 0, NULL};
    *result = made;
    return SUCCESS;
}
EXPORT cudaError_t cudaEventCreate(void **result) { return cudaEventCreateWithFlags(result, 0); }
EXPORT cudaError_t cudaEventDestroy(void *which)
{
    free(which);
    return SUCCESS;
}
EXPORT cudaError_t cudaEventRecord(void *which, void *where)
{
    event *own_event = which;
    if (!own_event)
        return finish(INVALID_HANDLE);
    own_event->recorded = 1;
    own_event->recording = captured_by(where);
    if (own_event->recording)
        return SUCCESS;
    return finish(ASK(RECORD, NULL, 0, own_event->number, number_of(where)));
}
EXPORT cudaError_t cudaEventRecordWithFlags(void *which, void *where, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(which, where);
}
EXPORT cudaError_t cudaEventSynchronize(void *which)
{
    event *own_event = which;
    flush_output();
    return finish(own_event ? ASK(WAIT_ON_HOST, NULL, 0, own_event->number) : INVALID_HANDLE);
}
EXPORT cudaError_t cudaEventQuery(void *which) { return which ? cudaEventSynchronize(which) : finish(INVALID_HANDLE); }
static int still_recording(const graph *which)
{
    for (stream *each = streams; each && which; each = each->next)
        if (each->recording == which)
            return 1;
    return 0;
}
EXPORT cudaError_t cudaStreamWaitEvent(void *where, void *which, unsigned flags)
{
    event *own_event = which;
    (void)flags;
    if (own_event && own(where) && still_recording(own_event->recording)) {
        ((stream *)where)->recording = own_event->recording;
        return SUCCESS;
    }
    return finish(own_event ? ASK(WAIT, NULL, 0, number_of(where), own_event->number) : INVALID_HANDLE);
}
EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, void *first, void *second)
{
    event *from = first, *to = second;
    word picoseconds;
    if (!from || !to || !from->recorded || !to->recorded)
        return finish(INVALID_HANDLE);
    cudaError_t error = ASK(ELAPSED, &picoseconds, 1, from->number, to->number);
    if (!error)
        *milliseconds = (float)((double)(int64_t)picoseconds * 1e-9);
    return finish(error);
}
EXPORT cudaError_t cudaEventElapsedTime_v2(float *milliseconds, void *first, void *second)
{
    return cudaEventElapsedTime(milliseconds, first, second);
}
