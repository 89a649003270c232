#include "memory/under_way.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "memory/moves.h"

// --- what is under way ---------------------------------------------------------------------------

// The data of an asynchronous copy, read when the copy was issued. `is_row`: the target is
// contiguous; `apart`: the lanes' targets are distinct.
struct LaneCopy {
    uint32_t width;
    bool is_row, apart;
    uint32_t addresses[WARP_LANES], data[4 * WARP_LANES];
};

struct OtherWork {
    Effect effect;
    Traces traces;
};

// Work of some lanes, or the end of their group (neither copy nor other work). `due`: lanes that
// wait for it.
struct Item {
    uint32_t kind, mask;
    std::unique_ptr<LaneCopy> copy{};
    std::unique_ptr<OtherWork> other{};
    uint32_t due = 0;
    uint64_t serial = 0;

    bool ends_group() const { return copy == nullptr && other == nullptr; }
};

// Pending work of all blocks of one host thread.
struct UnderWay {
    std::unordered_map<const Warp *, std::vector<Item>> items;
    std::vector<LaterArrival> arrivals;
    std::vector<std::unique_ptr<LaneCopy>> spare; // finished copies for reuse
    uint64_t serial = 0;
    // In the checked mode: the number of pending copies to each word of shared memory. Blocks with
    // the same addresses share a number, so only 0 is certain.
    std::vector<uint32_t> copies_to_word;
    bool traced = false; // whether other work with traces was ever put off
    const Warp *warp = nullptr; // the last warp asked for; `own` has its items
    std::vector<Item> *own = nullptr;
};

static UnderWay &all_of(Context &context)
{
    if (context.under_way == nullptr)
        context.under_way = new UnderWay{};
    return *context.under_way;
}

static std::vector<Item> &items_of(Context &context, const Warp &warp)
{
    UnderWay &all = all_of(context);
    if (all.warp != &warp) {
        all.warp = &warp;
        all.own = &all.items[&warp];
    }
    return *all.own;
}

static void add(Context &context, const Warp &warp, Item item)
{
    item.serial = all_of(context).serial++;
    items_of(context, warp).push_back(std::move(item));
}

// The index in `copies_to_word`: an address without the rank of its block.
static uint32_t word_of(uint64_t address)
{
    return (address & ((1u << CLUSTER_SHIFT) - 1)) / 4;
}

// Counts the copies of some lanes as pending, or as done.
static void count_copies(Context &context, const LaneCopy &copy, uint32_t lanes, bool pending)
{
    if (context.checked_state == nullptr)
        return;
    std::vector<uint32_t> &counts = context.under_way->copies_to_word;
    for (uint32_t lane : Lanes{lanes}) {
        uint32_t address = copy.addresses[lane], last = word_of(address + copy.width - 1);
        if (counts.size() <= last)
            counts.resize(last + 1);
        for (uint32_t word = word_of(address); word <= last; ++word)
            counts[word] += pending ? 1 : -1;
    }
}

void put_off(Context &context, Warp &warp, uint32_t kind, Effect effect, Traces traces)
{
    all_of(context).traced |= traces.tag != 0;
    auto other = std::make_unique<OtherWork>(OtherWork{std::move(effect), std::move(traces)});
    add(context, warp, {kind, warp.mask, {}, std::move(other)});
}

void put_off(Context &context, LaterArrival later)
{
    all_of(context).traced |= later.traces.tag != 0;
    all_of(context).arrivals.push_back(std::move(later));
}

// Defers a copy whose target addresses and data are in the context and fit the slot's pattern.
EXPORT void emulator_put_off_copy(Context *context, Warp *warp, const Slot *slot, uint32_t mask,
                                  uint32_t width)
{
    if (mask == 0)
        return;
    std::vector<std::unique_ptr<LaneCopy>> &spare = all_of(*context).spare;
    if (spare.empty())
        spare.emplace_back(new LaneCopy);
    std::unique_ptr<LaneCopy> copy = std::move(spare.back());
    spare.pop_back();
    copy->width = width;
    copy->apart = mask == FULL_MASK && pattern_of(*slot).kind != PatternKind::GENERAL;
    copy->is_row = copy->apart && width == 4 && pattern_of(*slot).kind == PatternKind::CONTIGUOUS;
    memcpy(copy->addresses, context->lane_addresses, sizeof copy->addresses);
    memcpy(copy->data, context->lane_data, uint64_t(width) * WARP_LANES);
    count_copies(*context, *copy, mask, true);
    add(*context, *warp, {WorkKind::COPIES, mask, std::move(copy)});
}

// --- its effect ----------------------------------------------------------------------------------

// Performs an item's work for some lanes; work other than copies is performed for all its lanes.
static void do_work(Context &context, Item &item, uint32_t lanes)
{
    if (item.copy == nullptr) {
        item.mask = 0;
        return item.other->effect();
    }
    const LaneCopy &copy = *item.copy;
    Access access{Space::SHARED, false, false, uint8_t(copy.width), 0};
    uint8_t *host = host_pointer(context.shared_host);
    if (copy.is_row && lanes == FULL_MASK)
        memcpy(host + copy.addresses[0], copy.data, sizeof copy.addresses);
    else if (copy.apart && lanes == FULL_MASK && copy.width == 4)
        store_lanes(copy.data, host, copy.addresses, {Space::SHARED, false, false, 4, 0});
    else if (copy.apart && lanes == FULL_MASK)
        store_lanes(copy.data, host, copy.addresses, access);
    else
        store_in_phases(copy.data, host, copy.addresses, access, lanes);
    count_copies(context, copy, lanes, false);
    item.mask &= ~lanes;
    if (item.mask == 0)
        context.under_way->spare.push_back(std::move(item.copy));
}

