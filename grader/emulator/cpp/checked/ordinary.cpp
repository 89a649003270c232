// Accesses of the checked mode that need no exact rules, as most do: loads of calm granules
// (layouts/checked.py), and accesses to neighbouring granules that no thread has accessed recently.
// Both do the same as the exact rules.
#include "checked/checked.h"

constexpr uint32_t CALM_SHIFT = 8, CALM_READERS = (1 << CALM_SHIFT) - 1;
constexpr uint64_t CALM_EPOCHS = (1 << (32 - CALM_SHIFT)) - 1;

// The ranges of granules of an access: their lanes, at whose addresses they begin, and their size.
// The further granules of a row of lanes belong to the lanes behind; of lanes with one address, the
// tag of the lane `beyond` the first is left last.
struct Ranges {
    uint32_t lanes, granules, beyond = 0;

    Ranges(const CheckedAccess &checked, const Pattern &pattern, uint32_t mask)
        : lanes(mask), granules(checked.granules())
    {
        if (mask != FULL_MASK)
            return;
        uint32_t kind = pattern.kind;
        bool row = kind == PatternKind::CONTIGUOUS || kind == PatternKind::CONTIGUOUS_GROUPS;
        bool together = kind == PatternKind::BROADCAST || kind == PatternKind::BROADCAST_GROUPS;
        if (row || together)
            lanes = first_lanes(pattern.group);
        if (row)
            granules *= pattern.group;
        if (kind == PatternKind::BROADCAST_GROUPS)
            beyond = pattern.group - 1;
    }
};

// --- calm granules -------------------------------------------------------------------------------

static uint32_t calm_number(const CheckedState &state, uint32_t warp)
{
    return uint32_t(state.epoch) << CALM_SHIFT | (warp + 1);
}

template <bool SHARED>
HOT bool are_calm(const CheckedAccess &checked, uint32_t address, uint32_t count)
{
    uint32_t stirred = 0;
    if (SHARED) {
        const uint32_t *calm = checked.shared_calm(address);
        uint32_t own = calm_number(checked.state, checked.warp.index), epoch = own & ~CALM_READERS;
        for (uint32_t index = 0; index < count; ++index)
            stirred |= uint32_t((calm[index] ^ epoch) - 1 >= CALM_READERS) |
                       uint32_t(calm[index] == own);
    } else {
        const uint8_t *calm = checked.global_calm(address);
        for (uint32_t index = 0; index < count; ++index)
            stirred |= calm[index] ^ 1;
    }
    return stirred == 0;
}

// COUNT: the number of granules if it is not 0.
template <bool SHARED, uint32_t COUNT>
static bool all_calm(const CheckedAccess &checked, Ranges ranges)
{
    for (uint32_t lane : Lanes{ranges.lanes})
        if (!are_calm<SHARED>(checked, checked.context.lane_addresses[lane],
                              COUNT ? COUNT : ranges.granules))
            return false;
    return true;
}

template <bool SHARED> static bool all_calm(const CheckedAccess &checked, Ranges ranges)
{
    switch (ranges.granules) {
    case 1:
        return all_calm<SHARED, 1>(checked, ranges);
    case 4:
        return all_calm<SHARED, 4>(checked, ranges);
    case WARP_LANES:
        return all_calm<SHARED, WARP_LANES>(checked, ranges);
    default:
        return all_calm<SHARED, 0>(checked, ranges);
    }
}

void mark_calm(const CheckedAccess &checked, uint32_t mask)
{
    if (checked.access.is(AccessFlag::PART)) // the other bytes may not be written
        return;
    const CheckedState &state = checked.state;
    uint64_t epoch = state.epoch & CALM_EPOCHS;
    for (uint32_t lane : Lanes{mask}) {
        uint64_t address = checked.context.lane_addresses[lane];
        const Tags *tags = &checked.tags_at(address);
        for (uint32_t granule = 0; granule < checked.granules(); ++granule) {
            Tag writer{tags[granule].writer}, reader{tags[granule].reader};
            bool earlier = writer.exists() && !writer.flag() && writer.owner() != epoch;
            if (!checked.shared())
                checked.global_calm(address)[granule] = !writer.exists();
            else if (earlier && reader.owner() == epoch)
                checked.shared_calm(address)[granule] = calm_number(state, reader.warp());
        }
    }
}

