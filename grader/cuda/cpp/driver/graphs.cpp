// Graphs: nodes of operations, their edges, and executable copies.
#include "driver/graphs.h"

#include <cstdio>

namespace {

constexpr CUgraphNodeType node_types[] = {
    CU_GRAPH_NODE_TYPE_EMPTY,        CU_GRAPH_NODE_TYPE_KERNEL,     CU_GRAPH_NODE_TYPE_MEMCPY,
    CU_GRAPH_NODE_TYPE_MEMSET,       CU_GRAPH_NODE_TYPE_HOST,       CU_GRAPH_NODE_TYPE_HOST,
    CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_GRAPH,
    CU_GRAPH_NODE_TYPE_MEM_ALLOC,    CU_GRAPH_NODE_TYPE_MEM_FREE,   CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
};
static_assert(std::size(node_types) == std::variant_size_v<Operation>);

// The nodes in an order of their dependencies; fewer nodes if there is a cycle.
std::vector<CUgraphNode> in_order(CUgraph graph)
{
    std::vector<CUgraphNode> ordered;
    std::set<CUgraphNode> done;
    for (bool progress = true; progress;) {
        progress = false;
        for (CUgraphNode node : graph->nodes) {
            auto ready = [&](CUgraphNode each) { return done.count(each) != 0; };
            auto &needs = node->dependencies;
            if (done.count(node) || !std::all_of(needs.begin(), needs.end(), ready))
                continue;
            done.insert(node);
            ordered.push_back(node);
            progress = true;
        }
    }
    return ordered;
}

CUstream make_lane(CUstream stream, size_t index)
{
    while (stream->lanes.size() <= index) {
        auto lane = new CUstream_st{stream->context, state().numbers++, CU_STREAM_NON_BLOCKING};
        name_stream(lane);
        stream->lanes.emplace_back(lane);
    }
    return stream->lanes[index].get();
}

// A node continues the lane of a node that it follows, unless another node does.
std::map<CUgraphNode, CUstream> assign_lanes(CUstream stream, const std::vector<CUgraphNode> &nodes)
{
    std::map<CUgraphNode, CUstream> lanes;
    std::map<CUstream, CUgraphNode> last;
    size_t used = 0;
    for (CUgraphNode node : nodes) {
        CUstream lane = last.empty() ? stream : nullptr;
        for (CUgraphNode each : node->dependencies)
            if (!lane && last[lanes[each]] == each)
                lane = lanes[each];
        lanes[node] = lane ? lane : make_lane(stream, used++);
        last[lanes[node]] = node;
    }
    return lanes;
}

// The nodes that a node of another lane follows; true: or only the end of the graph, in a lane
// that is not the launch's.
std::map<CUgraphNode, bool> find_left(const std::vector<CUgraphNode> &nodes,
                                      std::map<CUgraphNode, CUstream> &lanes)
{
    std::map<CUgraphNode, bool> left;
    std::set<CUgraphNode> followed;
    for (CUgraphNode node : nodes)
        for (CUgraphNode each : node->dependencies) {
            followed.insert(each);
            if (lanes[each] != lanes[node])
                left[each] = false;
        }
    for (CUgraphNode node : nodes)
        if (!followed.count(node) && lanes[node] != lanes[nodes.front()])
            left[node] = true;
    return left;
}

CUgraph clone(CUgraph graph)
{
    CUgraph made = make_graph();
    std::map<CUgraphNode, CUgraphNode> copies;
    for (CUgraphNode node : graph->nodes) {
        CUgraphNode copy = add_node(made, {}, node->context, node->operation);
        copy->enabled = node->enabled;
        copy->original = node;
        copies[node] = copy;
    }
    for (CUgraphNode node : graph->nodes)
        for (CUgraphNode each : node->dependencies)
            copies[node]->dependencies.push_back(copies[each]);
    return made;
}

void drop(CUgraphNode node)
{
    if (node->child)
        destroy_graph(node->child);
    destroy(node);
}

CUgraphNode find_copy(CUgraph graph, CUgraphNode original)
{
    for (CUgraphNode node : graph->nodes)
        if (node->original == original)
            return node;
    return nullptr;
}

// --- operations from parameters -------------------------------------------------------------------

template <class Parameters> CUresult kernel_operation(const Parameters &from, Operation *to)
{
    CUfunction function = from.func;
    if (!is_live(function))
        TRY(function_of(reinterpret_cast<CUkernel>(from.kern ? from.kern : (CUkernel)from.func),
                        from.ctx ? from.ctx : current_context(), &function));
    CUlaunchConfig config = {
        from.gridDimX,  from.gridDimY,       from.gridDimZ, from.blockDimX, from.blockDimY,
        from.blockDimZ, from.sharedMemBytes, nullptr,       nullptr,        0};
    Launch launch;
    TRY(make_launch(function, config, from.kernelParams, from.extra, &launch));
    *to = std::move(launch);
    return CUDA_SUCCESS;
}

template <class Parameters> Operation fill_operation(const Parameters &from)
{
    return Fill{from.dst, from.pitch, from.value, from.elementSize, from.width, from.height};
}

CUresult allocation_operation(size_t bytes, CUmemPoolProps properties, CUdeviceptr *address,
                              Operation *to)
{
    TRY(allocate(current_context(), bytes, Kind::device, 0, address));
    state().allocations[*address].site = {}; // it belongs to the graph
    GraphAllocation allocation = {};
    allocation.parameters.poolProps = properties;
    allocation.parameters.bytesize = bytes;
    allocation.parameters.dptr = *address;
    *to = allocation;
    return CUDA_SUCCESS;
}

CUresult any_operation(CUgraphNodeParams &from, Operation *to)
{
    switch (from.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return kernel_operation(from.kernel, to);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        *to = Copy{from.memcpy.copyParams};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        *to = fill_operation(from.memset);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_HOST:
        *to = HostCall{from.host.fn, from.host.userData};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        REQUIRE(is_live(from.graph.graph), bad_value);
        *to = Child{from.graph.graph};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        *to = Nothing{};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        *to = WaitEvent{from.eventWait.event};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        *to = RecordEvent{from.eventRecord.event};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return allocation_operation(from.alloc.bytesize, from.alloc.poolProps, &from.alloc.dptr,
                                    to);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        *to = GraphFree{from.free.dptr};
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

// --- nodes --------------------------------------------------------------------------------------

CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
             Operation operation, CUcontext context)
{
    REQUIRE(node && is_live(graph) && (dependencies || !count), bad_value);
    for (CUgraphNode each : list_nodes(dependencies, count))
        REQUIRE(is_live(each) && each->graph == graph, bad_value);
    TRY(check_operation(operation));
    *node = add_node(graph, list_nodes(dependencies, count), context, std::move(operation));
    return CUDA_SUCCESS;
}

CUresult replace(CUgraphNode node, Operation operation)
{
    REQUIRE(is_live(node) && node->operation.index() == operation.index(), bad_value);
    TRY(check_operation(operation));
    if (auto child = std::get_if<Child>(&operation)) {
        destroy_graph(node->child);
        child->graph = node->child = clone(child->graph);
    }
    node->operation = std::move(operation);
    return CUDA_SUCCESS;
}

CUresult replace(CUgraphExec executable, CUgraphNode node, Operation operation)
{
    REQUIRE(is_live(executable), bad_value);
    CUgraphNode copy = find_copy(executable->graph, node);
    return copy ? replace(copy, std::move(operation)) : bad_value;
}

// The operation of a node, if it has this type.
template <class Type> Type *operation_of(CUgraphNode node)
{
    return is_live(node) ? std::get_if<Type>(&node->operation) : nullptr;
}

// Gives a list to the program: its length, and as many entries as there is room for.
template <class Entry> CUresult give_list(const std::vector<Entry> &from, Entry *to, size_t *count)
{
    REQUIRE(count, bad_value);
    for (size_t i = 0; to && i < *count; ++i)
        to[i] = i < from.size() ? from[i] : nullptr;
    *count = to ? std::min(*count, from.size()) : from.size();
    return CUDA_SUCCESS;
}

std::vector<CUgraphNode> users_of(CUgraphNode node)
{
    std::vector<CUgraphNode> users;
    for (CUgraphNode each : node->graph->nodes)
        if (std::count(each->dependencies.begin(), each->dependencies.end(), node))
            users.push_back(each);
    return users;
}

} // namespace

std::vector<CUgraphNode> list_nodes(const CUgraphNode *nodes, size_t count)
{
    return nodes ? std::vector<CUgraphNode>(nodes, nodes + count) : std::vector<CUgraphNode>();
}

CUgraph make_graph() { return make<CUgraph_st>(std::vector<CUgraphNode>(), state().numbers++); }

void destroy_graph(CUgraph graph)
{
    for (CUgraphNode node : graph->nodes)
        drop(node);
    destroy(graph);
}

CUgraphNode add_node(CUgraph graph, std::vector<CUgraphNode> dependencies, CUcontext context,
                     Operation operation)
{
    CUgraphNode node = make<CUgraphNode_st>(graph, state().numbers++, std::move(operation), context,
                                            std::move(dependencies));
    if (auto child = std::get_if<Child>(&node->operation))
        child->graph = node->child = clone(child->graph);
    graph->nodes.push_back(node);
    return node;
}

// Independent nodes run in lanes, which are streams: the first is the stream of the launch.
CUresult launch_graph(Call &call, CUstream stream, CUgraph graph)
{
    auto nodes = in_order(graph);
    auto lanes = assign_lanes(stream, nodes);
    auto left = find_left(nodes, lanes);
    std::map<CUgraphNode, Mark> ends;
    std::set<CUstream> started = {stream};
    Mark start = left.empty() ? Mark() : set_mark(stream);
    for (CUgraphNode node : nodes) {
        CUstream lane = lanes[node];
        if (started.insert(lane).second)
            follow(lane, start);
        for (CUgraphNode each : node->dependencies)
            if (lanes[each] != lane)
                follow(lane, ends[each]);
        if (node->enabled)
            TRY(execute(call, lane, node->operation));
        if (left.count(node))
            ends[node] = set_mark(lane);
    }
    for (CUgraphNode node : nodes)
        if (lanes[node] != stream && left.count(node) && left[node])
            follow(stream, ends[node]);
    return CUDA_SUCCESS;
}

#define ADD CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count

API cuGraphAddKernelNode(ADD, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    ENTER(healthy);
    Operation operation;
    REQUIRE(parameters, bad_value);
    TRY(kernel_operation(*parameters, &operation));
    return add(node, graph, dependencies, count, std::move(operation), call.context);
}

API cuGraphAddMemcpyNode(ADD, const CUDA_MEMCPY3D *copy, CUcontext context)
{
    ENTER(healthy);
    REQUIRE(copy, bad_value);
    return add(node, graph, dependencies, count, Copy{*copy}, context);
}

API cuGraphAddMemsetNode(ADD, const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext context)
{
    ENTER(healthy);
    REQUIRE(fill, bad_value);
    return add(node, graph, dependencies, count, fill_operation(*fill), context);
}

API cuGraphAddHostNode(ADD, const CUDA_HOST_NODE_PARAMS *host)
{
    ENTER(healthy);
    REQUIRE(host && host->fn, bad_value);
    return add(node, graph, dependencies, count, HostCall{host->fn, host->userData}, call.context);
}

API cuGraphAddChildGraphNode(ADD, CUgraph child)
{
    ENTER(healthy);
    REQUIRE(is_live(child), bad_value);
    return add(node, graph, dependencies, count, Child{child}, call.context);
}

API cuGraphAddEmptyNode(ADD)
{
    ENTER(healthy);
    return add(node, graph, dependencies, count, Nothing{}, call.context);
}

API cuGraphAddEventRecordNode(ADD, CUevent event)
{
    ENTER(healthy);
    return add(node, graph, dependencies, count, RecordEvent{event}, call.context);
}

API cuGraphAddEventWaitNode(ADD, CUevent event)
{
    ENTER(healthy);
    return add(node, graph, dependencies, count, WaitEvent{event}, call.context);
}

API cuGraphAddMemAllocNode(ADD, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    ENTER(healthy);
    Operation operation;
    REQUIRE(parameters, bad_value);
    TRY(allocation_operation(parameters->bytesize, parameters->poolProps, &parameters->dptr,
                             &operation));
    return add(node, graph, dependencies, count, std::move(operation), call.context);
}

API cuGraphAddMemFreeNode(ADD, CUdeviceptr address)
{
    ENTER(healthy);
    return add(node, graph, dependencies, count, GraphFree{address}, call.context);
}

API cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *, size_t count, CUgraphNodeParams *parameters)
{
    ENTER(healthy);
    Operation operation;
    REQUIRE(parameters, bad_value);
    TRY(any_operation(*parameters, &operation));
    return add(node, graph, dependencies, count, std::move(operation), call.context);
}

