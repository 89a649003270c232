// Captures: operations of streams become nodes of a graph.
#include "driver/graphs.h"

namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

bool is_under_way(Capture *capture)
{
    auto &all = state().captures;
    return std::find(all.begin(), all.end(), capture) != all.end();
}

void collect(CUgraphNode node, std::set<CUgraphNode> &found)
{
    if (found.insert(node).second)
        for (CUgraphNode each : node->dependencies)
            collect(each, found);
}

// Each captured stream must have been joined by the first.
bool is_joined(Capture &capture)
{
    std::set<CUgraphNode> reached;
    for (CUgraphNode node : capture.last[capture.origin])
        collect(node, reached);
    for (auto &[stream, nodes] : capture.last)
        for (CUgraphNode node : nodes)
            if (!reached.count(node))
                return false;
    return true;
}

bool forbids(const Capture &capture)
{
    bool own = capture.thread == std::this_thread::get_id();
    if (capture.mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
        thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    return own || (capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                   thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

} // namespace

bool forbidden_by_captures()
{
    bool forbidden = false;
    for (Capture *capture : state().captures)
        if (forbids(*capture))
            forbidden = capture->invalid = true;
    return forbidden;
}

CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
                       std::vector<CUgraphNode> dependencies)
{
    REQUIRE(stream != stream->context->legacy.get(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    REQUIRE(!stream->capture, CUDA_ERROR_ILLEGAL_STATE);
    REQUIRE(mode <= CU_STREAM_CAPTURE_MODE_RELAXED, bad_value);
    stream->capture = new Capture{graph ? graph : make_graph(), state().numbers++, mode,
                                  std::this_thread::get_id(), stream};
    stream->capture->last[stream] = std::move(dependencies);
    state().captures.push_back(stream->capture);
    return CUDA_SUCCESS;
}

CUresult end_capture(CUstream stream, CUgraph *graph)
{
    Capture *capture = stream->capture;
    REQUIRE(capture, CUDA_ERROR_ILLEGAL_STATE);
    *graph = nullptr;
    REQUIRE(capture->origin == stream, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CUresult status = capture->invalid       ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : !is_joined(*capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                             : CUDA_SUCCESS;
    for (auto &[each, nodes] : capture->last)
        each->capture = nullptr;
    auto &all = state().captures;
    all.erase(std::find(all.begin(), all.end(), capture));
    if (status)
        destroy_graph(capture->graph);
    else
        *graph = capture->graph;
    delete capture;
    return status;
}

CUstreamCaptureStatus capture_status(CUstream stream)
{
    if (!stream->capture)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult record(CUstream stream, Operation operation)
{
    Capture &capture = *stream->capture;
    REQUIRE(!capture.invalid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    auto &last = capture.last[stream];
    last = {add_node(capture.graph, last, stream->context, std::move(operation))};
    return CUDA_SUCCESS;
}

CUresult mark_capture(CUstream stream, CUevent event)
{
    event->capture = stream->capture;
    event->nodes = stream->capture->last[stream];
    return CUDA_SUCCESS;
}

CUresult join_capture(CUstream stream, CUevent event)
{
    Capture *capture = event->capture;
    REQUIRE(is_under_way(capture), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    REQUIRE(stream != stream->context->legacy.get(), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    REQUIRE(!stream->capture || stream->capture == capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    stream->capture = capture;
    auto &last = capture->last[stream];
    for (CUgraphNode node : event->nodes)
        if (std::find(last.begin(), last.end(), node) == last.end())
            last.push_back(node);
    return CUDA_SUCCESS;
}

CUresult capture_allocation(CUstream stream, CUdeviceptr *address, size_t bytes)
{
    TRY(allocate_for_graph(stream->context, bytes, address));
    GraphAllocation allocation = {};
    allocation.parameters.bytesize = bytes;
    allocation.parameters.dptr = *address;
    return record(stream, allocation);
}
