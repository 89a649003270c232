// Functions of streams whose handle may be the default stream; memory in the order of streams.
#include "driver/graphs.h"
#include "driver/streamed.h"

static CUresult refuse_in_capture(CUstream stream)
{
    REQUIRE(stream->capture, CUDA_SUCCESS);
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

API cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    ENTER(healthy);
    CHECK(stream);
    CHECK(event);
    REQUIRE(flags <= CU_EVENT_RECORD_EXTERNAL, bad_value);
    if (stream->capture && flags != CU_EVENT_RECORD_EXTERNAL)
        return mark_capture(stream, event);
    event->capture = nullptr;
    return submit(call, stream, RecordEvent{event});
}

API cuStreamGetAttribute(CUstream stream, CUstreamAttrID name, CUstreamAttrValue *value)
{
    ENTER(healthy);
    CHECK(stream);
    REQUIRE(value && name > 0 && name < 64, bad_value);
    *value = stream->attributes[name];
    if (name == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    return CUDA_SUCCESS;
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

API cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    ENTER(healthy);
    CHECK(stream);
    if (stream->capture)
        return record(stream, GraphFree{address});
    finish_earlier(*stream);
    return address ? free_device(address) : CUDA_SUCCESS;
}

API cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation, unsigned, CUstream stream)
{
    ENTER(healthy);
    CHECK(stream);
    const Allocation *memory = find_allocation(address);
    return memory && bytes && memory->kind != Kind::device ? CUDA_SUCCESS : bad_value;
}

// --- captures -----------------------------------------------------------------------------------

API cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                           CUgraph *graph, const CUgraphNode **dependencies,
                           const CUgraphEdgeData **edges, size_t *count)
{
    ENTER(healthy);
    CHECK(stream);
    REQUIRE(status, bad_value);
    *status = capture_status(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    auto &last = stream->capture->last[stream];
    offer(id, stream->capture->id);
    offer(graph, stream->capture->graph);
    offer(dependencies, last.data());
    offer(edges, nullptr);
    offer(count, last.size());
    return CUDA_SUCCESS;
}

API cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies,
                                      const CUgraphEdgeData *, size_t count, unsigned flags)
{
    ENTER(healthy);
    CHECK(stream);
    REQUIRE(stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    auto &last = stream->capture->last[stream];
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        last.clear();
    last.insert(last.end(), dependencies, dependencies + count);
    return CUDA_SUCCESS;
}

API cuGraphInstantiateWithParams(CUgraphExec *executable, CUgraph graph,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *parameters)
{
    REQUIRE(parameters, bad_value);
    parameters->hErrNode_out = nullptr;
    parameters->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return cuGraphInstantiate(executable, graph, parameters->flags);
}
