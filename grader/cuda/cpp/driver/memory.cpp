// The memory of the window: allocations of all kinds, host memory in it, pointers and pools.
#include "driver/driver.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

constexpr size_t most_freed = 10000, hole_bytes = 1 << 20;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Memory that the host may use has its own pages.
size_t unit_of(Kind kind)
{
    return kind == Kind::device || kind == Kind::array ? wire::ALIGNMENT : page;
}

size_t occupied_bytes(const Allocation &memory)
{
    return round_up(memory.bytes, unit_of(memory.kind)) + wire::RED_ZONE;
}

CUdeviceptr end_of_window() { return state().window + state().window_bytes; }

uint32_t space_of(Kind kind)
{
    switch (kind) {
    case Kind::host:
    case Kind::registered:
        return 1;
    case Kind::managed:
        return 2;
    case Kind::array:
        return 3;
    default:
        return 0;
    }
}

void forget_freed(CUdeviceptr address, size_t bytes)
{
    auto &freed = state().freed;
    if (freed.size() > most_freed)
        freed.clear();
    auto at = freed.lower_bound(address);
    if (at != freed.begin() && std::prev(at)->first + std::prev(at)->second.bytes > address)
        --at;
    while (at != freed.end() && at->first < address + bytes)
        at = freed.erase(at);
}

Allocation &place(CUdeviceptr address, size_t bytes, Kind kind, CUcontext context)
{
    State &s = state();
    Allocation memory = {address, bytes, kind, context, context->device};
    memory.site = allocation_site();
    memory.id = s.numbers++;
    forget_freed(address, bytes);
    send(wire::Allocate{address, bytes, context->device_number(), space_of(kind)});
    return s.allocations[address] = std::move(memory);
}

// Pages of big allocations return to the system.
void forget_contents(const Allocation &memory)
{
    off_t offset = static_cast<off_t>(memory.address - state().window);
    off_t first = static_cast<off_t>(round_up(static_cast<size_t>(offset), page));
    off_t size = (offset + static_cast<off_t>(memory.bytes)) / off_t(page) * off_t(page) - first;
    if (memory.bytes >= hole_bytes)
        fallocate(state().window_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first, size);
}

// Only kinds that the function may free; the findings name other mistakes.
CUresult free_checked(CUdeviceptr address, std::initializer_list<Kind> kinds)
{
    State &s = state();
    auto found = s.allocations.find(address);
    if (found == s.allocations.end() || found->second.of_module ||
        std::find(kinds.begin(), kinds.end(), found->second.kind) == kinds.end()) {
        bool again = found == s.allocations.end() && s.freed.count(address);
        report_misuse(again ? "double_free" : "invalid_free", address, 0, "");
        return bad_value;
    }
    return release(address);
}

// --- registered memory --------------------------------------------------------------------------

char *page_start(char *pointer)
{
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(pointer) / page * page);
}

// Pages of the program that are replaced by other pages with the same contents.
struct Exchange {
    char *start;
    size_t bytes;
    CUdeviceptr address; // of the pages in the window
    bool shared;         // the program gets the window's pages, else its own pages again
    ucontext_t caller = {}, worker = {};
};

void exchange_pages(unsigned low, unsigned high)
{
    auto &x = *reinterpret_cast<Exchange *>(uintptr_t(high) << 32 | low);
    constexpr int rights = PROT_READ | PROT_WRITE;
    char *window = host_view(x.address);
    if (x.shared) {
        memcpy(window, x.start, x.bytes);
        mmap(x.start, x.bytes, rights, MAP_SHARED | MAP_FIXED, state().window_file,
             static_cast<off_t>(x.address - state().window));
    } else {
        constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        void *made = mmap(nullptr, x.bytes, rights, flags, -1, 0);
        memcpy(made, window, x.bytes);
        mremap(made, x.bytes, x.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, x.start);
    }
}

// Works on a stack of its own: the pages may be those of the caller's stack.
void run_exchange(Exchange made)
{
    static char stack[64 << 10];
    static Exchange exchange;
    exchange = made;
    auto place = reinterpret_cast<uintptr_t>(&exchange);
    getcontext(&exchange.worker);
    exchange.worker.uc_stack = {stack, 0, sizeof stack};
    exchange.worker.uc_link = &exchange.caller;
    makecontext(&exchange.worker, reinterpret_cast<void (*)()>(exchange_pages), 2,
                static_cast<unsigned>(place), static_cast<unsigned>(place >> 32));
    swapcontext(&exchange.caller, &exchange.worker);
}

