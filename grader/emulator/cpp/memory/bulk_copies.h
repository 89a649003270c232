// Copies of many bytes, executed as accesses of 32 lanes with up to 16 bytes each, so that the
// checks of other accesses apply.
#pragma once

#include "memory/reductions.h"
#include "memory/under_way.h"

constexpr uint32_t UNIT_BYTES = 16;

// The addresses of up to 32 units of a copy in one memory.
struct End {
    bool global;
    uint64_t addresses[WARP_LANES];
};

// The data movement of a copy in units of `width` bytes. `fill`: a word of units outside the
// source. `narrows`: words are rounded to TF32.
struct Moves {
    // Up to 32 units; units that are not `inside` lie outside the source.
    struct Units {
        uint32_t mask, inside;
        uint8_t *targets[WARP_LANES];
        const uint8_t *sources[WARP_LANES];
    };

    uint32_t width = UNIT_BYTES, fill = 0;
    bool narrows = false, reduces = false;
    uint8_t data[UNIT_BYTES] = {}; // for units without a source pointer
    Reduction reduction{};
    std::vector<Units> units{};

    // Performs the moves, `behind` bytes after the targets.
    void run(uint64_t behind) const;
    // Whether the moves write (or read) a byte.
    bool touch(const uint8_t *place, bool writes, uint64_t behind) const;
};

// A copy by the warp's running path: checks both ends at once and moves the data later. `blocks`:
// mask of the cluster's blocks that receive it, 0 for a copy to one place.
struct BulkCopy {
    Context &context;
    Warp &warp;
    uint32_t instruction, load_slot, store_slot, blocks = 0;
    Moves moves{};
    std::vector<uint32_t> sectors{}; // for the trace

    // Adds the units of a mask after checking them. Returns a FaultCode; the fault's lane is the
    // path's lowest lane.
    uint32_t move(const End &target, const End &source, uint32_t mask, uint32_t inside);
    // Reads the units of a mask into consecutive bytes.
    uint32_t read(const End &source, uint32_t mask, uint8_t *bytes);
    // Ends the launch with this fault.
    uint32_t fail(uint32_t code, uint64_t address);
    // The moves take effect when the copy's group is waited for, or when `bytes` bytes arrive at a
    // barrier object of every receiving block.
    uint32_t end_with_group();
    uint32_t end_with_arrival(uint32_t object, uint32_t bytes);
    void put_off_moves(uint8_t *object, uint32_t bytes, uint64_t behind);
    // Sets the unit width and the form's reduction.
    void set(uint32_t form, uint32_t width);

  private:
    void record_sectors(const End &end, uint32_t mask);
    void trace_sectors();
    uint32_t access(const End &end, uint32_t slot, uint32_t mask, bool load);
};
