#include "under_way.h"

#include <algorithm>
#include <memory>

#include "moves.h"

// --- what is under way ---------------------------------------------------------------------------

// The data of an asynchronous copy, which was read when the copy was issued.
struct LaneCopy {
    uint32_t width, pattern_kind, group;
    uint32_t addresses[WARP_LANES], data[4 * WARP_LANES];
};

// Work of some lanes, or the end of their group.
struct Item {
    uint32_t kind, mask, due;
    uint64_t serial;
    bool ends_group;
    LaneCopy *copy;
    Effect effect;
    Traces traces;
};

struct Queue {
    std::vector<Item> items;
    uint64_t serial;
};

struct LaterArrival {
    uint8_t *object;
    Arrival arrival;
    Effect effect;
    Traces traces;
};

// Of all blocks of a host thread. Queues and copies are used again.
struct UnderWay {
    std::vector<std::unique_ptr<Queue>> queues;
    std::vector<std::unique_ptr<LaneCopy>> copies;
    std::vector<Queue *> vacant;
    std::vector<LaneCopy *> spare;
    std::vector<LaterArrival> arrivals;
};

static UnderWay &all_of(Context &context)
{
    if (context.under_way == nullptr)
        context.under_way = new UnderWay{};
    return *context.under_way;
}

// A vacant record, or a new one.
template <class Record>
static Record *take(std::vector<Record *> &vacant, std::vector<std::unique_ptr<Record>> &owned)
{
    if (vacant.empty()) {
        owned.push_back(std::make_unique<Record>());
        return owned.back().get();
    }
    Record *found = vacant.back();
    vacant.pop_back();
    return found;
}

static void add(Context &context, Warp &warp, Item item)
{
    UnderWay &all = all_of(context);
    if (warp.queue == nullptr)
        warp.queue = take(all.vacant, all.queues);
    item.serial = warp.queue->serial++;
    warp.queue->items.push_back(std::move(item));
}

void put_off(Context &context, Warp &warp, uint32_t kind, Effect effect, Traces traces)
{
    add(context, warp, {kind, warp.mask, 0, 0, false, nullptr, std::move(effect), std::move(traces)});
}

void put_off(Context &context, uint8_t *object, Arrival arrival, Effect effect, Traces traces)
{
    all_of(context).arrivals.push_back({object, arrival, std::move(effect), std::move(traces)});
}

// A copy whose target's addresses and data lie in the context, and are those of the slot's pattern.
EXPORT void emulator_put_off_copy(Context *context, Warp *warp, const Slot *slot, uint32_t mask,
                                  uint32_t width)
{
    if (mask == 0)
        return;
    UnderWay &all = all_of(*context);
    LaneCopy *copy = take(all.spare, all.copies);
    copy->width = width;
    copy->pattern_kind = mask == FULL_MASK ? pattern_of(*slot).kind : +PatternKind::GENERAL;
    copy->group = pattern_of(*slot).group;
    memcpy(copy->addresses, context->lane_addresses, sizeof copy->addresses);
    memcpy(copy->data, context->lane_data, uint64_t(width) * WARP_LANES);
    add(*context, *warp, {WorkKind::COPIES, mask, 0, 0, false, copy, {}, {}});
}

// --- its effect ----------------------------------------------------------------------------------

template <uint8_t WIDTH>
static void store_all(const LaneCopy &copy, uint8_t *host)
{
    constexpr Access ACCESS{Space::SHARED, false, false, WIDTH, 0};
    if (WIDTH == 4 && copy.pattern_kind == PatternKind::CONTIGUOUS)
        store_groups(copy.data, host, copy.addresses, WARP_LANES);
    else if (WIDTH == 4 && copy.pattern_kind == PatternKind::CONTIGUOUS_GROUPS)
        store_groups(copy.data, host, copy.addresses, copy.group);
    else
        store_lanes(copy.data, host, copy.addresses, ACCESS);
}

static void store(const LaneCopy &copy, uint8_t *host, uint32_t lanes)
{
    Access access{Space::SHARED, false, false, uint8_t(copy.width), 0};
    if (lanes != FULL_MASK || copy.pattern_kind == PatternKind::GENERAL)
        store_in_phases(copy.data, host, copy.addresses, access, lanes);
    else if (copy.width == 4)
        store_all<4>(copy, host);
    else if (copy.width == 8)
        store_all<8>(copy, host);
    else
        store_all<16>(copy, host);
}

// Do the work of some of an item's lanes; all else than copies is done for all of them at once.
// Returns a FaultCode.
static uint32_t do_work(Context &context, Item &item, uint32_t lanes)
{
    if (item.copy == nullptr) {
        item.mask = 0;
        return item.effect();
    }
    store(*item.copy, host_pointer(context.shared_host), lanes);
    item.mask &= ~lanes;
    if (item.mask == 0)
        context.under_way->spare.push_back(item.copy);
    return FaultCode::NONE;
}

// Keep what is still under way, and the ends of its groups.
static void tidy(Queue &queue)
{
    size_t kept = 0;
    uint32_t waiting[WorkKind::COUNT] = {};
    for (Item &item : queue.items) {
        waiting[item.kind] |= item.ends_group ? 0 : item.mask;
        if ((waiting[item.kind] & item.mask) == 0)
            continue;
        if (&queue.items[kept] != &item)
            queue.items[kept] = std::move(item);
        ++kept;
    }
    queue.items.resize(kept);
}

// --- groups --------------------------------------------------------------------------------------

EXPORT void emulator_end_group(Context *context, Warp *warp, uint32_t kind, uint32_t mask)
{
    if (warp->queue != nullptr && !warp->queue->items.empty() && mask != 0)
        add(*context, *warp, {kind, mask, 0, 0, true, nullptr, {}, {}});
}