// --- parameters of nodes --------------------------------------------------------------------------

// Get, set and set in an executable graph, for a kind of node. `read` writes *parameters from
// `operation`; `made` is the operation from *parameters.
#define NODE(name, Type, Parameters, read, made)                                                   \
    API cuGraph##name##NodeGetParams(CUgraphNode node, Parameters *parameters)                     \
    {                                                                                              \
        ENTER(healthy);                                                                            \
        Type *operation = operation_of<Type>(node);                                                \
        REQUIRE(operation && parameters, bad_value);                                               \
        *parameters = read;                                                                        \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    API cuGraph##name##NodeSetParams(CUgraphNode node, const Parameters *parameters)               \
    {                                                                                              \
        ENTER(healthy);                                                                            \
        REQUIRE(parameters, bad_value);                                                            \
        return replace(node, made);                                                                \
    }

NODE(Memcpy, Copy, CUDA_MEMCPY3D, operation->box, Copy{*parameters})
NODE(Memset, Fill, CUDA_MEMSET_NODE_PARAMS,
     (CUDA_MEMSET_NODE_PARAMS{operation->target, operation->pitch, operation->value,
                              operation->element_bytes, operation->width, operation->height}),
     fill_operation(*parameters))
NODE(Host, HostCall, CUDA_HOST_NODE_PARAMS,
     (CUDA_HOST_NODE_PARAMS{operation->function, operation->data}),
     (HostCall{parameters->fn, parameters->userData}))

// The event of a node that records it or waits for it.
#define EVENT_NODE(name, Type)                                                                     \
    API cuGraphEvent##name##NodeGetEvent(CUgraphNode node, CUevent *event)                         \
    {                                                                                              \
        ENTER(healthy);                                                                            \
        Type *operation = operation_of<Type>(node);                                                \
        REQUIRE(operation && event, bad_value);                                                    \
        *event = operation->event;                                                                 \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    API cuGraphEvent##name##NodeSetEvent(CUgraphNode node, CUevent event)                          \
    {                                                                                              \
        ENTER(healthy);                                                                            \
        return replace(node, Type{event});                                                         \
    }                                                                                              \
    API cuGraphExecEvent##name##NodeSetEvent(CUgraphExec executable, CUgraphNode node,             \
                                             CUevent event)                                        \
    {                                                                                              \
        ENTER(healthy);                                                                            \
        return replace(executable, node, Type{event});                                             \
    }

EVENT_NODE(Record, RecordEvent)
EVENT_NODE(Wait, WaitEvent)

API cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters)
{
    ENTER(healthy);
    Launch *launch = operation_of<Launch>(node);
    REQUIRE(launch && parameters, bad_value);
    launch->pointers.clear();
    for (auto [at, bytes] : launch->function->parameters)
        launch->pointers.push_back(&launch->parameters[at]);
    *parameters = {launch->function, launch->grid[0],          launch->grid[1],
                   launch->grid[2],  launch->block[0],         launch->block[1],
                   launch->block[2], launch->dynamic_shared,   launch->pointers.data(),
                   nullptr,          launch->function->kernel, node->context};
    return CUDA_SUCCESS;
}

API cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    ENTER(healthy);
    Operation operation;
    REQUIRE(parameters, bad_value);
    TRY(kernel_operation(*parameters, &operation));
    return replace(node, std::move(operation));
}

API cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                   const CUDA_KERNEL_NODE_PARAMS *parameters)
{
    ENTER(healthy);
    Operation operation;
    REQUIRE(parameters, bad_value);
    TRY(kernel_operation(*parameters, &operation));
    return replace(executable, node, std::move(operation));
}

API cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                   const CUDA_MEMCPY3D *copy, CUcontext)
{
    ENTER(healthy);
    REQUIRE(copy, bad_value);
    return replace(executable, node, Copy{*copy});
}

API cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                   const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext)
{
    ENTER(healthy);
    REQUIRE(fill, bad_value);
    return replace(executable, node, fill_operation(*fill));
}

API cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                 const CUDA_HOST_NODE_PARAMS *host)
{
    ENTER(healthy);
    REQUIRE(host, bad_value);
    return replace(executable, node, HostCall{host->fn, host->userData});
}

API cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph child)
{
    ENTER(healthy);
    REQUIRE(is_live(child), bad_value);
    return replace(executable, node, Child{child});
}

API cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *parameters)
{
    ENTER(healthy);
    Operation operation;
    REQUIRE(parameters, bad_value);
    TRY(any_operation(*parameters, &operation));
    return replace(node, std::move(operation));
}

API cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                             CUgraphNodeParams *parameters)
{
    ENTER(healthy);
    Operation operation;
    REQUIRE(parameters, bad_value);
    TRY(any_operation(*parameters, &operation));
    return replace(executable, node, std::move(operation));
}

API cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    ENTER(healthy);
    Child *child = operation_of<Child>(node);
    REQUIRE(child && graph, bad_value);
    *graph = child->graph;
    return CUDA_SUCCESS;
}

API cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *parameters)
{
    ENTER(healthy);
    GraphAllocation *allocation = operation_of<GraphAllocation>(node);
    REQUIRE(allocation && parameters, bad_value);
    *parameters = allocation->parameters;
    return CUDA_SUCCESS;
}

API cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address)
{
    ENTER(healthy);
    GraphFree *freed = operation_of<GraphFree>(node);
    REQUIRE(freed && address, bad_value);
    *address = freed->address;
    return CUDA_SUCCESS;
}

API cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID name,
                                  CUkernelNodeAttrValue *value)
{
    ENTER(healthy);
    Launch *launch = operation_of<Launch>(node);
    REQUIRE(launch && value, bad_value);
    *value = {};
    if (name == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value->cooperative = launch->cooperative;
    if (name == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        value->clusterDim = {launch->cluster[0], launch->cluster[1], launch->cluster[2]};
    return CUDA_SUCCESS;
}

API cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID name,
                                  const CUkernelNodeAttrValue *value)
{
    ENTER(healthy);
    Launch *launch = operation_of<Launch>(node);
    REQUIRE(launch && value, bad_value);
    if (name == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        launch->cooperative = value->cooperative != 0;
    if (name == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
        launch->cluster[0] = value->clusterDim.x;
        launch->cluster[1] = value->clusterDim.y;
        launch->cluster[2] = value->clusterDim.z;
    }
    return CUDA_SUCCESS;
}

// --- structure ----------------------------------------------------------------------------------

GETTER(cuGraphCreate, (CUgraph * graph, unsigned flags), ENTER(healthy);
       REQUIRE(!flags, bad_value), graph, make_graph())

API cuGraphDestroy(CUgraph graph)
{
    ENTER(context);
    REQUIRE(is_live(graph), bad_value);
    destroy_graph(graph);
    return CUDA_SUCCESS;
}

GETTER(cuGraphClone, (CUgraph * copy, CUgraph graph), ENTER(healthy);
       REQUIRE(is_live(graph), bad_value), copy, clone(graph))

API cuGraphNodeFindInClone(CUgraphNode *copy, CUgraphNode node, CUgraph graph)
{
    ENTER(healthy);
    REQUIRE(copy && is_live(node) && is_live(graph), bad_value);
    *copy = find_copy(graph, node);
    return *copy ? CUDA_SUCCESS : bad_value;
}

API cuGraphDestroyNode(CUgraphNode node)
{
    ENTER(healthy);
    REQUIRE(is_live(node), bad_value);
    for (CUgraphNode user : users_of(node)) {
        auto &needs = user->dependencies;
        needs.erase(std::remove(needs.begin(), needs.end(), node), needs.end());
    }
    auto &nodes = node->graph->nodes;
    nodes.erase(std::find(nodes.begin(), nodes.end(), node));
    drop(node);
    return CUDA_SUCCESS;
}

API cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    ENTER(healthy);
    REQUIRE(is_live(graph), bad_value);
    return give_list(graph->nodes, nodes, count);
}

API cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    ENTER(healthy);
    REQUIRE(is_live(graph), bad_value);
    std::vector<CUgraphNode> roots;
    for (CUgraphNode node : graph->nodes)
        if (node->dependencies.empty())
            roots.push_back(node);
    return give_list(roots, nodes, count);
}

API cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                    size_t *count)
{
    ENTER(healthy);
    REQUIRE(is_live(graph) && count, bad_value);
    std::vector<CUgraphNode> starts, ends;
    for (CUgraphNode node : graph->nodes)
        for (CUgraphNode each : node->dependencies) {
            starts.push_back(each);
            ends.push_back(node);
        }
    if (edges)
        memset(static_cast<void *>(edges), 0, *count * sizeof *edges);
    size_t capacity = *count;
    TRY(give_list(starts, from, &capacity));
    return give_list(ends, to, count);
}

API cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                               size_t *count)
{
    ENTER(healthy);
    REQUIRE(is_live(node) && count, bad_value);
    if (edges)
        memset(static_cast<void *>(edges), 0, *count * sizeof *edges);
    return give_list(node->dependencies, nodes, count);
}

API cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                 size_t *count)
{
    ENTER(healthy);
    REQUIRE(is_live(node) && count, bad_value);
    if (edges)
        memset(static_cast<void *>(edges), 0, *count * sizeof *edges);
    return give_list(users_of(node), nodes, count);
}

API cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                           const CUgraphEdgeData *, size_t count)
{
    ENTER(healthy);
    REQUIRE(is_live(graph) && (!count || (from && to)), bad_value);
    for (size_t i = 0; i < count; ++i) {
        REQUIRE(is_live(from[i]) && is_live(to[i]) && to[i]->graph == graph, bad_value);
        to[i]->dependencies.push_back(from[i]);
    }
    return CUDA_SUCCESS;
}

API cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                              const CUgraphEdgeData *, size_t count)
{
    ENTER(healthy);
    REQUIRE(is_live(graph) && (!count || (from && to)), bad_value);
    for (size_t i = 0; i < count; ++i) {
        REQUIRE(is_live(to[i]), bad_value);
        auto &needs = to[i]->dependencies;
        auto found = std::find(needs.begin(), needs.end(), from[i]);
        REQUIRE(found != needs.end(), bad_value);
        needs.erase(found);
    }
    return CUDA_SUCCESS;
}

GETTER(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type), ENTER(healthy);
       REQUIRE(is_live(node), bad_value), type, node_types[node->operation.index()])

API cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled)
{
    ENTER(healthy);
    REQUIRE(is_live(executable), bad_value);
    CUgraphNode copy = find_copy(executable->graph, node);
    REQUIRE(copy, bad_value);
    copy->enabled = enabled != 0;
    return CUDA_SUCCESS;
}

API cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned *enabled)
{
    ENTER(healthy);
    REQUIRE(is_live(executable) && enabled, bad_value);
    CUgraphNode copy = find_copy(executable->graph, node);
    REQUIRE(copy, bad_value);
    *enabled = copy->enabled;
    return CUDA_SUCCESS;
}

API cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned)
{
    ENTER(healthy);
    REQUIRE(is_live(graph) && path, bad_value);
    FILE *file = fopen(path, "w");
    REQUIRE(file, CUDA_ERROR_OPERATING_SYSTEM);
    fputs("digraph dot {\n", file);
    for (CUgraphNode node : graph->nodes) {
        auto launch = operation_of<Launch>(node);
        int type = node_types[node->operation.index()];
        fprintf(file, "\"node_%lu\" [label=\"%s %d\"];\n", node->id,
                launch ? launch->function->name.c_str() : "type", type);
        for (CUgraphNode each : node->dependencies)
            fprintf(file, "\"node_%lu\" -> \"node_%lu\";\n", each->id, node->id);
    }
    fputs("}\n", file);
    fclose(file);
    return CUDA_SUCCESS;
}

// --- executable graphs --------------------------------------------------------------------------

GETTER(cuGraphInstantiate, (CUgraphExec * executable, CUgraph graph, unsigned long long flags),
       ENTER(healthy);
       REQUIRE(is_live(graph), bad_value);
       REQUIRE(in_order(graph).size() == graph->nodes.size(), bad_value);
       start_deferring(), executable,
       make<CUgraphExec_st>(clone(graph), flags))

API cuGraphExecDestroy(CUgraphExec executable)
{
    ENTER(context);
    REQUIRE(is_live(executable), bad_value);
    destroy_graph(executable->graph);
    destroy(executable);
    return CUDA_SUCCESS;
}

GETTER(cuGraphExecGetFlags, (CUgraphExec executable, cuuint64_t *flags), ENTER(healthy);
       REQUIRE(is_live(executable), bad_value), flags, executable->flags)

// Nodes correspond by their order.
API cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo *result)
{
    ENTER(healthy);
    REQUIRE(is_live(executable) && is_live(graph) && result, bad_value);
    *result = {};
    auto &old = executable->graph->nodes;
    result->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    REQUIRE(old.size() == graph->nodes.size(), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    for (size_t i = 0; i < old.size(); ++i) {
        REQUIRE(old[i]->dependencies.size() == graph->nodes[i]->dependencies.size(),
                CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
        result->errorNode = graph->nodes[i];
        if (old[i]->operation.index() != graph->nodes[i]->operation.index())
            result->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        REQUIRE(old[i]->operation.index() == graph->nodes[i]->operation.index(),
                CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    }
    for (size_t i = 0; i < old.size(); ++i) {
        TRY(replace(old[i], graph->nodes[i]->operation));
        old[i]->original = graph->nodes[i];
    }
    *result = {};
    return CUDA_SUCCESS;
}
