// Pools: memory in the order of streams. An allocation is complete at the call.
#include "driver/driver.h"

namespace {

// In use by the pool's allocations.
uint64_t used_bytes(CUmemoryPool pool)
{
    uint64_t bytes = 0;
    for (auto &[address, memory] : state().allocations)
        if (memory.pool == pool)
            bytes += memory.bytes;
    return bytes;
}

CUresult find_pool(CUmemoryPool *pool, CUdevice device, CUmemoryPool DeviceState::*member)
{
    ENTER(library);
    REQUIRE(pool, bad_value);
    REQUIRE(device >= 0 && static_cast<size_t>(device) < state().devices.size(),
            CUDA_ERROR_INVALID_DEVICE);
    default_pool(device);
    *pool = state().devices[static_cast<size_t>(device)].*member;
    return CUDA_SUCCESS;
}

} // namespace

CUmemoryPool default_pool(int device)
{
    DeviceState &own = state().devices[static_cast<size_t>(device)];
    if (!own.default_pool)
        own.default_pool = own.pool = make<CUmemPoolHandle_st>(device);
    return own.pool;
}

// The most that was in use.
void record_use(CUmemoryPool pool)
{
    for (auto name : {CU_MEMPOOL_ATTR_USED_MEM_HIGH, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH})
        pool->attributes[name] = std::max(pool->attributes[name], used_bytes(pool));
}

API cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    return find_pool(pool, device, &DeviceState::default_pool);
}

API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return find_pool(pool, device, &DeviceState::pool);
}

API cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    ENTER(library);
    REQUIRE(is_live(pool) && device == pool->device, bad_value);
    default_pool(device);
    state().devices[static_cast<size_t>(device)].pool = pool;
    return CUDA_SUCCESS;
}

API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    ENTER(library);
    REQUIRE(pool && properties && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
            bad_value);
    int device = properties->location.id;
    REQUIRE(device >= 0 && static_cast<size_t>(device) < state().devices.size(),
            CUDA_ERROR_INVALID_DEVICE);
    *pool = make<CUmemPoolHandle_st>(device);
    return CUDA_SUCCESS;
}

API cuMemPoolDestroy(CUmemoryPool pool)
{
    ENTER(library);
    REQUIRE(is_live(pool), bad_value);
    DeviceState &own = state().devices[static_cast<size_t>(pool->device)];
    REQUIRE(pool != own.default_pool, bad_value);
    if (own.pool == pool)
        own.pool = own.default_pool;
    for (auto &[address, memory] : state().allocations)
        if (memory.pool == pool)
            memory.pool = own.default_pool; // such memory stays until it is freed
    destroy(pool);
    return CUDA_SUCCESS;
}

API cuMemPoolTrimTo(CUmemoryPool pool, size_t)
{
    ENTER(library);
    return is_live(pool) ? CUDA_SUCCESS : bad_value;
}

API cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void *value)
{
    ENTER(library);
    REQUIRE(is_live(pool) && value, bad_value);
    bool wide = name >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    uint64_t number = 0;
    memcpy(&number, value, wide ? 8 : 4);
    pool->attributes[name] = number;
    return CUDA_SUCCESS;
}

API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void *value)
{
    ENTER(library);
    REQUIRE(is_live(pool) && value, bad_value);
    bool wide = name >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    bool current = name == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ||
                   name == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
    uint64_t number = current ? used_bytes(pool) : wide ? 0 : 1;
    auto found = pool->attributes.find(name);
    if (!current && found != pool->attributes.end())
        number = found->second;
    memcpy(value, &number, wide ? 8 : 4);
    return CUDA_SUCCESS;
}

API cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    ENTER(library);
    REQUIRE(is_live(pool) && access, bad_value);
    for (size_t i = 0; i < count; ++i)
        pool->access[access[i].location.id] = access[i].flags;
    return CUDA_SUCCESS;
}

API cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    ENTER(library);
    REQUIRE(flags && is_live(pool) && location, bad_value);
    auto found = pool->access.find(location->id);
    *flags = location->id == pool->device  ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
             : found != pool->access.end() ? found->second
                                           : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}
