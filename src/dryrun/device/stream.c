/* Streams, events and the capture of graphs. Work is done at once, so events are always ready. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dryrun/device/state.h"

/* A capture into a graph. Streams and events refer to it after its end, so it is never freed. */
struct capture {
    uint64_t id;
    bool is_active;
    void *graph;
};

struct stream {
    int priority, device;
    unsigned flags;
    uint64_t id;
    struct capture *capture;
};

struct event {
    struct capture *capture; /* the capture of the stream in which it was recorded */
    double milliseconds;
};

static uint64_t last_id = 2;
static struct stream legacy;

/* The handles 0, 1 and 2 are default streams. */
static struct stream *stream_of(void *handle)
{
    return (uintptr_t)handle <= 2 ? &legacy : handle;
}

/* NULL: nothing is being captured. */
static struct capture *capture_of(struct capture *capture)
{
    return capture && capture->is_active ? capture : NULL;
}

static uint64_t new_id(void)
{
    return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
}

API int cudaStreamCreateWithPriority(void **handle, unsigned flags, int priority)
{
    machine_start();
    pthread_mutex_lock(&machine.lock);
    struct stream *stream =
        (void *)(uintptr_t)space_take(&machine.streams, sizeof(*stream), _Alignof(struct stream));
    pthread_mutex_unlock(&machine.lock);
    if (!stream)
        return runtime_fail(CUDA_OUT_OF_MEMORY);
    *stream = (struct stream){priority, device_current(), flags, new_id(), NULL};
    *handle = stream;
    return CUDA_OK;
}

API int cudaStreamCreateWithFlags(void **handle, unsigned flags)
{
    return cudaStreamCreateWithPriority(handle, flags, 0);
}

API int cudaStreamCreate(void **handle)
{
    return cudaStreamCreateWithPriority(handle, 0, 0);
}

API int cudaStreamDestroy(void *handle)
{
    pthread_mutex_lock(&machine.lock);
    if (stream_of(handle) != &legacy)
        space_give_back(&machine.streams, (uint64_t)(uintptr_t)handle);
    pthread_mutex_unlock(&machine.lock);
    return CUDA_OK;
}

API int cudaStreamQuery(void)
{
    return CUDA_OK;
}

API int cudaStreamGetPriority(void *handle, int *priority)
{
    *priority = stream_of(handle)->priority;
    return CUDA_OK;
}

API int cudaStreamGetFlags(void *handle, unsigned *flags)
{
    *flags = stream_of(handle)->flags;
    return CUDA_OK;
}

API int cudaStreamGetDevice(void *handle, int *device)
{
    *device = stream_of(handle) == &legacy ? device_current() : stream_of(handle)->device;
    return CUDA_OK;
}

API int cudaStreamGetId(void *handle, uint64_t *id)
{
    *id = stream_of(handle)->id;
    return CUDA_OK;
}

API int cudaStreamWaitEvent(void *handle, struct event *event)
{
    struct stream *stream = stream_of(handle);
    struct capture *capture = capture_of(event->capture);
    if (capture) /* the stream joins the capture */
        stream->capture = capture;
    return CUDA_OK;
}

API int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data)
{
    function(data);
    return CUDA_OK;
}

API int cudaStreamAddCallback(void *stream, void (*function)(void *, int, void *), void *data)
{
    function(stream, CUDA_OK, data);
    return CUDA_OK;
}

API int cudaThreadExchangeStreamCaptureMode(void)
{
    return CUDA_OK;
}

/* Events. */

API int cudaEventCreateWithFlags(void **handle)
{
    *handle = calloc(1, sizeof(struct event));
    return *handle ? CUDA_OK : runtime_fail(CUDA_OUT_OF_MEMORY);
}

API int cudaEventCreate(void **handle)
{
    return cudaEventCreateWithFlags(handle);
}

API int cudaEventDestroy(void *handle)
{
    free(handle);
    return CUDA_OK;
}

API int cudaEventRecord(struct event *event, void *handle)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->milliseconds = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
    event->capture = capture_of(stream_of(handle)->capture);
    return CUDA_OK;
}

