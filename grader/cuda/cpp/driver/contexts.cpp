// Initialisation, devices, contexts, limits and peers.
#include "driver/driver.h"

#include <cstdio>

namespace {

constexpr unsigned context_flags = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                                   CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE |
                                   CU_CTX_SYNC_MEMOPS;

struct Attribute {
    int number;
    const char *name;
};

// Written from cuda.h.
constexpr Attribute attributes[] = {
#define ATTRIBUTE(number, name) {number, #name},
#include "attributes.def"
};

#define ENTER_DEVICE                                                                               \
    ENTER(library);                                                                                \
    CHECK(device)

DeviceState &of(int device) { return state().devices[static_cast<size_t>(device)]; }

std::map<CUlimit, size_t> first_limits()
{
    return {{CU_LIMIT_STACK_SIZE, 1024},
            {CU_LIMIT_PRINTF_FIFO_SIZE, 8650752},
            {CU_LIMIT_MALLOC_HEAP_SIZE, 8388608},
            {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
            {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
            {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 11796480}};
}

CUcontext make_context(int device, unsigned flags, bool primary)
{
    CUcontext context = make<CUctx_st>(device, flags, primary, state().numbers++);
    context->limits = first_limits();
    context->legacy.reset(new CUstream_st{context, 0});
    return context;
}

// No context stands for the current one.
CUresult find_context(const Call &call, CUcontext *context)
{
    *context = *context ? *context : call.context;
    return check_argument(*context);
}

void end_context(CUcontext context)
{
    finish_all();
    settle(context);
    release_all(context);
    unload_modules(context);
    destroy(context);
}

} // namespace

int attribute(const char *name)
{
    auto &known = state().device.attributes;
    auto found = known.find(name);
    return found == known.end() ? 0 : found->second;
}

// --- initialisation -----------------------------------------------------------------------------

API cuInit(unsigned flags)
{
    State &s = state();
    std::lock_guard<std::mutex> lock(s.mutex);
    REQUIRE(!flags, bad_value);
    REQUIRE(!s.forked, CUDA_ERROR_NOT_INITIALIZED);
    static CUresult status = connect_to_server();
    find_libraries(); // the runtime may be loaded after the driver
    return status;
}

// --- devices ------------------------------------------------------------------------------------

API cuDeviceGetAttribute(int *value, CUdevice_attribute number, CUdevice device)
{
    ENTER_DEVICE;
    REQUIRE(value, bad_value);
    for (auto &each : attributes)
        if (each.number == static_cast<int>(number)) {
            *value = each.number == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ? device
                                                                      : attribute(each.name);
            return CUDA_SUCCESS;
        }
    return bad_value;
}

API cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    ENTER(library);
    unsigned domain = 0, bus = 0, number = 0;
    REQUIRE(device && text, bad_value);
    int read = sscanf(text, "%x:%x:%x", &domain, &bus, &number);
    if (read == 2) { // without the domain
        number = bus;
        bus = domain;
        domain = 0;
    }
    REQUIRE(read >= 2 && !domain && !bus && is_device(static_cast<int>(number)),
            CUDA_ERROR_INVALID_DEVICE);
    *device = static_cast<int>(number);
    return CUDA_SUCCESS;
}

static CUdevprop make_properties()
{
    return {
        attribute("MAX_THREADS_PER_BLOCK"),
        {attribute("MAX_BLOCK_DIM_X"), attribute("MAX_BLOCK_DIM_Y"), attribute("MAX_BLOCK_DIM_Z")},
        {attribute("MAX_GRID_DIM_X"), attribute("MAX_GRID_DIM_Y"), attribute("MAX_GRID_DIM_Z")},
        attribute("MAX_SHARED_MEMORY_PER_BLOCK"),
        attribute("TOTAL_CONSTANT_MEMORY"),
        attribute("WARP_SIZE"),
        attribute("MAX_PITCH"),
        attribute("MAX_REGISTERS_PER_BLOCK"),
        attribute("CLOCK_RATE"),
        attribute("TEXTURE_ALIGNMENT"),
    };
}

// --- primary contexts ---------------------------------------------------------------------------

API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER_DEVICE;
    CHECK(context);
    DeviceState &own = of(device);
    REQUIRE(own.primary || !own.dead, CUDA_ERROR_DEVICE_UNAVAILABLE);
    if (!own.primary)
        own.primary = make_context(device, own.flags, true);
    ++own.retained;
    *context = own.primary;
    return CUDA_SUCCESS;
}

static void end_primary(DeviceState &own)
{
    if (own.primary)
        end_context(own.primary);
    own.primary = nullptr;
    own.retained = 0;
}

