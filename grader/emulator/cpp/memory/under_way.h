// Work that goes on behind its instruction: copies, stores and products take effect where a thread
// waits for them and not before. That is the latest time that CUDA allows (PTX ISA, "Asynchronous
// Operations"), so a program that lacks a wait reads old contents.
#pragma once

#include <functional>
#include <vector>

#include "warps/barrier_objects.h"

// Does the work; notes a fault in the context.
using Effect = std::function<void()>;

// For the checked mode: the tag of the access that began work, and whether that will write, or
// read, a byte of shared memory.
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

// Work of the warp's running path, of a WorkKind: until its group is waited for. Of STORES, also
// until the block ends.
void put_off(Context &context, Warp &warp, uint32_t kind, Effect effect, Traces traces = {});
void put_off(Context &context, LaterArrival later);
// Likewise an arrival behind the warp's copies so far, of some lanes.
void arrive_behind_copies(Context &context, Warp &warp, const uint8_t *object, Arrival arrival,
                          uint32_t lanes);
// What an object still gets, in order; and drop what objects between two places still get.
std::vector<LaterArrival *> later_arrivals(Context &context, const uint8_t *object);
void forget_arrivals(Context &context, const uint8_t *first, const uint8_t *past);
// Whether a copy of the block's lanes has yet to write at an address of shared memory.
bool is_written_later(Context &context, uint64_t address);
// Of other work of the block, and of all that arrives at objects.
std::vector<const Traces *> traces_of_work(Context &context);
// The block ends: its stores to global memory are done, and all else is dropped with its shared
// memory.
void end_work(Context &context);
// The launch ends.
void forget_work(Context &context);