// Performs the due work, and keeps the remaining items and the ends of their groups.
static void do_work(Context &context, std::vector<Item> &items)
{
    uint32_t waiting[WorkKind::COUNT] = {};
    auto is_over = [&](Item &item) {
        if (item.due != 0 && context.fault_code == FaultCode::NONE)
            do_work(context, item, item.due);
        waiting[item.kind] |= item.ends_group() ? 0 : item.mask;
        return (waiting[item.kind] & item.mask) == 0;
    };
    items.erase(std::remove_if(items.begin(), items.end(), is_over), items.end());
}

// --- waiting -------------------------------------------------------------------------------------

EXPORT void emulator_end_group(Context *context, Warp *warp, uint32_t kind, uint32_t mask)
{
    if (mask != 0)
        add(*context, *warp, {kind, mask});
}

// The limit of a scoreboard.
constexpr uint32_t MOST_LEFT = 63;

// Waits for all groups of the lanes except the last `left`. Returns a FaultCode.
EXPORT uint32_t emulator_wait_for_groups(Context *context, Warp *warp, uint32_t kind, uint32_t mask,
                                         uint32_t left)
{
    if (context->under_way == nullptr || left > MOST_LEFT)
        return FaultCode::NONE;
    std::vector<Item> &items = items_of(*context, *warp);
    uint32_t ended[MOST_LEFT + 2] = {mask}; // by the number of group ends passed: the lanes
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
        item->due = item->kind == kind && !item->ends_group() ? ended[left + 1] & item->mask : 0;
        for (uint32_t n = item->kind == kind && item->ends_group() ? left + 1 : 0; n > 0; --n)
            ended[n] |= ended[n - 1] & item->mask;
    }
    do_work(*context, items);
    return context->fault_code;
}

void arrive_behind_copies(Context &context, Warp &warp, const uint8_t *object, Arrival arrival,
                          uint32_t lanes)
{
    uint64_t past = all_of(context).serial;
    Effect effect = [&context, &warp, past, lanes] {
        std::vector<Item> &items = items_of(context, warp);
        for (Item &item : items)
            item.due = item.copy != nullptr && item.serial < past ? item.mask & lanes : 0;
        do_work(context, items);
    };
    put_off(context, {object, arrival, effect, {}});
}

std::vector<LaterArrival *> later_arrivals(Context &context, const uint8_t *object)
{
    std::vector<LaterArrival *> found;
    if (context.under_way != nullptr)
        for (LaterArrival &each : context.under_way->arrivals)
            if (each.object == object)
                found.push_back(&each);
    return found;
}

void forget_arrivals(Context &context, const uint8_t *first, const uint8_t *past)
{
    if (context.under_way == nullptr)
        return;
    std::vector<LaterArrival> &all = context.under_way->arrivals;
    auto is_there = [=](const LaterArrival &each) {
        return each.object >= first && each.object < past;
    };
    all.erase(std::remove_if(all.begin(), all.end(), is_there), all.end());
}

// --- the checked mode ----------------------------------------------------------------------------

// Calls an action for every item of the block.
template <class Action> static void for_each_item(Context &context, Action action)
{
    for (const Warp &warp : Warps{context})
        for (const Item &item : items_of(context, warp))
            action(item);
}

bool is_written_later(Context &context, uint64_t address)
{
    const std::vector<uint32_t> &counts = all_of(context).copies_to_word;
    uint32_t word = word_of(address);
    if (word >= counts.size() || counts[word] == 0)
        return false;
    bool found = false;
    for_each_item(context, [&](const Item &item) {
        for (uint32_t lane : Lanes{item.copy == nullptr ? 0 : item.mask})
            found |= address - item.copy->addresses[lane] < item.copy->width;
    });
    return found;
}

std::vector<const Traces *> traces_of_work(Context &context)
{
    std::vector<const Traces *> found;
    if (!all_of(context).traced)
        return found;
    auto add = [&](const Traces &traces) {
        if (traces.tag != 0)
            found.push_back(&traces);
    };
    for_each_item(context, [&](const Item &item) {
        if (item.other != nullptr)
            add(item.other->traces);
    });
    for (const LaterArrival &each : all_of(context).arrivals)
        add(each.traces);
    return found;
}

// --- ends ----------------------------------------------------------------------------------------

void end_work(Context &context)
{
    if (context.under_way == nullptr)
        return;
    for (const Warp &warp : Warps{context}) {
        std::vector<Item> &items = items_of(context, warp);
        for (Item &item : items) {
            if (item.kind == WorkKind::STORES && !item.ends_group())
                item.other->effect();
            if (item.copy != nullptr)
                count_copies(context, *item.copy, item.mask, false);
        }
        items.clear();
    }
    const uint8_t *first = host_pointer(context.shared_host) + context.shared_base;
    forget_arrivals(context, first, first + context.shared_bytes);
}

void forget_work(Context &context)
{
    delete context.under_way;
    context.under_way = nullptr;
}
