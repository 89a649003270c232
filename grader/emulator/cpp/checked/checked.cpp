// Compares every access of a warp with the tags of its granules (layouts/checked.py), and leaves
// its own tags.
//
// Only lanes with a suspicious granule go through the exact rules (findings.cpp). Warps run one
// after another up to a barrier, and blocks one after another. Therefore the first reader of an
// epoch is enough to find every write of another warp that should have waited for a read. Of reads
// of the own warp, the last is kept, and whether it was the only one.
#include "checked/checked.h"

// --- relations of accesses --------------------------------------------------------------------

void end_epoch(CheckedState &state) { ++state.epoch; }

void start_block(CheckedState &state, uint64_t linear)
{
    memset(host_pointer(state.shared_tags), 0, state.shared_tag_bytes);
    if (state.block != 0)
        state.block = linear + 1;
    state.acquired = 0;
    end_epoch(state);
}

// Makes the block's writes so far visible to blocks that see its later writes.
static void pass_fence(CheckedState &state)
{
    uint16_t &count = state.fences[state.block];
    if (count < DETAIL_MASK)
        ++count;
}

// A fence; `beyond`: for more than the block.
EXPORT void emulator_fence(Context *context, uint32_t beyond)
{
    end_epoch(*context->checked_state);
    if (beyond)
        pass_fence(*context->checked_state);
}

// --- one access ----------------------------------------------------------------------------------

// The present access: its tags by lane, and the first synchronisation of its warp that is not
// complete.
struct OwnTags {
    const uint64_t *tags;
    uint64_t first_unsynced;
    uint32_t overlapping; // lanes that share their address with another lane
    uint32_t leaving;     // lanes that may leave a reader's tag; the last of an address stays
};

// Relation of a tag of shared memory to the own tag; `unsynced` is valid for tags of the own warp.
struct Relation {
    bool now, of_another_warp, of_another_lane, unsynced;

    Relation(uint64_t tag, uint64_t own, const OwnTags &access)
    {
        Tag difference{tag ^ own};
        now = difference.owner() == 0;
        of_another_warp = difference.warp() != 0;
        of_another_lane = difference.thread() != 0;
        unsynced = (tag & uint64_t(DETAIL_MASK) << DETAIL_SHIFT) >= access.first_unsynced;
    }
};

enum class Role { WRITER, READER };

// Whether a tag may be unordered with this access.
template <bool SHARED>
HOT bool is_foreign(const CheckedState &state, uint64_t tag, uint64_t own, const OwnTags &access,
                    Role role)
{
    if (!SHARED)
        return tag != 0 && Tag{tag}.owner() != state.block;
    Relation found(tag, own, access);
    bool late = tag & FLAG;
    if (role == Role::WRITER)
        return (found.now &&
                (found.of_another_warp || (found.of_another_lane && found.unsynced))) ||
               late;
    return found.now &&
           (found.of_another_warp || ((found.of_another_lane || late) && found.unsynced));
}

// The tag that a load from shared memory leaves in place of `reader`; 0: `reader` stays. Another
// warp's tag stays in its epoch. An unsynced tag of the own warp gets the flag when other lanes
// read, too.
static uint64_t reading_tag(uint64_t reader, uint64_t own, bool overlaps, const OwnTags &access)
{
    Relation found(reader, own, access);
    bool recent = found.now && !found.of_another_warp && found.unsynced;
    bool marked = reader & FLAG, alone = !(found.of_another_lane || overlaps);
    if ((found.now && found.of_another_warp) || (recent && (marked || alone)))
        return 0;
    return overlaps || (recent && found.of_another_lane) ? own | FLAG : own;
}

uint64_t common_tag(const CheckedAccess &checked)
{
    const CheckedState &state = checked.state;
    uint64_t owner = state.block, flag = 1, detail;
    if (checked.shared()) {
        owner = state.epoch;
        flag = checked.asynchronous();
        detail = smaller(checked.warp.sync_count, DETAIL_MASK);
    } else {
        detail = state.fences[state.block];
    }
    return owner << OWNER_SHIFT | flag << FLAG_SHIFT | (detail & DETAIL_MASK) << DETAIL_SHIFT |
           uint64_t(checked.instruction) << INSTRUCTION_SHIFT |
           uint64_t(checked.warp.index) * WARP_LANES;
}

static void fill_tags(const CheckedAccess &checked, uint64_t *tags, uint32_t mask)
{
    uint64_t common = common_tag(checked);
    bool bulk = checked.access.is(AccessFlag::BULK);
    for (uint32_t lane : Lanes{mask})
        tags[lane] = common | (bulk ? lowest_lane(checked.warp.mask) : lane);
}

