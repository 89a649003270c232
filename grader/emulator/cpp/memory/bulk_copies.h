// Copies of many bytes at once, as accesses of 32 lanes with up to 16 bytes each: so they are
// checked as any other.
#pragma once

#include "memory/reductions.h"
#include "memory/under_way.h"

constexpr uint32_t UNIT_BYTES = 16;

// Where up to 32 units of a copy lie in one memory.
struct End {
    bool global;
    uint64_t addresses[WARP_LANES];
};

// What a copy moves, in units of `width` bytes. `fill`: what units hold that lie nowhere.
// `narrows`: words are rounded to TF32 on their way.
struct Moves {
    // Up to 32 units; those not `inside` lie nowhere in the source.
    struct Units {
        uint32_t mask, inside;
        uint8_t *targets[WARP_LANES];
        const uint8_t *sources[WARP_LANES];
    };

    uint32_t width = UNIT_BYTES, fill = 0;
    bool narrows = false, reduces = false;
    uint8_t data[UNIT_BYTES] = {}; // of units without a source
    Reduction reduction{};
    std::vector<Units> units{};

    // Do it, so many bytes behind the targets.
    void run(uint64_t behind) const;
    // Whether it writes, or reads, a byte.
    bool touch(const uint8_t *place, bool writes, uint64_t behind) const;
};

// A copy by the warp's running path, which checks both ends at once and moves the data later.
// `blocks` of the cluster get it, where it goes to several, else 0.
struct BulkCopy {
    Context &context;
    Warp &warp;
    uint32_t instruction, load_slot, store_slot, blocks = 0;
    Moves moves{};

    // Copy the units of a mask. Returns a FaultCode, which the lowest lane of the path is told of.
    uint32_t move(const End &target, const End &source, uint32_t mask, uint32_t inside);
    // Read the units of a mask, one behind the other.
    uint32_t read(const End &source, uint32_t mask, uint8_t *bytes);
    // The launch ends with this fault.
    uint32_t fail(uint32_t code, uint64_t address);
    // All is moved when its group is waited for, or when so many bytes arrive at a barrier object,
    // in every block that gets them.
    uint32_t end_with_group();
    uint32_t end_with_arrival(uint32_t object, uint32_t bytes);
    void put_off_moves(uint8_t *object, uint32_t bytes, uint64_t behind);
    // What a form says of a reduction, and how wide units are.
    void set(uint32_t form, uint32_t width);

  private:
    uint32_t access(const End &end, uint32_t slot, uint32_t mask, bool load);
};
