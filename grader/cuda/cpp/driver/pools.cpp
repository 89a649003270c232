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

// The size of an attribute's value.
size_t bytes_of(CUmemPool_attribute name)
{
    return name >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? 8 : 4;
}

} // namespace

// With a default pool.
DeviceState &pools_of(int device)
{
    DeviceState &own = state().devices[static_cast<size_t>(device)];
    if (!own.default_pool)
        own.default_pool = own.pool = make<CUmemPoolHandle_st>(device);
    return own;
}

// The most that was in use.
void record_use(CUmemoryPool pool)
{
    for (auto name : {CU_MEMPOOL_ATTR_USED_MEM_HIGH, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH})
        pool->attributes[name] = std::max(pool->attributes[name], used_bytes(pool));
}

API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    ENTER(library);
    REQUIRE(pool && properties && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
            bad_value);
    int device = properties->location.id;
    CHECK(device);
    *pool = make<CUmemPoolHandle_st>(device);
    return CUDA_SUCCESS;
}

API cuMemPoolDestroy(CUmemoryPool pool)
{
    ENTER(library);
    CHECK(pool);
    DeviceState &own = pools_of(pool->device);
    REQUIRE(pool != own.default_pool, bad_value);
    if (own.pool == pool)
        own.pool = own.default_pool;
    for (auto &[address, memory] : state().allocations)
        if (memory.pool == pool)
            memory.pool = own.default_pool; // such memory stays until it is freed
    destroy(pool);
    return CUDA_SUCCESS;
}

API cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void *value)
{
    ENTER(library);
    REQUIRE(is_live(pool) && value, bad_value);
    bool current = name == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ||
                   name == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
    uint64_t number = current ? used_bytes(pool) : bytes_of(name) == 8 ? 0 : 1;
    auto found = pool->attributes.find(name);
    if (!current && found != pool->attributes.end())
        number = found->second;
    memcpy(value, &number, bytes_of(name));
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