// The registered memory that contains a pointer of the program.
Allocation *find_registered(char *pointer)
{
    State &s = state();
    auto found = s.registered.upper_bound(pointer);
    if (found == s.registered.begin())
        return nullptr;
    --found;
    Allocation &memory = s.allocations[found->second];
    return pointer < memory.user + memory.bytes ? &memory : nullptr;
}

} // namespace

bool in_window(CUdeviceptr address)
{
    State &s = state();
    return address - s.window < s.window_bytes;
}

char *host_view(CUdeviceptr address)
{
    if (in_window(address))
        return state().view + (address - state().window);
    auto pointer = reinterpret_cast<char *>(address);
    const Allocation *memory = state().registered.empty() ? nullptr : find_registered(pointer);
    return memory ? host_view(memory->address) + (pointer - memory->user) : pointer;
}

const Allocation *find_allocation(CUdeviceptr address)
{
    State &s = state();
    if (!in_window(address))
        return s.registered.empty() ? nullptr : find_registered(reinterpret_cast<char *>(address));
    auto found = s.allocations.upper_bound(address);
    if (found == s.allocations.begin())
        return nullptr;
    --found;
    return address < found->first + found->second.bytes ? &found->second : nullptr;
}

const Freed *find_freed(CUdeviceptr address)
{
    auto &freed = state().freed;
    auto found = freed.upper_bound(address);
    if (found == freed.begin())
        return nullptr;
    --found;
    return address < found->first + found->second.bytes ? &found->second : nullptr;
}

bool is_on_host(CUdeviceptr address)
{
    const Allocation *memory = find_allocation(address);
    return memory && memory->on_host();
}

// First memory that was never used, then the first gap: errors with freed memory show.
CUdeviceptr find_gap(size_t bytes, size_t unit)
{
    State &s = state();
    size_t needed = bytes > s.window_bytes ? 0 : round_up(bytes, unit) + wire::RED_ZONE;
    CUdeviceptr place = round_up(s.top, unit);
    if (needed && place + needed <= end_of_window()) {
        s.top = place + needed;
        return place;
    }
    std::map<CUdeviceptr, size_t> occupied = s.reserved;
    for (auto &[address, memory] : s.allocations)
        occupied[address] = std::max(occupied[address], occupied_bytes(memory));
    place = s.window + wire::CLIENT_OFFSET;
    for (auto [address, size] : occupied) {
        if (address + size <= place)
            continue;
        if (place + needed <= address)
            break;
        place = round_up(address + size, unit);
    }
    return needed && place + needed <= end_of_window() ? place : 0;
}

CUresult allocate_at(CUcontext context, CUdeviceptr address, size_t bytes, Kind kind)
{
    place(address, bytes, kind, context);
    return CUDA_SUCCESS;
}

void allow_host(CUdeviceptr address, size_t bytes, bool allowed)
{
    CUdeviceptr start = address / page * page;
    mprotect(reinterpret_cast<void *>(start), round_up(address + bytes, page) - start,
             allowed ? PROT_READ | PROT_WRITE : PROT_NONE);
}

CUresult allocate(CUcontext context, size_t bytes, Kind kind, unsigned flags, CUdeviceptr *address)
{
    REQUIRE(address && bytes, bad_value);
    *address = find_gap(bytes, unit_of(kind));
    REQUIRE(*address, CUDA_ERROR_OUT_OF_MEMORY);
    place(*address, bytes, kind, context).flags = flags;
    if (kind == Kind::host || kind == Kind::managed)
        allow_host(*address, bytes, true);
    return CUDA_SUCCESS;
}

CUresult allocate_for_graph(CUcontext context, size_t bytes, CUdeviceptr *address)
{
    TRY(allocate(context, bytes, Kind::device, 0, address));
    state().allocations[*address].site = {};
    return CUDA_SUCCESS;
}