// --- fresh granules ------------------------------------------------------------------------------

// Whether all bytes of global memory from an address on are written.
static bool all_written(const CheckedAccess &checked, uint32_t address, uint32_t bytes)
{
    const uint8_t *marks = checked.written(address);
    uint32_t missing = 0;
    for (uint32_t byte = 0; byte < bytes; ++byte)
        missing |= marks[byte] ^ 1;
    return missing == 0;
}

// Whether no other thread has accessed granules recently: in shared memory none in this epoch; in
// global memory none of another block, and for a load no thread has written them.
template <bool SHARED, bool LOAD>
static bool are_fresh(const CheckedAccess &checked, Tags *tags, uint32_t count)
{
    uint64_t block = checked.state.block, epoch = checked.state.epoch & CALM_EPOCHS, stirred = 0;
    if (!SHARED)
        provide_page(*tags);
    for (uint32_t index = 0; index < count; ++index) {
        Tag writer{tags[index].writer}, reader{tags[index].reader};
        if (SHARED)
            stirred |= (writer.owner() == epoch) | writer.flag() | (reader.owner() == epoch) |
                       (LOAD && !writer.exists());
        else if (LOAD)
            stirred |= writer.value;
        else
            stirred |= (writer.exists() && writer.owner() != block) |
                       (reader.exists() && reader.owner() != block);
    }
    return stirred == 0;
}

// Leaves the tags of the lanes of a range, from `first` on.
template <bool SHARED, bool LOAD>
static void leave_tags(const CheckedAccess &checked, Ranges ranges, uint32_t first, uint64_t common,
                       uint32_t overlapping)
{
    uint32_t address = checked.context.lane_addresses[first], each = checked.granules();
    Tags *tags = &checked.tags_at(address);
    for (uint32_t index = 0; index < ranges.granules; ++index) {
        uint32_t lane = first + ranges.beyond + index / each;
        uint64_t own = common | (has(overlapping, lane) ? FLAG : 0) | lane;
        if (!LOAD)
            tags[index].writer = own;
        else if (SHARED || tags[index].reader == 0)
            tags[index].reader = own;
    }
    if (SHARED) {
        uint32_t calm = LOAD ? calm_number(checked.state, checked.warp.index) : 0;
        for (uint32_t index = 0; index < ranges.granules; ++index)
            checked.shared_calm(address)[index] = calm;
    } else {
        memset(checked.global_calm(address), LOAD, ranges.granules);
        if (!LOAD)
            memset(checked.written(address), 1, ranges.granules << checked.shift);
    }
}

template <bool SHARED, bool LOAD>
static bool pass_fresh(const CheckedAccess &checked, Ranges ranges, uint32_t overlapping)
{
    const uint32_t *addresses = checked.context.lane_addresses;
    for (uint32_t lane : Lanes{ranges.lanes}) {
        Tags *tags = &checked.tags_at(addresses[lane]);
        if (!are_fresh<SHARED, LOAD>(checked, tags, ranges.granules))
            return false;
        if (!SHARED && LOAD &&
            !all_written(checked, addresses[lane], ranges.granules << checked.shift))
            return false;
    }
    uint64_t common = common_tag(checked);
    for (uint32_t lane : Lanes{ranges.lanes})
        leave_tags<SHARED, LOAD>(checked, ranges, lane, common, overlapping);
    return true;
}

bool pass_ordinary(const CheckedAccess &checked, const Pattern &pattern, uint32_t mask)
{
    Access access = checked.access;
    bool shared = checked.shared();
    if (access.atomic || access.is(AccessFlag::PART))
        return false;
    Ranges ranges(checked, pattern, mask);
    auto calm = shared ? all_calm<true> : all_calm<false>;
    if (access.load && calm(checked, ranges))
        return true;
    bool reads_shared = shared && access.load;
    if (access.is(AccessFlag::BULK) || (pattern.overlapping != 0 && !reads_shared))
        return false;
    if (shared)
        return access.load ? pass_fresh<true, true>(checked, ranges, pattern.overlapping)
                           : pass_fresh<true, false>(checked, ranges, 0);
    return access.load ? pass_fresh<false, true>(checked, ranges, 0)
                       : pass_fresh<false, false>(checked, ranges, 0);
}
