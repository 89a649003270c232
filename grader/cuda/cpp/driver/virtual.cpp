// Virtual memory: reserved addresses, and memory that is mapped there.
//
// An address is a place in the window, so memory moves when it is mapped elsewhere. It can be
// mapped once at a time.
#include "driver/driver.h"

namespace {

constexpr size_t unit_bytes = 2 << 20;

struct Memory {
    size_t bytes;
    CUmemAllocationProp properties;
    CUdeviceptr mapped = 0;
    bool released = false;
    std::string contents = {}; // while it is not mapped
};

std::map<uint64_t, Memory> &memories()
{
    static auto &instance = *new std::map<uint64_t, Memory>;
    return instance;
}

// The memory that is mapped at an address; its number is 0 if there is none.
std::pair<const uint64_t, Memory> *find_mapped(CUdeviceptr address)
{
    for (auto &each : memories())
        if (each.second.mapped && each.second.mapped == address)
            return &each;
    return nullptr;
}

bool is_reserved(CUdeviceptr address, size_t bytes)
{
    auto &reserved = state().reserved;
    auto found = reserved.upper_bound(address);
    if (found == reserved.begin())
        return false;
    --found;
    return address + bytes <= found->first + found->second;
}

void unmap(std::pair<const uint64_t, Memory> &each)
{
    Memory &memory = each.second;
    finish_all();
    settle(state().allocations[memory.mapped].context);
    if (!memory.released)
        memory.contents.assign(host_view(memory.mapped), memory.bytes);
    release(memory.mapped);
    memory.mapped = 0;
    if (memory.released)
        memories().erase(each.first);
}

} // namespace

API cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr,
                        unsigned long long)
{
    ENTER(healthy);
    REQUIRE(address && bytes && bytes % unit_bytes == 0, bad_value);
    *address = find_gap(bytes, std::max(alignment, unit_bytes));
    REQUIRE(*address, CUDA_ERROR_OUT_OF_MEMORY);
    state().reserved[*address] = bytes;
    return CUDA_SUCCESS;
}

API cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    ENTER(healthy);
    auto found = state().reserved.find(address);
    REQUIRE(found != state().reserved.end() && found->second == bytes, bad_value);
    state().reserved.erase(found);
    return CUDA_SUCCESS;
}

API cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                const CUmemAllocationProp *properties, unsigned long long flags)
{
    ENTER(healthy);
    REQUIRE(handle && properties && bytes && bytes % unit_bytes == 0 && !flags, bad_value);
    REQUIRE(bytes <= state().device.total_bytes, CUDA_ERROR_OUT_OF_MEMORY);
    *handle = state().numbers++;
    memories()[*handle] = {bytes, *properties};
    return CUDA_SUCCESS;
}

API cuMemRelease(CUmemGenericAllocationHandle handle)
{
    ENTER(healthy);
    auto found = memories().find(handle);
    REQUIRE(found != memories().end() && !found->second.released, bad_value);
    found->second.released = true; // it lives until it is unmapped
    if (!found->second.mapped)
        memories().erase(found);
    return CUDA_SUCCESS;
}

API cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
             unsigned long long)
{
    ENTER(healthy);
    auto found = memories().find(handle);
    REQUIRE(found != memories().end() && !offset && is_reserved(address, bytes), bad_value);
    Memory &memory = found->second;
    REQUIRE(!memory.mapped && memory.bytes == bytes, CUDA_ERROR_NOT_SUPPORTED);
    TRY(allocate_at(call.context, address, bytes, Kind::device));
    memory.mapped = address;
    memcpy(host_view(address), memory.contents.data(), memory.contents.size());
    memory.contents = {};
    return CUDA_SUCCESS;
}

API cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    ENTER(healthy);
    for (CUdeviceptr end = address + bytes; address < end;) {
        auto found = find_mapped(address);
        REQUIRE(found, bad_value);
        address += found->second.bytes;
        unmap(*found);
    }
    return CUDA_SUCCESS;
}

API cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    ENTER(healthy);
    auto found = find_mapped(reinterpret_cast<CUdeviceptr>(address));
    REQUIRE(handle && found, bad_value);
    *handle = found->first;
    found->second.released = false;
    return CUDA_SUCCESS;
}

API cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                           CUmemGenericAllocationHandle handle)
{
    ENTER(healthy);
    auto found = memories().find(handle);
    REQUIRE(properties && found != memories().end(), bad_value);
    *properties = found->second.properties;
    return CUDA_SUCCESS;
}
