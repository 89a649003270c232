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

// --- operations from parameters -----------------------------------------------------------------

// Kernels, in all versions of their parameters.
template <class Parameters> CUresult read(const Parameters &from, Operation *to)
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

CUresult read(CUDA_MEM_ALLOC_NODE_PARAMS &from, Operation *to)
{
    TRY(allocate_for_graph(current_context(), from.bytesize, &from.dptr));
    GraphAllocation allocation = {};
    allocation.parameters.poolProps = from.poolProps;
    allocation.parameters.bytesize = from.bytesize;
    allocation.parameters.dptr = from.dptr;
    *to = allocation;
    return CUDA_SUCCESS;
}

CUresult read(CUgraphNodeParams &from, Operation *to)
{
    switch (from.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return read(from.kernel, to);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
        CUDA_MEM_ALLOC_NODE_PARAMS allocation = {};
        allocation.poolProps = from.alloc.poolProps;
        allocation.bytesize = from.alloc.bytesize;
        CUresult status = read(allocation, to);
        from.alloc.dptr = allocation.dptr;
        return status;
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        *to = Copy{from.memcpy.copyParams};
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        *to = Fill{{from.memset.dst, from.memset.pitch, from.memset.value, from.memset.elementSize,
                    from.memset.width, from.memset.height}};
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        *to = HostCall{{from.host.fn, from.host.userData}};
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        CHECK(from.graph.graph);
        *to = Child{from.graph.graph};
        break;
    case CU_GRAPH_NODE_TYPE_EMPTY:
        *to = Nothing{};
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        *to = WaitEvent{from.eventWait.event};
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        *to = RecordEvent{from.eventRecord.event};
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        *to = GraphFree{from.free.dptr};
        break;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
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

template <class Parameters>
CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
             Parameters *parameters, CUcontext context)
{
    Operation operation;
    CHECK(parameters);
    TRY(read(*parameters, &operation));
    return add(node, graph, dependencies, count, std::move(operation), context);
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
    CHECK(executable);
    CUgraphNode copy = find_copy(executable->graph, node);
    return copy ? replace(copy, std::move(operation)) : bad_value;
}

template <class Parameters> CUresult replace(CUgraphNode node, Parameters *parameters)
{
    Operation operation;
    CHECK(parameters);
    TRY(read(*parameters, &operation));
    return replace(node, std::move(operation));
}

template <class Parameters>
CUresult replace(CUgraphExec executable, CUgraphNode node, Parameters *parameters)
{
    Operation operation;
    CHECK(parameters);
    TRY(read(*parameters, &operation));
    return replace(executable, node, std::move(operation));
}

// The operation of a node, if it has this type.
template <class Type> Type *operation_of(CUgraphNode node)
{
    return is_live(node) ? std::get_if<Type>(&node->operation) : nullptr;
}

template <class Type, class Value> CUresult get(CUgraphNode node, Value Type::*field, Value *to)
{
    Type *operation = operation_of<Type>(node);
    REQUIRE(operation && to, bad_value);
    *to = operation->*field;
    return CUDA_SUCCESS;
}

// Gives a list to the program: its length, and as many entries as there is room for.
CUresult give_list(const std::vector<CUgraphNode> &from, CUgraphNode *to, size_t *count,
                   CUgraphEdgeData *edges = nullptr)
{
    CHECK(count);
    if (edges)
        memset(static_cast<void *>(edges), 0, *count * sizeof *edges);
    for (size_t i = 0; to && i < *count; ++i)
        to[i] = i < from.size() ? from[i] : nullptr;
    *count = to ? std::min(*count, from.size()) : from.size();
    return CUDA_SUCCESS;
}

std::vector<CUgraphNode> roots_of(CUgraph graph)
{
    std::vector<CUgraphNode> roots;
    for (CUgraphNode node : graph->nodes)
        if (node->dependencies.empty())
            roots.push_back(node);
    return roots;
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

// --- parameters of nodes ------------------------------------------------------------------------

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
    size_t capacity = *count;
    TRY(give_list(starts, from, &capacity, edges));
    return give_list(ends, to, count);
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

API cuGraphInstantiate(CUgraphExec *executable, CUgraph graph, unsigned long long flags)
{
    ENTER(healthy);
    CHECK(graph);
    REQUIRE(in_order(graph).size() == graph->nodes.size(), bad_value);
    start_deferring();
    CHECK(executable);
    *executable = make<CUgraphExec_st>(clone(graph), flags);
    return CUDA_SUCCESS;
}

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
