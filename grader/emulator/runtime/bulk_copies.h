// Copies of many bytes at once, as accesses of 32 lanes with up to 16 bytes each: so they are checked
// as any other.
#pragma once

#include "barrier_objects.h"
#include "reductions.h"

constexpr uint32_t UNIT_BYTES = 16;

// Where up to 32 units of a copy lie in one memory.
struct End {
    bool global;
    uint64_t addresses[WARP_LANES];
};

// A copy in units of `width` bytes by the warp's running path. `blocks` of the cluster get it, where
// it goes to several, else 0. `fill`: what units hold that lie nowhere. `narrows`: words are rounded
// to TF32 on their way.
struct BulkCopy {
    Context &context;
    Warp &warp;
    uint32_t instruction, load_slot, store_slot;
    uint32_t width = UNIT_BYTES, blocks = 0, fill = 0;
    const Reduction *reduction = nullptr;
    bool narrows = false;

    // Copy the units of a mask; those not `inside` lie nowhere in the source. Returns a FaultCode,
    // which the lowest lane of the path is told of.
    uint32_t move(End &target, const End &source, uint32_t mask, uint32_t inside);
    // Read the units of a mask, one behind the other.
    uint32_t read(const End &source, uint32_t mask, uint8_t *bytes);
    // The launch ends with this fault.
    uint32_t fail(uint32_t code, uint64_t address);
    // So many bytes have arrived at a barrier object, in every block that gets them.
    uint32_t arrive(uint32_t object, uint32_t bytes);

private:
    uint32_t access(const End &end, uint32_t slot, uint32_t mask, bool load);
    uint32_t add_to(const End &target, uint32_t mask);
};