// The lanes whose granule another thread may have accessed without a wait. A load leaves its tag if
// it is the first reader; all lanes compare tags before any lane leaves its tag. Space and
// direction are template arguments because the checked mode spends its time here.
template <bool SHARED, bool LOAD>
static uint32_t find_suspects(const CheckedAccess &checked, uint32_t granule, uint32_t mask,
                              const OwnTags &own)
{
    const CheckedState &state = checked.state;
    Tags *all = checked.tags();
    bool reads = checked.reads();
    uint32_t suspects = 0, leaving = 0;
    uint64_t left[WARP_LANES];
    Tags *places[WARP_LANES];
    for (uint32_t lane : Lanes{mask}) {
        Tags &tags = all[checked.place(checked.context.lane_addresses[lane]) + granule];
        if (!SHARED)
            provide_page(tags);
        uint64_t writer = tags.writer, reader = tags.reader, tag = own.tags[lane];
        bool suspect = is_foreign<SHARED>(state, writer, tag, own, Role::WRITER) ||
                       (SHARED && reads && writer == 0);
        if (!LOAD)
            suspect |= is_foreign<SHARED>(state, reader, tag, own, Role::READER);
        suspects |= suspect ? bit(lane) : 0;
        if (!LOAD || (!SHARED && reader != 0))
            continue;
        places[lane] = &tags;
        left[lane] = SHARED ? reading_tag(reader, tag, has(own.overlapping, lane), own) : tag;
        leaving |= left[lane] != 0 ? bit(lane) : 0;
    }
    for (uint32_t lane : Lanes{leaving & own.leaving})
        places[lane]->reader = left[lane];
    return suspects;
}

static uint32_t find_suspects(const CheckedAccess &checked, uint32_t granule, uint32_t mask,
                              const OwnTags &own)
{
    if (checked.shared())
        return checked.access.load ? find_suspects<true, true>(checked, granule, mask, own)
                                   : find_suspects<true, false>(checked, granule, mask, own);
    return checked.access.load ? find_suspects<false, true>(checked, granule, mask, own)
                               : find_suspects<false, false>(checked, granule, mask, own);
}