API int cudaEventRecordWithFlags(struct event *event, void *handle)
{
    return cudaEventRecord(event, handle);
}

API int cudaEventQuery(void)
{
    return CUDA_OK;
}

API int cudaEventSynchronize(void)
{
    return CUDA_OK;
}

API int cudaEventElapsedTime(float *milliseconds, const struct event *from, const struct event *to)
{
    double passed = to->milliseconds - from->milliseconds;
    *milliseconds = passed < 1e-3 ? 1e-3F : (float)passed; /* programs divide by it */
    return CUDA_OK;
}

API int cudaEventElapsedTime_v2(float *milliseconds, const struct event *from,
                                const struct event *to)
{
    return cudaEventElapsedTime(milliseconds, from, to);
}

/* Captures. A graph holds nothing: a replay would do nothing. */

API int cudaGraphCreate(void **graph)
{
    *graph = malloc(1);
    return *graph ? CUDA_OK : runtime_fail(CUDA_OUT_OF_MEMORY);
}

API int cudaGraphDestroy(void *graph)
{
    free(graph);
    return CUDA_OK;
}

static int begin(struct stream *stream, void *graph)
{
    struct capture *capture = malloc(sizeof(*capture));
    if (!capture)
        return runtime_fail(CUDA_OUT_OF_MEMORY);
    *capture = (struct capture){new_id(), true, graph};
    stream->capture = capture;
    return CUDA_OK;
}

API int cudaStreamBeginCapture(void *handle)
{
    void *graph;
    int status = cudaGraphCreate(&graph);
    return status ? status : begin(stream_of(handle), graph);
}

API int cudaStreamBeginCaptureToGraph(void *handle, void *graph)
{
    return begin(stream_of(handle), graph);
}

API int cudaStreamEndCapture(void *handle, void **graph)
{
    struct stream *stream = stream_of(handle);
    struct capture *capture = capture_of(stream->capture);
    stream->capture = NULL;
    if (!capture)
        return runtime_fail(CUDA_INVALID_VALUE);
    capture->is_active = false;
    *graph = capture->graph;
    return CUDA_OK;
}

API int cudaStreamIsCapturing(void *handle, int *status)
{
    *status = capture_of(stream_of(handle)->capture) ? 1 : 0;
    return CUDA_OK;
}

API int cuStreamIsCapturing(void *handle, int *status)
{
    return cudaStreamIsCapturing(handle, status);
}

/* Writes status, id and graph; the last two only where asked for. */
static int get_capture(void *handle, int *status, uint64_t *id, void **graph)
{
    const struct capture *capture = capture_of(stream_of(handle)->capture);
    *status = capture ? 1 : 0;
    if (id)
        *id = capture ? capture->id : 0;
    if (graph)
        *graph = capture ? capture->graph : NULL;
    return CUDA_OK;
}

API int cudaStreamGetCaptureInfo_v2(void *handle, int *status, uint64_t *id, void **graph,
                                    void **dependencies, size_t *count)
{
    if (dependencies)
        *dependencies = NULL;
    if (count)
        *count = 0;
    return get_capture(handle, status, id, graph);
}

API int cudaStreamGetCaptureInfo_v3(void *handle, int *status, uint64_t *id, void **graph,
                                    void **dependencies, void **edges, size_t *count)
{
    if (edges)
        *edges = NULL;
    return cudaStreamGetCaptureInfo_v2(handle, status, id, graph, dependencies, count);
}

/* Until CUDA 12 the function has three parameters. */
API int cudaStreamGetCaptureInfo(void *handle, int *status, uint64_t *id, void **graph,
                                 void **dependencies, void **edges, size_t *count)
{
    if (machine.runtime_version < 13000)
        return get_capture(handle, status, id, NULL);
    return cudaStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, edges, count);
}

API int cuStreamGetCaptureInfo_v2(void *handle, int *status, uint64_t *id, void **graph,
                                  void **dependencies, size_t *count)
{
    return cudaStreamGetCaptureInfo_v2(handle, status, id, graph, dependencies, count);
}
