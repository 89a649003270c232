// Launches: their limits, their parameters, and the occupancy of kernels.
#include "driver/driver.h"

#include <cuda_occupancy.h>

namespace {

size_t product(const unsigned *extents) { return size_t(extents[0]) * extents[1] * extents[2]; }

bool within(const unsigned *extents, const char *x, const char *y, const char *z)
{
    const char *names[] = {x, y, z};
    for (int i = 0; i < 3; ++i)
        if (!extents[i] || extents[i] > static_cast<unsigned>(attribute(names[i])))
            return false;
    return true;
}

cudaOccDeviceProp device_properties()
{
    cudaOccDeviceProp device;
    device.computeMajor = attribute("COMPUTE_CAPABILITY_MAJOR");
    device.computeMinor = attribute("COMPUTE_CAPABILITY_MINOR");
    device.maxThreadsPerBlock = attribute("MAX_THREADS_PER_BLOCK");
    device.maxThreadsPerMultiprocessor = attribute("MAX_THREADS_PER_MULTIPROCESSOR");
    device.regsPerBlock = attribute("MAX_REGISTERS_PER_BLOCK");
    device.regsPerMultiprocessor = attribute("MAX_REGISTERS_PER_MULTIPROCESSOR");
    device.warpSize = attribute("WARP_SIZE");
    auto bytes = [](const char *name) { return static_cast<size_t>(attribute(name)); };
    device.sharedMemPerBlock = bytes("MAX_SHARED_MEMORY_PER_BLOCK");
    device.sharedMemPerMultiprocessor = bytes("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR");
    device.numSms = attribute("MULTIPROCESSOR_COUNT");
    device.sharedMemPerBlockOptin = bytes("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN");
    device.reservedSharedMemPerBlock = bytes("RESERVED_SHARED_MEMORY_PER_BLOCK");
    return device;
}

cudaOccFuncAttributes function_attributes(CUfunction function)
{
    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock = function->max_threads;
    attributes.numRegs = function->registers;
    attributes.sharedSizeBytes = static_cast<size_t>(function->static_shared);
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    attributes.maxDynamicSharedSizeBytes = static_cast<size_t>(function->max_dynamic_shared);
    attributes.numBlockBarriers = 1;
    return attributes;
}

size_t cluster_blocks(const Launch &launch) { return product(launch.cluster); }

CUresult check_cluster(const Launch &launch)
{
    REQUIRE(cluster_blocks(launch), CUDA_SUCCESS);
    REQUIRE(attribute("CLUSTER_LAUNCH"), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    size_t most = launch.function->non_portable ? 16 : 8;
    REQUIRE(cluster_blocks(launch) <= most, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    for (int i = 0; i < 3; ++i)
        REQUIRE(launch.grid[i] % launch.cluster[i] == 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    return CUDA_SUCCESS;
}

void read_attributes(const CUlaunchConfig &config, Launch *launch)
{
    for (int i = 0; i < 3 && launch->function->cluster[0] > 0; ++i)
        launch->cluster[i] = static_cast<unsigned>(std::max(1, launch->function->cluster[i]));
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        auto &each = config.attrs[i];
        if (each.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            launch->cluster[0] = each.value.clusterDim.x;
            launch->cluster[1] = each.value.clusterDim.y;
            launch->cluster[2] = each.value.clusterDim.z;
        }
        if (each.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            launch->cooperative = each.value.cooperative != 0;
    }
}

// The kernel sees registered memory at its address in the window: a parameter that holds the
// program's own pointer is translated.
void translate_registered(Launch *launch)
{
    auto addresses = launch->addresses();
    for (CUdeviceptr &value : addresses) {
        const Allocation *memory = in_window(value) ? nullptr : find_allocation(value);
        value = memory ? memory->address + memory->offset_of(value) : value;
    }
    memcpy(launch->parameters.data(), addresses.data(), addresses.size() * sizeof(CUdeviceptr));
}

// Whether the host and the kernel may exchange values while it runs: such a kernel starts at its
// launch.
bool shares_memory(const Launch &launch)
{
    auto &variables = launch.function->module->variables;
    auto is_managed = [](auto &each) { return each.second.managed; };
    if (std::any_of(variables.begin(), variables.end(), is_managed))
        return true;
    auto addresses = launch.addresses();
    return std::any_of(addresses.begin(), addresses.end(), [](CUdeviceptr address) {
        return in_window(address) && is_on_host(address);
    });
}

CUresult copy_parameters(void **pointers, Launch *launch)
{
    for (auto [at, bytes] : launch->function->parameters) {
        REQUIRE(pointers && *pointers, bad_value);
        memcpy(&launch->parameters[at], *pointers++, bytes);
    }
    return CUDA_SUCCESS;
}

CUresult copy_buffer(void **extra, Launch *launch)
{
    const void *buffer = nullptr;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *static_cast<size_t *>(extra[1]);
        else
            return bad_value;
    }
    REQUIRE(buffer && bytes >= launch->parameters.size(), bad_value);
    memcpy(launch->parameters.data(), buffer, launch->parameters.size());
    return CUDA_SUCCESS;
}

} // namespace

CUresult make_launch(CUfunction function, const CUlaunchConfig &config, void **parameters,
                     void **extra, Launch *launch)
{
    *launch = {function,
               {config.gridDimX, config.gridDimY, config.gridDimZ},
               {config.blockDimX, config.blockDimY, config.blockDimZ},
               {},
               config.sharedMemBytes,
               false,
               std::vector<char>(function->parameter_bytes())};
    read_attributes(config, launch);
    if (!launch->parameters.empty())
        TRY(extra ? copy_buffer(extra, launch) : copy_parameters(parameters, launch));
    if (!state().registered.empty())
        translate_registered(launch);
    return CUDA_SUCCESS;
}

CUresult check(const Launch &launch)
{
    REQUIRE(is_live(launch.function), bad_handle);
    const CUfunc_st &function = *launch.function;
    size_t threads = product(launch.block);
    REQUIRE(within(launch.grid, "MAX_GRID_DIM_X", "MAX_GRID_DIM_Y", "MAX_GRID_DIM_Z") &&
                within(launch.block, "MAX_BLOCK_DIM_X", "MAX_BLOCK_DIM_Y", "MAX_BLOCK_DIM_Z") &&
                threads <= static_cast<size_t>(function.max_threads) &&
                launch.dynamic_shared <= static_cast<size_t>(function.max_dynamic_shared),
            bad_value);
    TRY(check_cluster(launch));
    int blocks = 0;
    max_blocks(launch.function, static_cast<int>(threads), launch.dynamic_shared, &blocks);
    REQUIRE(blocks > 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    size_t resident = static_cast<size_t>(blocks * attribute("MULTIPROCESSOR_COUNT"));
    REQUIRE(!launch.cooperative || product(launch.grid) <= resident,
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    return CUDA_SUCCESS;
}

CUresult run(CUstream stream, const Launch &launch)
{
    State &s = state();
    bool waits = !s.deferring || shares_memory(launch);
    if (waits)
        finish_earlier(*stream);
    wire::Launch message = {};
    message.stream = stream->number;
    message.device = stream->context->device_number();
    message.module = launch.function->module->number;
    message.kernel = launch.function->index;
    memcpy(message.grid, launch.grid, sizeof message.grid);
    memcpy(message.block, launch.block, sizeof message.block);
    memcpy(message.cluster, launch.cluster, sizeof message.cluster);
    message.dynamic_shared = launch.dynamic_shared;
    message.cooperative = launch.cooperative;
    message.parameter_bytes = static_cast<uint32_t>(launch.parameters.size());
    message.number = waits ? 0 : ++s.deferred_launches;
    guard_parameters(stream, launch);
    name_call();
    send(message, launch.parameters.data(), launch.parameters.size());
    if (waits)
        s.running = true;
    else
        defer(stream, Deferred::launch, [number = message.number] {
            send(wire::Execute{number});
            state().running = true;
        });
    if (s.check)
        s.launch_site = allocation_site();
    s.launched = launch.function->name;
    return CUDA_SUCCESS;
}

// --- occupancy ----------------------------------------------------------------------------------

int max_blocks(CUfunction function, int threads, size_t dynamic_shared, int *blocks)
{
    cudaOccDeviceProp device = device_properties();
    cudaOccFuncAttributes attributes = function_attributes(function);
    cudaOccDeviceState carveout;
    cudaOccResult result = {};
    int status = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &attributes, &carveout,
                                                         threads, dynamic_shared);
    bool fits = dynamic_shared <= static_cast<size_t>(function->max_dynamic_shared);
    *blocks = fits && status == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : 0;
    return status;
}

namespace {

unsigned threads_of(const CUlaunchConfig &config)
{
    return config.blockDimX * config.blockDimY * config.blockDimZ;
}

} // namespace

// The largest block with the most resident threads.
API cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                              CUoccupancyB2DSize shared_of, size_t dynamic_shared,
                                              int limit, unsigned)
{
    ENTER(healthy);
    CHECK(function);
    REQUIRE(grid && block, bad_value);
    int warp = attribute("WARP_SIZE"), best = 0;
    limit = limit > 0 ? std::min(limit, function->max_threads) : function->max_threads;
    *grid = *block = 0;
    for (int threads = (limit + warp - 1) / warp * warp; threads > 0; threads -= warp) {
        int tried = std::min(threads, limit), blocks = 0;
        max_blocks(function, tried, shared_of ? shared_of(tried) : dynamic_shared, &blocks);
        if (blocks * tried <= best)
            continue;
        best = blocks * tried;
        *block = tried;
        *grid = blocks * attribute("MULTIPROCESSOR_COUNT");
    }
    return CUDA_SUCCESS;
}

API cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                            int threads)
{
    ENTER(healthy);
    CHECK(function);
    REQUIRE(bytes && blocks > 0 && threads > 0, bad_value);
    cudaOccDeviceProp device = device_properties();
    cudaOccFuncAttributes attributes = function_attributes(function);
    cudaOccDeviceState carveout;
    int status = cudaOccAvailableDynamicSMemPerBlock(bytes, &device, &attributes, &carveout, blocks,
                                                     threads);
    REQUIRE(status == CUDA_OCC_SUCCESS, bad_value);
    *bytes = std::min(*bytes, static_cast<size_t>(function->max_dynamic_shared));
    return CUDA_SUCCESS;
}

// A GPU places clusters in groups of multiprocessors: some stay empty there.
API cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    ENTER(healthy);
    CHECK(function);
    REQUIRE(clusters && config, bad_value);
    Launch launch = {function, {}, {}, {}, config->sharedMemBytes, false, {}};
    read_attributes(*config, &launch);
    int blocks = 0, size = std::max(1, static_cast<int>(cluster_blocks(launch)));
    max_blocks(function, static_cast<int>(threads_of(*config)), config->sharedMemBytes, &blocks);
    *clusters = blocks * attribute("MULTIPROCESSOR_COUNT") / size;
    return CUDA_SUCCESS;
}
