// Asynchronous work: copies, stores and products take effect when a thread waits for them, not
// before. This is the latest time that CUDA allows (PTX ISA, "Asynchronous Operations"), so a
// program without the wait reads old contents.
#pragma once

#include <functional>
#include <vector>

#include "warps/barrier_objects.h"

// Performs the work; may store a fault in the context.
using Effect = std::function<void()>;

// For the checked mode: the tag of the access that started the work, and whether the work will
// write (or read) a byte of shared memory.
struct Traces {
    uint64_t tag = 0;
    std::function<bool(const uint8_t *place, bool writes)> touches;
};

// Work that ends with an arrival at a barrier object.
struct LaterArrival {
    const uint8_t *object;
    Arrival arrival;
    Effect effect;
    Traces traces;
};

// Defers work of the warp's running path until its group is waited for; stores at the latest until
// the block ends.
void put_off(Context &context, Warp &warp, uint32_t kind, Effect effect, Traces traces = {});
void put_off(Context &context, LaterArrival later);
// Defers an arrival that completes the lanes' copies so far.
void arrive_behind_copies(Context &context, Warp &warp, const uint8_t *object, Arrival arrival,
                          uint32_t lanes);
// `later_arrivals`: the pending arrivals at an object, in order. `forget_arrivals` drops the
// pending arrivals at objects in a range of addresses.
std::vector<LaterArrival *> later_arrivals(Context &context, const uint8_t *object);
void forget_arrivals(Context &context, const uint8_t *first, const uint8_t *past);
// Whether a pending copy of the block's lanes writes to an address of shared memory.
bool is_written_later(Context &context, uint64_t address);
// The traces of the block's other pending work, arrivals included.
std::vector<const Traces *> traces_of_work(Context &context);
// At the end of a block: performs its stores to global memory and drops the rest with its shared
// memory.
void end_work(Context &context);
// At the end of a launch.
void forget_work(Context &context);
