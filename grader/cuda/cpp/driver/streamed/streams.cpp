// Functions of streams whose handle may be the default stream; memory in the order of streams.
#include "driver/graphs.h"
#include "driver/streamed.h"

// Opens a function of a stream: `stream` is its stream.
#define ENTER_STREAM(need)                                                                         \
    ENTER(need);                                                                                   \
    CUstream stream = stream_of(call, handle);                                                     \
    REQUIRE(stream, bad_handle)

// --- order --------------------------------------------------------------------------------------

API cuStreamSynchronize(CUstream handle)
{
    ENTER_STREAM(healthy);
    if (stream->capture) {
        stream->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return synchronize(stream->context, wire::Sort::STREAM, stream->number);
}

API cuStreamQuery(CUstream handle)
{
    ENTER_STREAM(healthy);
    if (stream->capture) {
        stream->capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return query(stream->context, wire::Sort::STREAM, stream->number);
}

API cuStreamWaitEvent(CUstream handle, CUevent event, unsigned)
{
    ENTER_STREAM(healthy);
    REQUIRE(is_live(event), bad_handle);
    if (event->capture)
        return join_capture(stream, event);
    return submit(call, stream, WaitEvent{event});
}

API cuEventRecord(CUevent event, CUstream handle)
{
    ENTER_STREAM(healthy);
    REQUIRE(is_live(event), bad_handle);
    if (stream->capture)
        return mark_capture(stream, event);
    event->capture = nullptr;
    return submit(call, stream, RecordEvent{event});
}

API cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned flags)
{
    ENTER_STREAM(healthy);
    REQUIRE(is_live(event), bad_handle);
    REQUIRE(flags <= CU_EVENT_RECORD_EXTERNAL, bad_value);
    if (stream->capture && flags != CU_EVENT_RECORD_EXTERNAL)
        return mark_capture(stream, event);
    return submit(call, stream, RecordEvent{event});
}

// --- properties ---------------------------------------------------------------------------------

GETTER(cuStreamGetFlags, (CUstream handle, unsigned *flags), ENTER_STREAM(healthy), flags,
       stream->flags)

GETTER(cuStreamGetPriority, (CUstream handle, int *priority), ENTER_STREAM(healthy), priority,
       stream->priority)

GETTER(cuStreamGetId, (CUstream handle, unsigned long long *id), ENTER_STREAM(healthy), id,
       stream->number)

GETTER(cuStreamGetCtx, (CUstream handle, CUcontext *context), ENTER_STREAM(healthy), context,
       stream->context)

GETTER(cuStreamGetDevice, (CUstream handle, CUdevice *device), ENTER_STREAM(healthy), device,
       stream->context->device)

API cuStreamGetAttribute(CUstream handle, CUstreamAttrID name, CUstreamAttrValue *value)
{
    ENTER_STREAM(healthy);
    REQUIRE(value && name > 0 && name < 64, bad_value);
    *value = stream->attributes[name];
    if (name == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    return CUDA_SUCCESS;
}

API cuStreamSetAttribute(CUstream handle, CUstreamAttrID name, const CUstreamAttrValue *value)
{
    ENTER_STREAM(healthy);
    REQUIRE(value && name > 0 && name < 64, bad_value);
    stream->attributes[name] = *value;
    return CUDA_SUCCESS;
}

API cuStreamCopyAttributes(CUstream target, CUstream handle)
{
    ENTER_STREAM(healthy);
    CUstream to = stream_of(call, target);
    REQUIRE(to, bad_handle);
    to->attributes = stream->attributes;
    return CUDA_SUCCESS;
}

API cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t, unsigned)
{
    ENTER_STREAM(healthy);
    const Allocation *memory = find_allocation(address);
    return memory && memory->on_host() ? CUDA_SUCCESS : bad_value;
}

// --- memory -------------------------------------------------------------------------------------

static CUresult allocate_from(Call &call, CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
                              CUstream stream)
{
    if (stream->capture)
        return capture_allocation(stream, address, bytes);
    if (!bytes && address) {
        *address = 0;
        return CUDA_SUCCESS;
    }
    TRY(allocate(call.context, bytes, Kind::device, 0, address));
    state().allocations[*address].pool = pool;
    record_use(pool);
    return CUDA_SUCCESS;
}

API cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream handle)
{
    ENTER_STREAM(healthy);
    return allocate_from(call, address, bytes, default_pool(stream->context->device), stream);
}

API cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream handle)
{
    ENTER_STREAM(healthy);
    REQUIRE(is_live(pool), bad_value);
    return allocate_from(call, address, bytes, pool, stream);
}

API cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    ENTER_STREAM(healthy);
    if (stream->capture)
        return record(stream, GraphFree{address});
    finish_earlier(*stream);
    return address ? free_device(address) : CUDA_SUCCESS;
}

API cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation, unsigned, CUstream handle)
{
    ENTER_STREAM(healthy);
    const Allocation *memory = find_allocation(address);
    return memory && bytes && memory->kind != Kind::device ? CUDA_SUCCESS : bad_value;
}

// --- words --------------------------------------------------------------------------------------

#define WORD(bits)                                                                                 \
    API cuStreamWriteValue##bits(CUstream handle, CUdeviceptr address, cuuint##bits##_t value,     \
                                 unsigned flags)                                                   \
    {                                                                                              \
        ENTER_STREAM(healthy);                                                                     \
        return submit(call, stream, Word{address, value, bits / 8, flags, false});                 \
    }                                                                                              \
    API cuStreamWaitValue##bits(CUstream handle, CUdeviceptr address, cuuint##bits##_t value,      \
                                unsigned flags)                                                    \
    {                                                                                              \
        ENTER_STREAM(healthy);                                                                     \
        return submit(call, stream, Word{address, value, bits / 8, flags, true});                  \
    }

WORD(32)
WORD(64)

// --- captures -----------------------------------------------------------------------------------

API cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode)
{
    ENTER_STREAM(healthy);
    return begin_capture(stream, mode, nullptr, {});
}

API cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode *dependencies,
                                const CUgraphEdgeData *, size_t count, CUstreamCaptureMode mode)
{
    ENTER_STREAM(healthy);
    REQUIRE(is_live(graph), bad_value);
    return begin_capture(stream, mode, graph, list_nodes(dependencies, count));
}

API cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    ENTER_STREAM(healthy);
    REQUIRE(stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    REQUIRE(graph || !stream->capture, bad_value);
    return end_capture(stream, graph);
}

GETTER(cuStreamIsCapturing, (CUstream handle, CUstreamCaptureStatus *status), ENTER_STREAM(healthy),
       status, capture_status(stream))

API cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                           CUgraph *graph, const CUgraphNode **dependencies,
                           const CUgraphEdgeData **edges, size_t *count)
{
    ENTER_STREAM(healthy);
    REQUIRE(status, bad_value);
    *status = capture_status(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    auto &last = stream->capture->last[stream];
    if (id)
        *id = stream->capture->id;
    if (graph)
        *graph = stream->capture->graph;
    if (dependencies)
        *dependencies = last.data();
    if (edges)
        *edges = nullptr;
    if (count)
        *count = last.size();
    return CUDA_SUCCESS;
}

API cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *dependencies,
                                      const CUgraphEdgeData *, size_t count, unsigned flags)
{
    ENTER_STREAM(healthy);
    REQUIRE(stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    auto &last = stream->capture->last[stream];
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        last.clear();
    last.insert(last.end(), dependencies, dependencies + count);
    return CUDA_SUCCESS;
}

// --- graphs -------------------------------------------------------------------------------------

API cuGraphLaunch(CUgraphExec executable, CUstream handle)
{
    ENTER_STREAM(healthy);
    REQUIRE(is_live(executable), bad_value);
    if (stream->capture)
        return record(stream, Child{executable->graph});
    return launch_graph(call, stream, executable->graph);
}

API cuGraphUpload(CUgraphExec executable, CUstream handle)
{
    ENTER_STREAM(healthy);
    return is_live(executable) ? CUDA_SUCCESS : bad_value;
}

API cuGraphInstantiateWithParams(CUgraphExec *executable, CUgraph graph,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
    REQUIRE(parameters, bad_value);
    parameters->hErrNode_out = nullptr;
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return cuGraphInstantiate(executable, graph, parameters->flags);
}
