// Copies of many bytes at once between global and shared memory (PTX ISA, cp.async.bulk), as
// accesses of 32 lanes with 16 bytes each: so they are checked as any other.
#include "barrier_objects.h"
#include "checked.h"

using AccessFunction = uint32_t(Context *, Warp *, uint32_t slot, uint32_t instruction,
                                uint32_t mask, uint32_t flags);
extern "C" {
AccessFunction emulator_load_global_16, emulator_store_global_16;
AccessFunction emulator_load_shared_16, emulator_store_shared_16;
}

constexpr uint32_t UNIT = 16, SIZE_MASK = 0xFFFF;

// One of the two ends of a copy: `access` looks at it, or moves data.
struct End {
    AccessFunction *access;
    uint32_t slot, low, high;
};

// The lanes' addresses, from so many bytes on.
static void name_addresses(Context &context, const End &end, uint32_t from)
{
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        uint64_t address = (uint64_t(end.high) << 32 | end.low) + from + lane * UNIT;
        context.lane_addresses[lane] = uint32_t(address);
        context.lane_uppers[lane] = uint32_t(address >> 32);
    }
    context.words = context.lane_data;
}

// Returns a FaultCode, which the lowest lane of the path is told of.
static uint32_t copy(Context &context, Warp &warp, uint32_t instruction, End target, End source,
                     uint32_t size)
{
    uint32_t units = size & SIZE_MASK;
    for (uint32_t done = 0; done < units; done += WARP_LANES) {
        uint32_t left = units - done, mask = left < WARP_LANES ? bit(left) - 1 : FULL_MASK;
        const End ends[] = {source, target};
        for (const End &end : ends) {
            name_addresses(context, end, done * UNIT);
            uint32_t code = end.access(&context, &warp, end.slot, instruction, mask,
                                       AccessFlag::UNTRACED);
            if (code == FaultCode::NONE)
                continue;
            context.fault_lane = lowest_lane(warp.mask);
            return code;
        }
    }
    return FaultCode::NONE;
}

static uint32_t copy_and_arrive(Context &context, Warp &warp, uint32_t instruction, End target,
                                End source, uint32_t object, uint32_t size)
{
    uint32_t code = copy(context, warp, instruction, target, source, size);
    if (code != FaultCode::NONE)
        return code;
    return complete_bytes(context, instruction, object, (size & SIZE_MASK) * UNIT);
}

// From global to shared memory; `object` is a barrier object.
EXPORT uint32_t emulator_copy_in(Context *context, Warp *warp, uint32_t instruction,
                                 uint32_t load_slot, uint32_t store_slot, uint32_t target,
                                 uint32_t object, uint32_t source_low, uint32_t source_high,
                                 uint32_t size)
{
    End to{emulator_store_shared_16, store_slot, target, 0};
    End from{emulator_load_global_16, load_slot, source_low, source_high};
    return copy_and_arrive(*context, *warp, instruction, to, from, object, size);
}

EXPORT uint32_t emulator_copy_within(Context *context, Warp *warp, uint32_t instruction,
                                     uint32_t load_slot, uint32_t store_slot, uint32_t target,
                                     uint32_t object, uint32_t source, uint32_t, uint32_t size)
{
    End to{emulator_store_shared_16, store_slot, target, 0};
    End from{emulator_load_shared_16, load_slot, source, 0};
    return copy_and_arrive(*context, *warp, instruction, to, from, object, size);
}

EXPORT uint32_t emulator_copy_out(Context *context, Warp *warp, uint32_t instruction,
                                  uint32_t load_slot, uint32_t store_slot, uint32_t target_low,
                                  uint32_t target_high, uint32_t source, uint32_t, uint32_t size)
{
    End to{emulator_store_global_16, store_slot, target_low, target_high};
    End from{emulator_load_shared_16, load_slot, source, 0};
    return copy(*context, *warp, instruction, to, from, size);
}