API cuDevicePrimaryCtxRelease(CUdevice device)
{
    ENTER_DEVICE;
    REQUIRE(of(device).retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--of(device).retained == 0)
        end_primary(of(device));
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxReset(CUdevice device)
{
    ENTER_DEVICE;
    if (CUcontext context = of(device).primary) {
        synchronize(context, wire::Sort::DEVICE, 0);
        int retained = of(device).retained;
        end_primary(of(device));
        of(device).retained = retained; // until each owner releases it
    }
    return CUDA_SUCCESS;
}

API cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    ENTER_DEVICE;
    REQUIRE(!(flags & ~context_flags) && (flags & CU_CTX_SCHED_MASK) != 3, bad_value);
    of(device).flags = flags;
    if (of(device).primary)
        of(device).primary->flags = flags;
    return CUDA_SUCCESS;
}

// --- contexts -----------------------------------------------------------------------------------

API cuCtxCreate_v2(CUcontext *made, unsigned flags, CUdevice device)
{
    {
        ENTER(library);
        REQUIRE(made && !(flags & ~context_flags), bad_value);
        REQUIRE(is_device(device), CUDA_ERROR_INVALID_DEVICE);
        REQUIRE(!of(device).dead, CUDA_ERROR_DEVICE_UNAVAILABLE);
        *made = make_context(device, flags, false);
    }
    return cuCtxPushCurrent(*made);
}

API cuCtxCreate_v3(CUcontext *made, CUexecAffinityParam *, int, unsigned flags, CUdevice device)
{
    return cuCtxCreate_v2(made, flags, device);
}

API cuCtxCreate_v4(CUcontext *made, CUctxCreateParams *, unsigned flags, CUdevice device)
{
    return cuCtxCreate_v2(made, flags, device);
}

API cuCtxDestroy(CUcontext context)
{
    {
        ENTER(library);
        REQUIRE(is_live(context) && !context->primary, CUDA_ERROR_INVALID_CONTEXT);
        synchronize(context, wire::Sort::DEVICE, 0);
        end_context(context);
    }
    CUcontext popped = nullptr;
    return current_context() == context ? cuCtxPopCurrent(&popped) : CUDA_SUCCESS;
}

API cuCtxGetDevice_v2(CUdevice *device, CUcontext context)
{
    ENTER(library);
    REQUIRE(device, bad_value);
    TRY(find_context(call, &context));
    *device = context->device;
    return CUDA_SUCCESS;
}

#undef cuCtxGetDevice
API cuCtxGetDevice(CUdevice *device) { return cuCtxGetDevice_v2(device, nullptr); }

API cuCtxGetId(CUcontext context, unsigned long long *id)
{
    ENTER(library);
    context = context ? context : call.context;
    REQUIRE(is_live(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    REQUIRE(id, bad_value);
    *id = context->id;
    return CUDA_SUCCESS;
}

#undef cuCtxSynchronize
API cuCtxSynchronize()
{
    ENTER(safe);
    return synchronize(call.context, wire::Sort::DEVICE, 0);
}

API cuCtxSynchronize_v2(CUcontext context)
{
    ENTER(safe);
    TRY(find_context(call, &context));
    return synchronize(context, wire::Sort::DEVICE, 0);
}

// --- limits and caches --------------------------------------------------------------------------

API cuCtxGetLimit(size_t *value, CUlimit limit)
{
    ENTER(healthy);
    REQUIRE(limit != CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, CUDA_ERROR_UNSUPPORTED_LIMIT);
    auto found = call.context->limits.find(limit);
    REQUIRE(value && found != call.context->limits.end(), bad_value);
    *value = found->second;
    return CUDA_SUCCESS;
}

API cuCtxSetLimit(CUlimit limit, size_t value)
{
    ENTER(healthy);
    REQUIRE(limit != CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, CUDA_ERROR_UNSUPPORTED_LIMIT);
    REQUIRE(call.context->limits.count(limit), bad_value);
    // as on a GPU, the buffer of printf cannot change after its first use
    REQUIRE(limit != CU_LIMIT_PRINTF_FIFO_SIZE || !state().printed, bad_value);
    call.context->limits[limit] = value;
    finish_all();
    send(wire::Limit{limit, call.context->device_number(), value});
    return CUDA_SUCCESS;
}

// --- peers --------------------------------------------------------------------------------------

static CUresult set_peer(Call &call, CUcontext peer, bool enabled)
{
    REQUIRE(is_live(peer), CUDA_ERROR_INVALID_CONTEXT);
    auto &peers = call.context->peers;
    if (enabled) {
        REQUIRE(peer->device != call.context->device, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        REQUIRE(peers.insert(peer).second, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    } else {
        REQUIRE(peers.erase(peer), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    }
    finish_all();
    send(wire::Peer{call.context->device_number(), peer->device_number(), enabled});
    return CUDA_SUCCESS;
}

// --- profiler -----------------------------------------------------------------------------------

API cuProfilerInitialize(const char *, const char *, int)
{
    ENTER(library);
    return CUDA_ERROR_NOT_SUPPORTED;
}

API cuProfilerStart()
{
    ENTER(library);
    return CUDA_SUCCESS;
}

API cuProfilerStop()
{
    ENTER(library);
    return CUDA_SUCCESS;
}
