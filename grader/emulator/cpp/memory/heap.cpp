// The heap of device code: malloc, new, free and delete, one warp at a time. Each allocation takes
// 64 bytes more than its size (on an H200 allocations lie at least 80 bytes apart).
#include "warps/lanes.h"

constexpr uint32_t HEAD_STEPS = 64 / HEAP_STEP_BYTES, FIRST_ARGUMENT = 4;
constexpr uint64_t SYSTEM = uint64_t(SYSTEM_WINDOW) << 32;

// Allocates; returns the number of the first step, or 0. Freed memory is reused only if no unused
// memory is left, so that accesses after free rarely hit a new allocation.
static uint32_t take(HeapState &heap, uint64_t bytes)
{
    if (bytes > uint64_t(heap.steps) * HEAP_STEP_BYTES)
        return 0;
    uint32_t size = bytes == 0 ? 1 : uint32_t((bytes + HEAP_STEP_BYTES - 1) / HEAP_STEP_BYTES);
    if (heap.live == 0 && heap.next + HEAD_STEPS + size > heap.steps) {
        memset(heap.unused, 0, heap.steps * sizeof *heap.unused);
        heap.next = 0;
    }
    uint32_t place = heap.next + HEAD_STEPS;
    if (place + size <= heap.steps) {
        heap.next = place + size;
    } else {
        uint32_t largest = 2 * size + HEAD_STEPS;
        while (size < heap.steps && size < largest && heap.unused[size] == 0)
            ++size;
        place = size < heap.steps ? heap.unused[size] : 0;
        if (place == 0)
            return 0;
        heap.unused[size] = heap.links[place];
    }
    heap.sizes[place] = size;
    ++heap.live;
    return place;
}

// Frees an allocation; false if the address is not an allocation, or already free.
static bool give_back(HeapState &heap, uint64_t address)
{
    uint64_t offset = address - heap.address, place = offset / HEAP_STEP_BYTES;
    if (place >= heap.steps || offset % HEAP_STEP_BYTES != 0 || heap.sizes[place] == 0)
        return false;
    uint32_t size = heap.sizes[place];
    heap.sizes[place] = 0;
    heap.links[place] = heap.unused[size];
    heap.unused[size] = uint32_t(place);
    --heap.live;
    return true;
}

// Fills new memory with the poison byte.
static uint64_t allocate(Context &context, uint64_t bytes)
{
    HeapState &heap = *context.heap;
    uint64_t offset = uint64_t(take(heap, bytes)) * HEAP_STEP_BYTES;
    if (offset == 0)
        return 0;
    memset(host_pointer(heap.host + offset), int(context.shared_poison), bytes);
    return heap.address + offset;
}

// Memory for the parameters of a kernel that a lane will launch, behind a record of the launch: the
// arguments of the function, as words.
static uint64_t reserve_parameters(Context &context, const uint32_t *arguments)
{
    uint64_t address = allocate(context, LAUNCH_HEAD_BYTES + LAUNCH_PARAMETER_BYTES);
    if (address == 0)
        return 0;
    uint32_t words[LAUNCH_WORDS];
    for (uint32_t n = 0; n < LAUNCH_WORDS; n++)
        words[n] = arguments[n * WARP_LANES];
    memcpy(host_pointer(context.heap->host + address - context.heap->address), words, sizeof words);
    return address + LAUNCH_HEAD_BYTES;
}

// Frees the memory of a launch. Its next user has no race with this one.
static void free_parameters(Context &context, uint64_t address)
{
    give_back(*context.heap, address);
    if (context.checked_state == nullptr)
        return;
    const CheckedState &state = *context.checked_state;
    uint64_t first = uint32_t(address) >> state.global_shift;
    uint64_t count = (LAUNCH_HEAD_BYTES + LAUNCH_PARAMETER_BYTES) >> state.global_shift;
    memset(host_pointer(state.global_tags + first * sizeof(Tags)), 0, count * sizeof(Tags));
    memset(host_pointer(state.global_calm + first), 0, count);
}

// A system function that the lanes of a path call: those of the heap here, others in Python
// (host.py), which also keeps a launch before its memory is freed.
EXPORT uint32_t emulator_call_system(Context *context, Warp *warp, uint32_t mask)
{
    uint64_t target = context->call_target;
    bool launches = target == SYSTEM + LAUNCH_KERNEL;
    if (context->heap == nullptr || launches
        || (target != SYSTEM + MALLOC && target != SYSTEM + FREE
            && target != SYSTEM + RESERVE_PARAMETERS)) {
        using Callback = uint32_t(Context *, Warp *, uint32_t);
        uint32_t code
            = reinterpret_cast<Callback *>(context->host_functions)(context, warp, mask);
        if (context->heap == nullptr || !launches || code != FaultCode::NONE)
            return code;
    }
    uint32_t *low = reinterpret_cast<uint32_t *>(warp + 1) + FIRST_ARGUMENT * WARP_LANES;
    uint32_t *high = low + WARP_LANES, code = FaultCode::NONE;
    while (__atomic_exchange_n(&context->heap->lock, 1, __ATOMIC_ACQUIRE) != 0)
        ;
    for (uint32_t lane : Lanes{mask}) {
        uint64_t value = low[lane] | uint64_t(high[lane]) << 32;
        if (target == SYSTEM + MALLOC) {
            value = allocate(*context, value);
            low[lane] = uint32_t(value);
            high[lane] = uint32_t(value >> 32);
        } else if (target == SYSTEM + RESERVE_PARAMETERS) {
            value = reserve_parameters(*context, low + lane);
            low[lane] = uint32_t(value);
            high[lane] = uint32_t(value >> 32);
        } else if (launches) {
            free_parameters(*context, value - LAUNCH_HEAD_BYTES);
            low[lane] = 0;
        } else if (value != 0 && !give_back(*context->heap, value)) {
            context->fault_lane = lane;
            context->fault_address = value;
            code = context->fault_code = FaultCode::BAD_FREE;
            break;
        }
    }
    __atomic_store_n(&context->heap->lock, 0, __ATOMIC_RELEASE);
    return code;
}