CUresult allocate_again(CUcontext context, CUdeviceptr address, size_t bytes)
{
    State &s = state();
    if (s.allocations.count(address))
        return CUDA_SUCCESS;
    auto next = s.allocations.lower_bound(address);
    bool free = next == s.allocations.end() || next->first >= address + bytes;
    if (next != s.allocations.begin()) {
        auto &[before, memory] = *std::prev(next);
        free = free && before + occupied_bytes(memory) <= address;
    }
    REQUIRE(free, CUDA_ERROR_OUT_OF_MEMORY);
    place(address, bytes, Kind::device, context).site = {};
    return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address)
{
    State &s = state();
    auto found = s.allocations.find(address);
    REQUIRE(found != s.allocations.end(), bad_value);
    Allocation memory = std::move(found->second);
    settle(memory.context); // kernels may still use it
    if (memory.on_host() && memory.kind != Kind::registered)
        allow_host(address, memory.bytes, false);
    s.allocations.erase(found);
    s.freed[address] = {memory.bytes, memory.site.call()};
    send(wire::Free{address});
    forget_contents(memory);
    return CUDA_SUCCESS;
}

void release_all(CUcontext context)
{
    State &s = state();
    std::vector<CUdeviceptr> own;
    unregister_all(context);
    for (auto &[address, memory] : s.allocations)
        if (memory.context == context && !memory.of_module)
            own.push_back(address);
    for (CUdeviceptr address : own) {
        report_leak(s.allocations[address]);
        release(address);
    }
}

size_t memory_in_use(int device)
{
    size_t bytes = 0;
    for (auto &[address, memory] : state().allocations)
        if (memory.device == device && memory.kind != Kind::host &&
            memory.kind != Kind::registered && !memory.of_module)
            bytes += occupied_bytes(memory);
    return bytes;
}

// --- device memory ------------------------------------------------------------------------------

API cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned)
{
    ENTER(safe);
    REQUIRE(pitch && width && height, bad_value);
    *pitch = round_up(width, wire::ALIGNMENT);
    return allocate(call.context, *pitch * height, Kind::device, 0, address);
}

CUresult free_device(CUdeviceptr address)
{
    return free_checked(address, {Kind::device, Kind::managed});
}

API cuMemFree(CUdeviceptr address)
{
    ENTER(healthy);
    REQUIRE(address, CUDA_SUCCESS);
    TRY(finish_and_report(call.context));
    return free_device(address);
}

API cuMemGetInfo(size_t *available, size_t *total)
{
    ENTER(healthy);
    size_t bytes = state().device.total_bytes;
    offer(available, bytes - std::min(bytes, memory_in_use(call.context->device)));
    offer(total, bytes);
    return CUDA_SUCCESS;
}

API cuMemGetAddressRange(CUdeviceptr *start, size_t *bytes, CUdeviceptr address)
{
    ENTER(healthy);
    const Allocation *memory = find_allocation(address);
    REQUIRE(memory, CUDA_ERROR_NOT_FOUND);
    offer(start, memory->address);
    offer(bytes, memory->bytes);
    return CUDA_SUCCESS;
}

// --- host memory --------------------------------------------------------------------------------

API cuMemFreeHost(void *pointer)
{
    ENTER(healthy);
    REQUIRE(pointer, CUDA_SUCCESS);
    TRY(finish_and_report(call.context));
    return free_checked(reinterpret_cast<CUdeviceptr>(pointer), {Kind::host});
}

API cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned flags)
{
    ENTER(healthy);
    REQUIRE(address && !flags, bad_value);
    const Allocation *memory = find_allocation(reinterpret_cast<CUdeviceptr>(pointer));
    REQUIRE(memory && memory->on_host(), bad_value);
    *address = memory->address + memory->offset_of(reinterpret_cast<CUdeviceptr>(pointer));
    return CUDA_SUCCESS;
}

// Host memory is always mapped for the device.
API cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    ENTER(healthy);
    const Allocation *memory = find_allocation(reinterpret_cast<CUdeviceptr>(pointer));
    REQUIRE(flags && memory && memory->on_host(), bad_value);
    *flags = memory->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
}

API cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    ENTER(safe);
    char *user = static_cast<char *>(pointer);
    REQUIRE(user && bytes && flags < 16, bad_value);
    char *start = page_start(user), *end = page_start(user + bytes + page - 1);
    size_t whole = static_cast<size_t>(end - start);
    for (auto &[known, address] : state().registered)
        REQUIRE(end <= page_start(known) || start >= known + state().allocations[address].bytes,
                CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    CUdeviceptr needed = find_gap(whole, page);
    REQUIRE(needed && !in_window(reinterpret_cast<CUdeviceptr>(pointer)), bad_value);
    finish_all();
    settle(call.context);
    run_exchange({start, whole, needed, true});
    CUdeviceptr address = needed + static_cast<size_t>(user - start);
    Allocation &memory = place(address, bytes, Kind::registered, call.context);
    memory.user = user;
    memory.flags = flags;
    state().registered[user] = address;
    return CUDA_SUCCESS;
}

static CUresult unregister(char *user)
{
    State &s = state();
    auto found = s.registered.find(user);
    REQUIRE(found != s.registered.end(), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CUdeviceptr address = found->second;
    char *start = page_start(user);
    char *end = page_start(user + s.allocations[address].bytes + page - 1);
    finish_all();
    settle(s.allocations[address].context);
    run_exchange({start, static_cast<size_t>(end - start),
                  address - static_cast<size_t>(user - start), false});
    s.registered.erase(found);
    return release(address);
}

void unregister_all(CUcontext context)
{
    std::vector<char *> users;
    for (auto &[user, address] : state().registered)
        if (state().allocations[address].context == context)
            users.push_back(user);
    for (char *user : users)
        unregister(user);
}

// --- managed memory: it does not migrate, so advice has no effect -------------------------------

static CUresult check_managed(CUdeviceptr address, size_t bytes)
{
    ENTER(healthy);
    const Allocation *memory = find_allocation(address);
    REQUIRE(memory && bytes && memory->kind != Kind::device &&
                address + bytes <= memory->address + memory->bytes,
            bad_value);
    return CUDA_SUCCESS;
}

API cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute name, CUdeviceptr address,
                           size_t bytes)
{
    TRY(check_managed(address, bytes));
    REQUIRE(data && size >= 4, bad_value);
    bool place = name == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION ||
                 name == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION ||
                 name == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    int value = place ? CU_DEVICE_INVALID : 0;
    for (size_t at = 0; at + 4 <= size; at += 4)
        memcpy(static_cast<char *>(data) + at, &value, 4);
    return CUDA_SUCCESS;
}

API cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *names, size_t count,
                            CUdeviceptr address, size_t bytes)
{
    for (size_t i = 0; i < count; ++i)
        TRY(cuMemRangeGetAttribute(data[i], sizes[i], names[i], address, bytes));
    return CUDA_SUCCESS;
}

// --- pointers -----------------------------------------------------------------------------------

namespace {

template <class Value> CUresult give(void *data, Value value)
{
    memcpy(data, &value, sizeof value);
    return CUDA_SUCCESS;
}

// Memory without an allocation is the host's own.
CUresult describe_pointer(void *data, CUpointer_attribute name, CUdeviceptr pointer)
{
    const Allocation *memory = find_allocation(pointer);
    REQUIRE(data && memory, bad_value);
    bool host = memory->kind == Kind::host || memory->kind == Kind::registered;
    CUdeviceptr offset = memory->offset_of(pointer);
    CUdeviceptr host_pointer = memory->user ? reinterpret_cast<CUdeviceptr>(memory->user) + offset
                                            : pointer;
    switch (name) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return give(data, memory->context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return give(data, host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return give(data, memory->address + offset);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        REQUIRE(memory->on_host(), (give(data, CUdeviceptr(0)), bad_value));
        return give(data, host_pointer);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return give(data, memory->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return give(data, unsigned(memory->kind == Kind::managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return give(data, memory->device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return give(data, memory->address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return give(data, memory->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return give(data, 1u);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return give(data, memory->pool);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return give(data, 0u);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return give(data, unsigned(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
    default:
        return bad_value;
    }
}

} // namespace

// Attributes that a pointer does not have stay unchanged or zero; that is no error.
API cuPointerGetAttributes(unsigned count, CUpointer_attribute *names, void **data,
                           CUdeviceptr pointer)
{
    ENTER(healthy);
    REQUIRE(names && data, bad_value);
    for (unsigned i = 0; i < count; ++i)
        describe_pointer(data[i], names[i], pointer);
    return CUDA_SUCCESS;
}