constexpr uint8_t ALL_WRITTEN[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

// The lanes that read unwritten bytes of global memory.
template <uint32_t BYTES>
static uint32_t find_unwritten(const CheckedAccess &checked, uint32_t mask)
{
    uint32_t missing = 0;
    for (uint32_t lane : Lanes{mask}) {
        const uint8_t *marks = checked.written(checked.context.lane_addresses[lane]);
        missing |= memcmp(marks, ALL_WRITTEN, BYTES) == 0 ? 0 : bit(lane);
    }
    return missing;
}

static uint32_t find_unwritten(const CheckedAccess &checked, uint32_t mask)
{
    switch (checked.access.bounded_bytes()) {
    case 1:
        return find_unwritten<1>(checked, mask);
    case 2:
        return find_unwritten<2>(checked, mask);
    case 4:
        return find_unwritten<4>(checked, mask);
    case 8:
        return find_unwritten<8>(checked, mask);
    case 16:
        return find_unwritten<16>(checked, mask);
    default:
        return find_unwritten<32>(checked, mask);
    }
}

// --- all lanes -----------------------------------------------------------------------------------

static void mark_written(const CheckedAccess &checked, uint32_t mask)
{
    for (uint32_t lane : Lanes{mask})
        memset(checked.written(checked.context.lane_addresses[lane]), 1,
               checked.access.bounded_bytes());
}

// The lanes of an atomic operation whose granule keeps an earlier writer's tag, because the next
// reader may not have waited for that writer.
static uint32_t keeping_lanes(const CheckedAccess &checked, uint32_t granule, uint32_t mask,
                              const OwnTags &own)
{
    uint32_t keeping = 0;
    for (uint32_t lane : Lanes{mask}) {
        uint64_t address = checked.context.lane_addresses[lane] + (granule << checked.shift);
        uint64_t writer = checked.tags_at(address).writer, tag = own.tags[lane];
        bool foreign = checked.shared()
                           ? is_foreign<true>(checked.state, writer, tag, own, Role::WRITER)
                           : is_foreign<false>(checked.state, writer, tag, own, Role::WRITER);
        keeping |= foreign ? bit(lane) : 0;
    }
    return keeping;
}

static void leave_writer_tags(const CheckedAccess &checked, uint32_t granule, uint32_t mask,
                              const OwnTags &own)
{
    bool atomic = checked.access.atomic;
    uint32_t keeping = atomic ? keeping_lanes(checked, granule, mask, own) : 0;
    uint32_t ticket_owner = checked.has(Trait::DRAWS) ? checked.ticket_owner_number() : 0;
    for (uint32_t lane : Lanes{mask}) {
        uint64_t address = checked.context.lane_addresses[lane] + (granule << checked.shift);
        if (!has(keeping, lane))
            checked.tags_at(address).writer = own.tags[lane];
        checked.stir(address);
        if (atomic)
            *checked.ticket_owner(address) = ticket_owner;
    }
}

// The lanes that stand for all lanes of a load: of lanes with one address, the first and the last,
// because one of them may have written there.
static uint32_t representatives(Access access, const Pattern &pattern, uint32_t mask)
{
    uint32_t kind = pattern.kind;
    if (!access.load || mask != FULL_MASK ||
        (kind != PatternKind::BROADCAST && kind != PatternKind::BROADCAST_GROUPS))
        return mask;
    uint32_t firsts = first_lanes(pattern.group);
    return firsts | firsts << (pattern.group - 1);
}

// The lanes of an access that need the exact rules. A load leaves its tags.
static uint32_t find_suspects(const CheckedAccess &checked, uint32_t mask, const OwnTags &own)
{
    uint32_t suspects = 0;
    fill_tags(checked, checked.state.own_tags, mask);
    for (uint32_t granule = 0; granule < checked.granules(); ++granule)
        suspects |= find_suspects(checked, granule, mask, own);
    if (!checked.shared() && checked.reads())
        suspects |= find_unwritten(checked, mask);
    return suspects;
}

static void compare(const CheckedAccess &checked, const Pattern &pattern, uint32_t mask)
{
    Access access = checked.access;
    if (pass_ordinary(checked, pattern, mask)) {
        if (checked.shared() && checked.context.under_way != nullptr) {
            fill_tags(checked, checked.state.own_tags, mask);
            report_work(checked, mask);
        }
        return;
    }
    OwnTags own{checked.state.own_tags, uint64_t(checked.warp.synced) << DETAIL_SHIFT,
                access.atomic ? 0 : pattern.overlapping,
                pattern.kind == PatternKind::BROADCAST ? mask & -mask : FULL_MASK};
    uint32_t some = representatives(access, pattern, mask);
    uint32_t suspects = find_suspects(checked, some, own);
    if (suspects != 0 && some != mask)
        suspects = find_suspects(checked, some = mask, own);
    if (checked.shared())
        report_work(checked, some);
    for (uint32_t lane : Lanes{suspects})
        judge(checked, lane);
    if (access.load)
        return mark_calm(checked, some & ~suspects);
    if (!checked.reads())
        report_collisions(checked, own.overlapping & mask);
    if (!checked.shared())
        mark_written(checked, mask);
    for (uint32_t granule = 0; granule < checked.granules(); ++granule)
        leave_writer_tags(checked, granule, mask, own);
}

// An exchange may release a lock. An atomic that returns a value, or a volatile read, may acquire a
// lock, and so make writes of other blocks visible.
static void pass_on(const CheckedAccess &checked)
{
    CheckedState &state = checked.state;
    if (checked.has(Trait::EXCHANGES))
        end_epoch(state);
    if (checked.shared())
        return;
    if (checked.has(Trait::EXCHANGES))
        pass_fence(state);
    bool is_volatile = checked.access.load && !checked.plain();
    if (is_volatile || checked.has(Trait::DRAWS))
        state.acquired = 1;
}

// The lanes in shared memory reserved by the system: cooperative groups order their accesses there.
static uint32_t lanes_in_system_shared(const Context &context)
{
    uint32_t first = context.shared_base + context.system_shared_first;
    return lanes_where([&context, first](uint32_t lane) {
        return context.lane_addresses[lane] - first < context.system_shared_bytes;
    });
}

void watch_access(Context &context, const Warp &warp, Access access, const Slot &slot,
                  uint32_t instruction, uint32_t mask)
{
    CheckedState &state = *context.checked_state;
    bool shared = access.space == Space::SHARED;
    CheckedAccess checked{context,
                          state,
                          warp,
                          access,
                          instruction,
                          shared ? state.shared_shift : state.global_shift,
                          state.traits[instruction]};
    if (shared) {
        mask &= ~lanes_in_system_shared(context);
        if (mask == 0)
            return;
        report_overrun(checked, mask);
    }
    compare(checked, pattern_of(slot), mask);
    pass_on(checked);
}
