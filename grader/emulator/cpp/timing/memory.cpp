// The memory system of the simulated SM, from the load/store unit to DRAM.
//
// Memory instructions pass the SM's load/store unit: its data stage (wavefronts) and its tag stage,
// then an L1 that holds lines, sectors and their arrival times, then the SM's share of the L2 and
// DRAM. The state of a unit is the cycle at which it is free.
#include "timing/caches.h"

namespace timing {

constexpr double SECTOR = SECTOR_BYTES, PAIR = PAIR_SECTORS;
// Data stage cycles of an asynchronous copy before its data pass to shared memory as wavefronts:
// together 2.8, 4.0 and 5.6 cycles for copies of 4, 8 and 16 bytes per lane that hit in the L1.
// Data past the L1 pass no wavefronts: 2.6 cycles (seen on an H200).
constexpr double COPY_CYCLES = 1.8;
// Tag stage cycles of an access to shared memory: 32 warps load a word per cycle (H200).
constexpr double SHARED_CYCLES = 1.0;
// Additional data stage cycles of each wavefront after the second of an access to global memory: an
// H200 takes 4.8, 17.1 and 34.3 cycles for 4, 16 and 32 wavefronts.
constexpr double FURTHER = 0.07;
// The first number of lines that only pass through the L2.
constexpr int64_t PASSING_LINES = int64_t(1) << 50;
// Cycles from an access's issue until the load/store unit can take it; instructions that only pass
// the queue take half as long.
constexpr double REACH_CYCLES = 4.0;
// Cycles from the last wavefront until the registers are read.
constexpr double READ_CYCLES = 6.0;
// Cycles of a latency (measured from the issue) that have passed at the last wavefront.
constexpr double PIPELINED_CYCLES = 5.0;
// Cycles of a covered sector in the SM's ports from and to the L2; a line or a partial sector takes
// one cycle. An H200's SM receives up to 89 bytes per cycle, if other SMs load the same data.
constexpr double LOAD_PORT_CYCLES = 0.36, PORT_CYCLES = 0.5;
// Data stage cycles of a sector that arrives past the L1: 5.75 cycles for an asynchronous copy of
// 16 bytes per lane, 7 for a load (costs/shared_reads.cu on an H200).
constexpr double PAST_FILL_CYCLES = 0.19;
// The path to the shared memory of other SMs of the cluster: cycles of a packet of a load, a store
// and an atomic; from there until a loaded value arrives; and by how much the path may lag behind
// before the load/store unit waits (H200: costs/cluster_*.cu).
constexpr double LOAD_ELSEWHERE = 4.5, STORE_ELSEWHERE = 3.9, ATOMIC_ELSEWHERE = 4.6;
constexpr double LATENCY_ELSEWHERE = 185.0, QUEUE_ELSEWHERE = 100.0;
// Cycles by which the prefetches that DRAM still has to read may lag behind; further ones are
// dropped.
constexpr double PREFETCH_QUEUE = 5000.0;
// If DRAM reads more than this part of a buffer's sectors, all its prefetches arrive from there: a
// load soon after must not find a line in the L2 because DRAM is charged for another one.
constexpr double MAY_COME = 0.1;
// Loads that can wait for a line together, and the data stage cycles of each further load: if 8, 16
// or 32 warps of an H200's SM load the same lines, new lines take 0.5, 3 and 10 cycles more than
// lines in the L1.
constexpr int64_t WAIT_TOGETHER = 9;
constexpr double WAIT_CYCLES = 0.8;
// Cycles from a waiting load's data to those of the next that waits for the same line.
constexpr double RETURN_CYCLES = 1.0;
// Cycles in which loads of a line with L1::no_allocate share a fetch: 4, 8, 16 and 32 warps that
// load the same lines together fetch them 1, 2, 4 and 8 times (Nsight Compute on an H200), once for
// each cycle in which the sub-partitions issue.
constexpr double PAST_TOGETHER = 2.0;
// Latency of an access without active lanes.
constexpr double SKIPPED_CYCLES = 10.0;

// --- beyond the L1 -------------------------------------------------------------------------------

// Occupies the data stage for a number of wavefronts.
static void pass_data(const SM &sm, double begin, double passes)
{
    sm.shared->lsu_free = begin + passes;
    sm.statistics->lsu += passes;
}

// The cycle at which an access passes the tag stage, which looks up lines in the L1 while the data
// stage serves earlier accesses.
static double pass_tags(const SM &sm, double cycles, double t)
{
    double &tags_free = sm.shared->tags_free, begin = max(tags_free, t);
    tags_free = begin + cycles;
    return begin;
}

// Cycles of a DRAM read beyond the fastest read on an idle DRAM, drawn from an exponential
// distribution.
static double draw_delay(const SM &sm)
{
    int64_t state = (sm.shared->random * 1103515245 + 12345) & 0x7FFFFFFF;
    sm.shared->random = state;
    double means = -__builtin_log(double(state >> 8 | 1) / double(1 << 23));
    return means * sm.p->dram_spread;
}

// Occupies DRAM for sectors.
static void pass_dram(const SM &sm, double sectors, double begin)
{
    double size = SECTOR * sectors, &dram_free = sm.shared->dram_free;
    dram_free = max(dram_free, begin) + size * sm.p->dram_byte_cycles;
    sm.statistics->dram_bytes += size;
}

// Uses a line of the SM's L2 share and records stored sectors; the evicted line is written to DRAM.
// Returns whether the line was present.
static bool use_l2(const SM &sm, int64_t tag, int64_t stored, double t)
{
    CacheLine *set = set_of(sm.l2, sm.l2_lines, tag), *found = find_line(set, tag);
    CacheLine &line = found ? *found : find_oldest(set);
    if (!found) {
        pass_dram(sm, count_sectors(line.sectors), t);
        line = {tag, 0, 0.0, t, 0};
    }
    line.sectors |= stored;
    line.used = t;
    return found;
}

// Sectors of global memory that pass through the L2 evict local memory.
static void pass_through_l2(const SM &sm, double sectors, double t)
{
    if (sm.l2_lines == 0)
        return;
    double &passed = sm.shared->passed;
    int64_t line = int64_t(passed / LINE_SECTORS);
    for (passed += sectors; line < int64_t(passed / LINE_SECTORS); ++line)
        use_l2(sm, PASSING_LINES + line, 0, t);
}

// Records a request of a line of global memory, which brings the line to the L2 if it is not there.
// Returns the fraction that the L2 has lost since the same warp brought the line; what other warps
// access again is in the traffic of the whole launch (timing/footprint.py).
static double lost_part(const SM &sm, int64_t tag)
{
    if (sm.brought == nullptr)
        return 0.0;
    int64_t warp = sm.shared->issuer, line = tag + 1;
    Brought &known = sm.brought[(uint64_t(line) * HASH >> 20) % BROUGHT_LINES];
    double beyond = double(sm.shared->lines_brought - known.place) / sm.p->kept_lines - 1.0;
    if (known.line == line && beyond <= 0.0)
        return 0.0;
    bool again = known.line == line && known.warp == warp;
    known = {line, warp, ++sm.shared->lines_brought};
    return again ? min(1.0, LOST * beyond) : 0.0;
}

// Records a request of sectors of a line; returns the pairs of them that the L2 has lost.
static double lost_pairs(const SM &sm, int64_t tag, int64_t sectors)
{
    return lost_part(sm, tag) * double(count_pairs(uint32_t(sectors)));
}

// Occupies the L2 slices for a read, store or atomic.
static void pass_slices(const SM &sm, double cycles, double begin)
{
    double &l2_free = sm.shared->l2_free;
    l2_free = max(l2_free, begin) + cycles;
}

// Takes the whole sectors from a sum of fractions.
static double take_whole(double &credit)
{
    double whole = __builtin_floor(credit);
    credit -= whole;
    return whole;
}

// How sectors enter the SM: through the L1, past the L1, or by the unit for bulk copies (and not at
// all for prefetches).
enum class Fill { L1, PAST_L1, BULK };

// The arrival of sectors from the L2.
static double pass_l2(const SM &sm, double count, double begin, Fill kind = Fill::L1)
{
    Shared &shared = *sm.shared;
    const Parameters &p = *sm.p;
    sm.statistics->l2_bytes += SECTOR * count;
    if (kind == Fill::BULK) {
        pass_slices(sm, count * p.l2_sector_cycles, begin);
        return max(begin, shared.l2_free) + p.l2_latency;
    }
    double cycles_each = kind == Fill::PAST_L1 ? PAST_FILL_CYCLES : p.fill_cycles;
    pass_data(sm, shared.lsu_free, count * cycles_each);
    shared.port_free = max(shared.port_free, begin) + max(count * LOAD_PORT_CYCLES, 1.0);
    double cost = max(count, PAIR) * p.l2_sector_cycles;
    pass_slices(sm, cost, begin);
    return max(shared.port_free, shared.l2_free) + p.l2_latency;
}

// Cycles by which the slice of a line answers later than the nearest slice.
static double distance_of(const SM &sm, int64_t line)
{
    return sm.p->l2_spread * double(uint64_t(line) * HASH >> 24 & 0xFF) / 256.0;
}

// The earliest arrival of data that DRAM has been asked for.
static double await_dram(const SM &sm)
{
    double latest = max(sm.shared->dram_free, sm.shared->port_free);
    return latest + sm.p->dram_latency + sm.p->dram_wait;
}

// The arrival of sectors from DRAM.
static double read_dram(const SM &sm, double sectors, double begin)
{
    pass_dram(sm, sectors, begin);
    double delay = 0.0;
    for (double pairs = sectors; pairs > 0.0; pairs -= PAIR)
        delay = max(delay, draw_delay(sm));
    return await_dram(sm) + delay;
}

// The buffer of a line.
static Source &source_of(const SM &sm, int64_t line)
{
    Source *source = sm.sources;
    while (line < source->first_line || line >= source->end_line)
        ++source;
    return *source;
}

// The arrival of sectors of a global line, of which the L2 has lost a number of pairs. DRAM reads
// pairs of sectors: the second sector of a pair that this SM has requested arrives with the first,
// when the line is `ready`.
static double fetch_sectors(const SM &sm, int64_t line, double count, double lost, bool completes,
                            double ready, double begin, double t, Fill kind = Fill::L1)
{
    pass_slices(sm, count * sm.p->read_row_cycles, begin);
    double arrival = pass_l2(sm, count, begin, kind) + distance_of(sm, line);
    sm.statistics->l1_misses += count;
    Source &source = source_of(sm, line);
    source.misses += count;
    source.owed += count;
    if (completes)
        return max(arrival, ready);
    source.credit += source.owed * source.read_part / PAIR + lost;
    sm.statistics->lost += PAIR * lost;
    source.owed = 0.0;
    sm.shared->wait_credit += count * sm.p->dram_wait_part / PAIR;
    double whole = PAIR * take_whole(source.credit);
    if (take_whole(sm.shared->wait_credit) > 0) // another SM has requested it
        arrival = max(arrival, await_dram(sm));
    if (whole <= 0)
        return arrival;
    pass_through_l2(sm, whole, t);
    return max(arrival, read_dram(sm, whole, begin));
}

// Likewise for local memory that misses in the L2.
static double fetch_local(const SM &sm, double count, int64_t tag, double begin, double t)
{
    double arrival = pass_l2(sm, count, begin);
    if (use_l2(sm, tag, 0, t))
        return arrival;
    sm.statistics->local_misses += count;
    return max(arrival, read_dram(sm, PAIR * __builtin_ceil(count / PAIR), begin));
}

// A store's request to the L2: lines, sectors, and fully covered sectors.
struct Stored {
    double lines, count, covered;
};

// Cycles of a store, given the cycles of a line, of a whole sector and of a partial sector.
static double cycles_of(Stored stored, double line, double whole, double part)
{
    return stored.lines * line + stored.covered * whole + (stored.count - stored.covered) * part;
}

// Cycles of a store in the L2 slices.
static double store_cycles(const SM &sm, Stored stored)
{
    const Parameters &p = *sm.p;
    return cycles_of(stored, p.store_line_cycles, p.store_sector_cycles, p.partial_sector_cycles);
}

// The new part of a store to a line whose last store still waits to leave the SM; both go to the L2
// together.
static Stored merge_store(const SM &sm, const Line &line, int64_t tag)
{
    Merging *found = nullptr;
    for (uint32_t place = 0; place < MERGING_LINES; ++place)
        found = sm.merging[place].tag == tag ? &sm.merging[place] : found;
    double lines = found == nullptr;
    if (found == nullptr) {
        found = &sm.merging[sm.shared->merging++ % MERGING_LINES];
        *found = {tag, 0, 0};
    }
    int64_t sectors = found->sectors, covered = covered_sectors(uint32_t(found->words));
    found->sectors |= line.touched;
    found->words |= line.words;
    int64_t now_covered = covered_sectors(uint32_t(found->words));
    return {lines, double(count_sectors(found->sectors) - count_sectors(sectors)),
            double(count_sectors(now_covered) - count_sectors(covered))};
}

// Sectors of a store or an atomic pass the L2 slices, and a part of them passes DRAM; the
// load/store unit waits while their queues are full.
static void pass_stores(const SM &sm, double count, double dram, double port, double cycles,
                        double begin)
{
    Shared &shared = *sm.shared;
    const Parameters &p = *sm.p;
    shared.store_port_free = max(shared.store_port_free, begin) + port;
    sm.statistics->store_cycles += cycles;
    sm.statistics->l2_bytes += SECTOR * count;
    shared.write_credit += dram;
    pass_dram(sm, take_whole(shared.write_credit), begin);
    double l2_free = max(shared.l2_free, shared.busiest_free);
    double busy_until = max(shared.store_port_free, max(l2_free, shared.dram_free));
    shared.lsu_free = max(shared.lsu_free, busy_until - p.store_queue);
}

static void store_sectors(const SM &sm, const Line &line, int64_t tag, double begin, double t)
{
    const Parameters &p = *sm.p;
    Stored stored = merge_store(sm, line, tag);
    double port = cycles_of(stored, 1.0, PORT_CYCLES, 1.0);
    double count = count_sectors(line.touched);
    double dram = count * (p.dram_write_part + lost_part(sm, tag));
    sm.statistics->stored += count;
    pass_through_l2(sm, dram, t);
    double cycles = store_cycles(sm, stored) + count * p.write_row_cycles;
    pass_slices(sm, cycles, begin);
    pass_stores(sm, stored.count, dram, port, cycles, begin);
}

// An atomic takes turns of all L2 slices, which delay reads, and further turns of the busiest
// slice. Returned values are read.
static void reduce_sectors(const SM &sm, const CodeRow &row, const Line &line, double begin)
{
    Shared &shared = *sm.shared;
    const Parameters &p = *sm.p;
    double count = count_sectors(line.touched), turns = turns_of(line, row.atomic);
    bool fetches = row.write_scoreboard < SCOREBOARDS;
    double passing = p.atomic_pass_cycles + (fetches ? p.unmerged_cycles : 0.0);
    pass_slices(sm, turns * p.atomic_slice_cycles + count * passing, begin);
    double cycles = turns * p.atomic_cycles;
    double port = max(count, double(line.rounds));
    shared.busiest_free = max(shared.busiest_free, begin) + cycles;
    sm.statistics->stored += count;
    pass_stores(sm, count, count * p.dram_write_part, port, cycles, begin);
}

// --- the L1 --------------------------------------------------------------------------------------

// The line's entry in the L1; a new entry holds no sectors.
static CacheLine &place_in_l1(const SM &sm, int64_t tag)
{
    CacheLine *set = set_of(sm.l1, sm.l1_lines, tag), *found = find_line(set, tag);
    CacheLine &line = found ? *found : find_oldest(set);
    bool stale = found && tag < LOCAL_LINES && line.used < sm.shared->invalidated;
    if (!found || stale)
        line = {tag, 0, 0.0, line.used, 0};
    return line;
}

// The prefetches of a line by this SM.
static Prefetched &prefetched_line(const SM &sm, int64_t tag)
{
    return sm.prefetched[(uint64_t(tag) * HASH >> 20) % PREFETCHED_LINES];
}

// When a prefetch has brought the line to the L2; 0 without a prefetch, or if the L2 has lost it.
static double arrival_of_prefetch(const SM &sm, int64_t tag)
{
    if (sm.prefetched == nullptr)
        return 0.0;
    const Prefetched &known = prefetched_line(sm, tag);
    double since = double(sm.shared->lines_brought - known.place);
    bool kept = sm.p->kept_lines == 0.0 || since <= sm.p->kept_lines;
    return known.line == tag + 1 && kept ? known.ready : 0.0;
}

// Pairs of sectors that DRAM reads again for a load of a line whose prefetch is on its way (Nsight
// Compute on an H200: gathers that prefetch shortly before they load read everything twice). The
// load and the prefetch share the part of the sectors that is not in the L2.
static double read_again(const SM &sm, int64_t line, int64_t sectors)
{
    double missing = min(1.0, 2.0 * source_of(sm, line).read_part);
    return missing * double(count_pairs(uint32_t(sectors)));
}

// Whether all sectors are second halves of pairs whose first half was requested.
static bool completes_pairs(uint32_t missing, uint32_t held)
{
    return (missing & held) == 0 && (pairs_of(missing) & ~pairs_of(held)) == 0;
}

// The arrival of missing sectors of a global line, of which the L1 holds others.
static double fetch_global(const SM &sm, const Line &line, int64_t tag, const CacheLine &held,
                           int64_t missing, Fill kind, double begin, double t)
{
    double prefetched = arrival_of_prefetch(sm, tag);
    bool asked = completes_pairs(uint32_t(missing), uint32_t(held.sectors)) ||
                 (prefetched > 0.0 && prefetched <= begin);
    double lost = lost_pairs(sm, tag, missing);
    if (prefetched > begin)
        lost += read_again(sm, line.number, missing);
    return fetch_sectors(sm, line.number, count_sectors(missing), lost, asked, held.ready, begin, t,
                         kind);
}

// The arrival of requested sectors. Missing sectors are fetched; a load past the L1 fetches all.
static double load_line(const SM &sm, const Line &line, int64_t tag, int64_t past_l1, double begin,
                        double t)
{
    CacheLine &held = place_in_l1(sm, tag);
    bool local = line.number >= LOCAL_LINES;
    bool past = past_l1 == 1 || (past_l1 == 2 && t > held.used + PAST_TOGETHER);
    int64_t missing = line.touched & ~(past ? 0 : held.sectors);
    double count = count_sectors(missing);
    if (!local) {
        sm.statistics->load_sectors += count_sectors(line.touched);
        sm.statistics->load_hits += count_sectors(line.touched) - count;
    }
    if (past_l1 != 2 || missing != 0)
        held.used = t;
    if (missing == 0) {
        bool waits = held.ready > begin;
        held.waiting += waits;
        return waits ? held.ready + double(held.waiting - 1) * RETURN_CYCLES : held.ready;
    }
    held.waiting = 1;
    int64_t stored = missing & held.sectors >> LINE_SECTORS;
    pass_slices(sm, count_sectors(stored) * sm.p->stored_read_cycles, begin);
    Fill kind = past_l1 == 1 ? Fill::PAST_L1 : Fill::L1;
    double arrival = local ? fetch_local(sm, count, tag, begin, t)
                           : fetch_global(sm, line, tag, held, missing, kind, begin, t);
    held.sectors = (held.sectors | missing) & ~(stored << LINE_SECTORS);
    held.ready = max(held.ready, arrival);
    return arrival;
}

// Keeps the stored sectors of a mask in the L1, and marks all stored sectors: reading these from
// the L2 takes longer.
static void keep_stored(const SM &sm, int64_t tag, const Line &line, int64_t sectors, double t)
{
    CacheLine &held = place_in_l1(sm, tag);
    held.sectors |= sectors | int64_t(line.touched) << LINE_SECTORS;
    held.ready = max(held.ready, sm.shared->lsu_free);
    held.used = t;
}

// A store to local memory stays in the L1 and goes to the L2.
static void store_local(const SM &sm, const Line &line, int64_t tag, double begin, double t)
{
    keep_stored(sm, tag, line, line.touched, t);
    use_l2(sm, tag, line.touched, t);
    double count = count_sectors(line.touched), covered = count_sectors(line.whole);
    double cycles = store_cycles(sm, {1.0, count, covered});
    pass_slices(sm, cycles, begin);
    pass_stores(sm, count, 0.0, count * PORT_CYCLES, cycles, begin);
}

// A store to a line that is being loaded delays the sub-partition's next access until the line
// arrives: an H200's SM starts four such stores in the time of one load.
static void await_load(const SM &sm, const Warp &warp, int64_t tag)
{
    double &free = sm.partitions[(&warp - sm.warps) % SUB_PARTITIONS].pipes[Unit::MEMORY];
    free = max(free, place_in_l1(sm, tag).ready);
}

// Records a warp's store for fences.
static void record_store(const SM &sm, Warp &warp)
{
    Shared &shared = *sm.shared;
    if (shared.storer != &warp - sm.warps)
        shared.stored_before = shared.stored;
    shared.storer = &warp - sm.warps;
    shared.stored = warp.stored = max(shared.store_port_free, shared.l2_free);
}

// The cycle at which a line's data has arrived; 0 for stores.
static double access_line(const SM &sm, Warp &warp, const CodeRow &row, const Line &line,
                          int64_t tag, double begin, double t)
{
    if (row.kind == Kind::LOAD || row.kind == Kind::COPY)
        return load_line(sm, line, tag, row.past_l1, begin, t);
    if (row.kind == Kind::ATOMIC) {
        reduce_sectors(sm, row, line, begin);
        return max(sm.shared->busiest_free, sm.shared->l2_free) + sm.p->l2_latency;
    }
    if (line.number >= LOCAL_LINES) {
        store_local(sm, line, tag, begin, t);
    } else {
        await_load(sm, warp, tag);
        keep_stored(sm, tag, line, line.whole, t);
        store_sectors(sm, line, tag, begin, t);
        record_store(sm, warp);
    }
    return 0.0;
}

// --- the load/store unit -------------------------------------------------------------------------

double pass_queue(const SM &sm, double passes, double t)
{
    pass_data(sm, max(sm.shared->lsu_free, t + REACH_CYCLES / 2), passes);
    return sm.shared->lsu_free;
}

static Ends access_shared(const SM &sm, int64_t index, double begin)
{
    double passes = index < 0 ? 1.0 : max(sm.accesses[index].wavefronts, sm.p->access_cycles);
    pass_data(sm, begin, passes);
    double free = sm.shared->lsu_free;
    return {free + sm.p->shared_latency - PIPELINED_CYCLES, free + READ_CYCLES};
}

// Wavefronts of an asynchronous copy's second access, its store to shared memory.
static double copied_wavefronts(const SM &sm, const CodeRow &row, int64_t index)
{
    if (row.past_l1)
        return 0.0;
    return sm.accesses[index].more > 0 ? sm.accesses[index + 1].wavefronts : 1.0;
}

int64_t tag_of(const SM &sm, const Warp &warp, int64_t number)
{
    if (number >= LOCAL_LINES)
        return number + (&warp - sm.warps) * sm.local_words;
    return number + sm.blocks[warp.place].shift;
}

// Whether DRAM lags behind with prefetches, so that the SM drops this one; otherwise DRAM has more
// to read.
static bool is_dropped(const SM &sm, const Source &source, double sectors, double begin)
{
    double bytes = SECTOR * max(sectors, PAIR) * min(1.0, source.read_part);
    double end = max(sm.shared->prefetch_free, begin) + bytes * sm.p->dram_byte_cycles;
    if (end - begin > PREFETCH_QUEUE)
        return true;
    sm.shared->prefetch_free = end;
    return false;
}

// Fetches sectors into the L2; no instruction waits for them.
static Ends prefetch(const SM &sm, const Warp &warp, const Access &access, double begin, double t)
{
    for (int64_t k = access.first; k < access.end; ++k) {
        const Line &line = sm.lines[k];
        pass_data(sm, max(sm.shared->lsu_free, begin),
                  count_pairs(line.touched) * sm.p->prefetch_pair);
        int64_t tag = tag_of(sm, warp, line.number);
        double count = count_sectors(line.touched);
        Source &source = source_of(sm, line.number);
        if (is_dropped(sm, source, count, begin)) {
            source.misses += count;
            continue;
        }
        double lost = lost_pairs(sm, tag, line.touched);
        const CacheLine *loaded = find_line(set_of(sm.l1, sm.l1_lines, tag), tag);
        if (loaded && loaded->ready > begin)
            lost += read_again(sm, line.number, line.touched);
        double ready = fetch_sectors(sm, line.number, count, lost, false, 0.0, begin, t,
                                     Fill::BULK);
        if (source.read_part > MAY_COME)
            ready = max(ready, await_dram(sm));
        prefetched_line(sm, tag) = {tag + 1, ready, sm.shared->lines_brought};
    }
    return {t, sm.shared->lsu_free + READ_CYCLES};
}

// Further data stage cycles of a load that waits for lines on their way to the L1.
static double cycles_again(const SM &sm, const Warp &warp, const CodeRow &row, const Access &access)
{
    if (row.narrow)
        return 1.0;
    if (access.end - access.first > 1)
        return 0.0;
    CacheLine &line = place_in_l1(sm, tag_of(sm, warp, sm.lines[access.first].number));
    return line.waiting > WAIT_TOGETHER ? WAIT_CYCLES : 0.0;
}

static Ends access_global(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double begin,
                          double t)
{
    const Access &access = sm.accesses[index];
    double wavefronts = access.wavefronts + FURTHER * max(0.0, access.wavefronts - 2.0);
    bool copies = row.kind == Kind::COPY;
    pass_data(sm, begin, max(copies ? COPY_CYCLES : wavefronts, sm.p->access_cycles));
    double read = sm.shared->lsu_free + READ_CYCLES;
    double done = sm.shared->lsu_free + sm.p->l1_latency - PIPELINED_CYCLES, hit = done;
    for (int64_t k = access.first; k < access.end; ++k) {
        int64_t tag = tag_of(sm, warp, sm.lines[k].number);
        done = max(done, access_line(sm, warp, row, sm.lines[k], tag, begin, t));
    }
    if (row.kind == Kind::LOAD && done > hit)
        pass_data(sm, sm.shared->lsu_free, cycles_again(sm, warp, row, access));
    if (copies) {
        pass_data(sm, sm.shared->lsu_free, copied_wavefronts(sm, row, index));
        warp.open_copy = max(warp.open_copy, done);
        warp.copied = max(warp.copied, done);
    }
    return {done, read};
}

// Cycles of an access on the path to the shared memory of other SMs.
static double cycles_elsewhere(const CodeRow &row, const Access &access)
{
    double each = row.kind == Kind::ATOMIC  ? ATOMIC_ELSEWHERE
                  : row.kind == Kind::STORE ? STORE_ELSEWHERE
                                            : LOAD_ELSEWHERE;
    return double(access.tags) * each;
}

// An access to shared memory by a generic address: of the own block, or of others in the cluster.
static Ends access_cluster(const SM &sm, Warp &warp, const CodeRow &row, const Access &access,
                           double begin)
{
    Shared &shared = *sm.shared;
    pass_data(sm, begin, max(1.0, double(access.wavefronts)));
    double read = shared.lsu_free, done = read + sm.p->shared_latency;
    if (access.tags == 0)
        return {done, done};
    double &free = shared.cluster_free;
    free = max(free, read) + cycles_elsewhere(row, access);
    shared.lsu_free = max(shared.lsu_free, free - QUEUE_ELSEWHERE);
    if (row.kind != Kind::LOAD)
        warp.stored = max(warp.stored, free);
    return {max(done, free + LATENCY_ELSEWHERE), read + READ_CYCLES};
}

Ends access_memory(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t)
{
    bool global = row.kind != Kind::SHARED && index >= 0;
    double tags = global ? double(sm.accesses[index].tags) : SHARED_CYCLES;
    double begin = max(sm.shared->lsu_free, pass_tags(sm, tags, t + REACH_CYCLES));
    if (row.kind == Kind::SHARED)
        return access_shared(sm, index, begin);
    if (index < 0) {
        sm.shared->lsu_free = begin + 1.0;
        return {begin + 1.0 + SKIPPED_CYCLES, begin + 1.0 + SKIPPED_CYCLES};
    }
    if (sm.accesses[index].space == TraceWord::SHARED) // by a generic address
        return access_cluster(sm, warp, row, sm.accesses[index], begin);
    if (row.kind == Kind::PREFETCH)
        return prefetch(sm, warp, sm.accesses[index], begin, t);
    return access_global(sm, warp, row, index, begin, t);
}

Ends read_texture(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t)
{
    double &free = sm.shared->texture_free, begin = max(free, t + REACH_CYCLES);
    const Access none{}, &access = index < 0 ? none : sm.accesses[index];
    free = begin + max(1.0, double(access.wavefronts));
    double done = free + double(row.latency);
    for (int64_t k = access.first; k < access.end; ++k) {
        const Line &line = sm.lines[k];
        done = max(done, load_line(sm, line, tag_of(sm, warp, line.number), 0, begin, t));
    }
    return {done, free + READ_CYCLES};
}

double move_bulk(const SM &sm, const CodeRow &row, const Line &line, int64_t tag, double begin,
                 double t)
{
    if (row.kind == Kind::BULK_LOAD) {
        double lost = lost_pairs(sm, tag, line.touched);
        return fetch_sectors(sm, line.number, count_sectors(line.touched), lost, false, 0.0, begin,
                             t, Fill::BULK);
    }
    store_sectors(sm, line, tag, begin, t);
    return max(sm.shared->store_port_free, sm.shared->l2_free);
}

} // namespace timing
