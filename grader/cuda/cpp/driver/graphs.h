// Captures of streams as graphs.
#pragma once

#include "driver/driver.h"

struct Capture {
    CUgraph graph;
    uint64_t id;
    CUstreamCaptureMode mode;
    std::thread::id thread;
    CUstream origin;
    bool invalid = false;
    // The nodes that the next node of a stream depends on.
    std::map<CUstream, std::vector<CUgraphNode>> last = {};
};

CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
                       std::vector<CUgraphNode> dependencies);
CUresult end_capture(CUstream stream, CUgraph *graph);
CUstreamCaptureStatus capture_status(CUstream stream);
// An event of a captured stream carries the stream's last nodes to other streams.
CUresult mark_capture(CUstream stream, CUevent event);
CUresult join_capture(CUstream stream, CUevent event);
CUresult capture_allocation(CUstream stream, CUdeviceptr *address, size_t bytes);
std::vector<CUgraphNode> list_nodes(const CUgraphNode *nodes, size_t count);
