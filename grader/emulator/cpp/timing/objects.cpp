// Barrier objects and bulk copies in the simulated SM.
//
// Traces hold what each instruction did to a barrier object (tracing.h). An arrival counts at once
// with the cycle of its effect, as the end of an instruction is known at its issue. The phase ends
// with the latest arrival. A warp that waits for a phase whose arrivals are not known yet is
// released when they are.
#include "timing/timing.h"

namespace timing {

// Cycles on an H200: from an arrival until the object has it, from the end of a phase until a
// waiting warp continues, and of a wait for a phase that has ended.
constexpr double ARRIVE_CYCLES = 26.0, RELEASE_CYCLES = 25.0, TEST_CYCLES = 44.0;
// Cycles of an SM for an operation of a warp on an object, and for a test of its phase: 32 warps on
// an H200, each with its own object (benchmarks/kernels/costs/object_arrivals.cu, object_tests.cu).
constexpr double OPERATION_SLOT = 6.0, TEST_SLOT = 4.0;
// From the issue of a bulk copy until its first request, and from its last data until its arrival.
constexpr double BULK_START = 10.0, BULK_END = 0.0;
// Cycles of a copy and of each of its sectors in the unit for bulk copies: an H200's SM receives 62
// to 98 bytes per cycle (benchmarks/kernels/costs/shared_reads.cu, bulk_latency.cu).
constexpr double BULK_CYCLES = 9.0, BULK_SECTOR_CYCLES = 0.45;
// Threads of an SM that can wait for phases until these end. If more wait, they test their phases
// again and again, and a line of a bulk copy takes so many cycles, and more for each further warp
// (H200: copies of 1 KB that 40 to 64 warps await; one lane per warp, or 32 warps, hold up
// nothing).
constexpr int64_t WAITING_THREADS = 1024;
constexpr double CROWDED_LINE = 8.0, CROWDED_WARP = 0.47;
// Fields of the value of a traced operation.
constexpr int64_t THREADS_MASK = 0xFFFF, ADDRESS_SHIFT = 16;

// A traced operation: the object's number, threads (or the parity of a phase), bytes or copies.
struct Operation {
    int64_t address, threads, copied;
};

static Operation read_operation(const Access &access)
{
    int64_t value = uint32_t(access.wavefronts);
    return {value >> ADDRESS_SHIFT, value & THREADS_MASK, access.tags};
}

// The block's object; null if its initialisation is not in the trace.
static Object *find_object(const SM &sm, int64_t slot, int64_t address)
{
    Object *first = sm.objects + slot * OBJECTS;
    for (Object *each = first; each < first + sm.blocks[slot].objects; ++each)
        if (each->address == address)
            return each;
    return nullptr;
}

static void set_up(const SM &sm, int64_t slot, Operation operation, double t)
{
    Object *object = find_object(sm, slot, operation.address);
    int64_t &count = sm.blocks[slot].objects;
    if (object == nullptr && count < OBJECTS)
        object = sm.objects + slot * OBJECTS + count++;
    if (object != nullptr)
        *object = {operation.address, operation.threads, operation.threads, 0, 0, 0.0, t};
}

static void arrive(const SM &sm, int64_t slot, Operation operation, double at)
{
    Object *object = find_object(sm, slot, operation.address);
    if (object == nullptr)
        return;
    object->pending -= operation.threads;
    object->copied += operation.copied;
    object->latest = max(object->latest, at);
    if (object->pending > 0 || object->copied != 0)
        return;
    object->pending = object->expected;
    object->end = object->latest;
    object->latest = 0.0;
    ++object->phase;
    int64_t warps = sm.warp_count / sm.block_count;
    for (int64_t w = slot * warps; w < (slot + 1) * warps; ++w)
        if (sm.warps[w].awaited == object->address) {
            sm.warps[w].awaited = RELEASED;
            sm.warps[w].ready = max(sm.warps[w].ready, object->end + RELEASE_CYCLES);
            sm.shared->released = true;
        }
}

// Occupies the unit for barrier objects for these cycles from `t` on; returns the start.
static double pass_objects(const SM &sm, double t, double cycles)
{
    double &free = sm.shared->objects_free, begin = max(free, t);
    free = begin + cycles;
    return begin;
}

Ends change_objects(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t)
{
    int64_t last = index < 0 ? -1 : index + sm.accesses[index].more;
    t = pass_objects(sm, t, OPERATION_SLOT);
    double at = t + ARRIVE_CYCLES;
    if (row.argument == OBJECT_COPIES)
        at = max(at, warp.copied);
    for (int64_t k = index; k >= 0 && k <= last; ++k) {
        Operation operation = read_operation(sm.accesses[k]);
        if (row.argument == OBJECT_SET)
            set_up(sm, warp.place, operation, t);
        else
            arrive(sm, warp.place, operation, at);
    }
    return {t + double(row.latency), t + double(row.latency)};
}

Ends await_phase(const SM &sm, Warp &warp, int64_t index, double t)
{
    Operation operation = index < 0 ? Operation{NO_OBJECT, 0, 0}
                                    : read_operation(sm.accesses[index]);
    const Object *object = find_object(sm, warp.place, operation.address);
    t = pass_objects(sm, t, TEST_SLOT);
    if (object == nullptr)
        return {t + TEST_CYCLES, t + TEST_CYCLES};
    if ((object->phase & 1) == operation.threads)
        warp.awaited = object->address;
    double end = max(t + TEST_CYCLES, object->end + RELEASE_CYCLES);
    warp.phase_end = end;
    warp.waiting = sm.accesses[index].lanes;
    return {end, end};
}

// Cycles of a line of a bulk copy if too many threads wait; otherwise 0.
static double crowded_cycles(const SM &sm, double t)
{
    int64_t waiting = 0;
    for (int64_t w = 0; w < sm.warp_count; ++w)
        if (sm.warps[w].awaited > NO_OBJECT || sm.warps[w].phase_end > t)
            waiting += sm.warps[w].waiting;
    int64_t beyond = waiting - WAITING_THREADS;
    return beyond > 0 ? CROWDED_LINE + CROWDED_WARP * double(beyond) / WARP_LANES : 0.0;
}

Ends copy_bulk(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t)
{
    double &free = sm.shared->bulk_free, read = t + double(row.latency);
    free = max(free, t + BULK_START);
    double done = free;
    free += BULK_CYCLES;
    double crowded = crowded_cycles(sm, t);
    int64_t last = index < 0 ? -1 : index + sm.accesses[index].more;
    for (int64_t k = index; k >= 0 && k <= last; ++k) {
        const Access &access = sm.accesses[k];
        for (int64_t n = access.first; n < access.end; ++n) {
            const Line &line = sm.lines[n];
            done = max(done, move_bulk(sm, row, line, tag_of(sm, warp, line.number), free, t));
            free += max(BULK_SECTOR_CYCLES * double(count_sectors(line.touched)), crowded);
        }
        if (access.space == TraceWord::CONSTANT)
            arrive(sm, warp.place, read_operation(access), max(done, free) + BULK_END);
    }
    warp.open_copy = max(warp.open_copy, row.kind == Kind::BULK_STORE ? done : 0.0);
    return {read, read};
}

} // namespace timing