// Scoreboards count no further.
constexpr uint32_t MOST_LEFT = 63;

// The lanes of a mask wait until all of their groups are done but the last `left`. Returns a
// FaultCode.
EXPORT uint32_t emulator_wait_for_groups(Context *context, Warp *warp, uint32_t kind, uint32_t mask,
                                         uint32_t left)
{
    if (warp->queue == nullptr || warp->queue->items.empty() || left > MOST_LEFT)
        return FaultCode::NONE;
    std::vector<Item> &items = warp->queue->items;
    uint32_t ended[MOST_LEFT + 2] = {mask}; // the lanes behind so many ends of groups
    for (auto item = items.rbegin(); item != items.rend(); ++item) {
        item->due = item->kind == kind && !item->ends_group ? ended[left + 1] & item->mask : 0;
        if (item->kind == kind && item->ends_group)
            for (uint32_t count = left + 1; count > 0; --count)
                ended[count] |= ended[count - 1] & item->mask;
    }
    uint32_t code = FaultCode::NONE;
    for (Item &item : items)
        if (item.due != 0 && code == FaultCode::NONE)
            code = do_work(*context, item, item.due);
    tidy(*warp->queue);
    return code;
}

// --- barrier objects -----------------------------------------------------------------------------

std::vector<Arrival> later_arrivals(const Context &context, const uint8_t *object)
{
    std::vector<Arrival> found;
    if (context.under_way != nullptr)
        for (const LaterArrival &each : context.under_way->arrivals)
            if (each.object == object)
                found.push_back(each.arrival);
    return found;
}

void do_work_of(Context &context, const uint8_t *object, size_t count)
{
    auto is_there = [=](const LaterArrival &each) mutable {
        if (each.object != object || count == 0)
            return false;
        each.effect();
        --count;
        return true;
    };
    std::vector<LaterArrival> kept;
    for (LaterArrival &each : context.under_way->arrivals)
        if (!is_there(each))
            kept.push_back(std::move(each));
    context.under_way->arrivals.swap(kept);
}

void forget_work_of(Context &context, const uint8_t *object)
{
    if (context.under_way == nullptr)
        return;
    std::vector<LaterArrival> &arrivals = context.under_way->arrivals;
    auto of_object = [object](const LaterArrival &each) { return each.object == object; };
    arrivals.erase(std::remove_if(arrivals.begin(), arrivals.end(), of_object), arrivals.end());
}

void arrive_behind_copies(Context &context, Warp &warp, uint8_t *object, Arrival arrival,
                          uint32_t lanes)
{
    uint64_t past = warp.queue == nullptr ? 0 : warp.queue->serial;
    put_off(context, object, arrival, [&context, &warp, past, lanes] {
        if (warp.queue == nullptr)
            return +FaultCode::NONE;
        for (Item &item : warp.queue->items)
            if (item.copy != nullptr && item.serial < past && (item.mask & lanes) != 0)
                do_work(context, item, item.mask & lanes);
        tidy(*warp.queue);
        return +FaultCode::NONE;
    });
}

// --- the checked mode ----------------------------------------------------------------------------

// Call an action with all items of the block.
template <class Action> static void for_each_item(Context &context, Action action)
{
    for (uint32_t index = 0; index < context.warp_count; ++index)
        if (const Queue *queue = warp_at(context, index).queue)
            for (const Item &item : queue->items)
                action(item);
}

const uint32_t *word_written_later(Context &context, uint64_t address)
{
    const uint32_t *found = nullptr;
    for_each_item(context, [&](const Item &item) {
        for (uint32_t lane : Lanes{item.copy == nullptr ? 0 : item.mask})
            if (uint64_t behind = address - item.copy->addresses[lane]; behind < item.copy->width)
                found = item.copy->data + behind / BANK_BYTES * WARP_LANES + lane;
    });
    return found;
}

bool is_written_later(Context &context, uint64_t address)
{
    return word_written_later(context, address) != nullptr;
}

std::vector<const Traces *> traces_of_work(Context &context)
{
    std::vector<const Traces *> found;
    auto add = [&](const Traces &traces) {
        if (traces.touches)
            found.push_back(&traces);
    };
    for_each_item(context, [&](const Item &item) { add(item.traces); });
    for (const LaterArrival &each : context.under_way->arrivals)
        add(each.traces);
    return found;
}

// --- ends ----------------------------------------------------------------------------------------

void end_work(Context &context)
{
    if (context.under_way == nullptr)
        return;
    UnderWay &all = *context.under_way;
    for (uint32_t index = 0; index < context.warp_count; ++index) {
        Warp &warp = warp_at(context, index);
        if (warp.queue == nullptr)
            continue;
        for (Item &item : warp.queue->items) {
            if (item.copy != nullptr)
                all.spare.push_back(item.copy);
            else if (item.kind == WorkKind::STORES && !item.ends_group)
                item.effect();
        }
        warp.queue->items.clear();
        all.vacant.push_back(warp.queue);
        warp.queue = nullptr;
    }
    const uint8_t *first = host_pointer(context.shared_host) + context.shared_base;
    const uint8_t *past = first + context.shared_bytes;
    auto is_own = [first, past](const LaterArrival &each) {
        return each.object >= first && each.object < past;
    };
    all.arrivals.erase(std::remove_if(all.arrivals.begin(), all.arrivals.end(), is_own),
                       all.arrivals.end());
}

void forget_work(Context &context)
{
    delete context.under_way;
    context.under_way = nullptr;
}
