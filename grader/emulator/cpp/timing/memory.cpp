// The memory system of the simulated SM, from the load/store unit to DRAM.
//
// Memory instructions pass one load/store unit an SM: its data stage (wavefronts), its tag stage,
// an L1 that knows lines, sectors and when they arrive, then the L2 and DRAM, of which the SM has
// its share. A unit is known by the cycle at which it is free.
#include "timing/caches.h"

namespace timing {

constexpr double SECTOR = SECTOR_BYTES, PAIR = PAIR_SECTORS;
// Of the tag stage for an access to global memory, however few its lines:
// te42kyfo/gpu-benches measures it at small strides.
constexpr double LEAST_CYCLES = 1.24;
// Of the data stage for an asynchronous copy, before its data pass to shared memory as wavefronts:
// 2.8, 4.0 and 5.6 cycles for copies of 4, 8 and 16 bytes a lane that the L1 holds. What comes past
// the L1 passes no wavefronts: 2.6 cycles (seen on an H200).
constexpr double COPY_CYCLES = 1.8;
// Of the tag stage for an access to shared memory (H200).
constexpr double SHARED_CYCLES = 1.16;
// Of the data stage for a wavefront of an access to global memory after the second one, beyond a
// cycle: an H200 takes 4.8, 17.1 and 34.3 cycles for 4, 16 and 32 of them.
constexpr double FURTHER = 0.07;
// Lines that pass through the L2 are numbered from here on.
constexpr int64_t PASSING_LINES = int64_t(1) << 50;
// From the issue of an access until the load/store unit can take it; what only passes its queue
// takes half as long.
constexpr double REACH_CYCLES = 4.0;
// Until the registers of an access are read, counted from its last wavefront.
constexpr double READ_CYCLES = 6.0;
// Of a latency, which is measured from the issue, that are over at the last wavefront.
constexpr double PIPELINED_CYCLES = 5.0;
// Of an access of no lane.
constexpr double SKIPPED_CYCLES = 10.0;

// --- beyond the L1 -------------------------------------------------------------------------------

// So many wavefronts pass the data stage.
static void pass_data(const SM &sm, double begin, double passes)
{
    sm.shared->lsu_free = begin + passes;
    sm.statistics->lsu += passes;
}

// When an access passes the tag stage, which takes accesses in and looks for their lines in the L1
// while the data stage works for those before.
static double pass_tags(const SM &sm, double cycles, double t)
{
    double &tags_free = sm.shared->tags_free, begin = max(tags_free, t);
    tags_free = begin + cycles;
    return begin;
}

// Cycles by which a read from an idle DRAM takes longer than the quickest one, drawn from an
// exponential distribution.
static double draw_delay(const SM &sm)
{
    int64_t state = (sm.shared->random * 1103515245 + 12345) & 0x7FFFFFFF;
    sm.shared->random = state;
    double means = -__builtin_log(double(state >> 8 | 1) / double(1 << 23));
    return means * sm.p->dram_spread;
}

// Sectors pass DRAM.
static void pass_dram(const SM &sm, double sectors, double begin)
{
    double size = SECTOR * sectors, &dram_free = sm.shared->dram_free;
    dram_free = max(dram_free, begin) + size * sm.p->dram_byte_cycles;
    sm.statistics->dram_bytes += size;
}

// Use a line of the SM's share of the L2, and note sectors of it that are stored; what has to make
// room for it is written to DRAM. Returns whether it was there.
static bool use_l2(const SM &sm, int64_t tag, int64_t stored, double t)
{
    CacheLine *set = set_of(sm.l2, sm.l2_lines, tag), *found = find_line(set, tag);
    CacheLine &line = found ? *found : find_oldest(set);
    if (!found) {
        pass_dram(sm, count_sectors(line.sectors), t);
        line = {tag, 0, 0.0, t};
    }
    line.sectors |= stored;
    line.used = t;
    return found;
}

// Sectors that DRAM moves for global memory take room of local memory in the L2.
static void pass_through_l2(const SM &sm, double sectors, double t)
{
    if (sm.l2_lines == 0)
        return;
    double &passed = sm.shared->passed;
    int64_t line = int64_t(passed / LINE_SECTORS);
    for (passed += sectors; line < int64_t(passed / LINE_SECTORS); ++line)
        use_l2(sm, PASSING_LINES + line, 0, t);
}

// What is read, stored or changed passes the slices of the L2.
static void pass_slices(const SM &sm, double cycles, double begin)
{
    double &l2_free = sm.shared->l2_free;
    l2_free = max(l2_free, begin) + cycles;
}

// Of a sum of parts of sectors, take the whole ones.
static double take_whole(double &credit)
{
    double whole = __builtin_floor(credit);
    credit -= whole;
    return whole;
}

// When sectors of a line arrive from the L2. It passes up to two of them at a time.
static double pass_l2(const SM &sm, double count, double begin)
{
    Shared &shared = *sm.shared;
    const Parameters &p = *sm.p;
    pass_data(sm, shared.lsu_free, count * p.fill_cycles);
    sm.statistics->l2_bytes += SECTOR * count;
    shared.port_free = max(shared.port_free, begin) +
                       max(count * p.fill_port_cycles, p.line_port_cycles);
    double cost = max(count, PAIR) * p.l2_sector_cycles;
    pass_slices(sm, cost, begin);
    return max(shared.port_free, shared.l2_free) + p.l2_latency;
}

// When what DRAM has been asked for arrives at the earliest.
static double await_dram(const SM &sm)
{
    double latest = max(sm.shared->dram_free, sm.shared->port_free);
    return latest + sm.p->dram_latency + sm.p->dram_wait;
}

// When sectors arrive from DRAM.
static double read_dram(const SM &sm, double sectors, double begin)
{
    pass_dram(sm, sectors, begin);
    double delay = 0.0;
    for (double pairs = sectors; pairs > 0.0; pairs -= PAIR)
        delay = max(delay, draw_delay(sm));
    return await_dram(sm) + delay;
}

// When sectors of a line of global memory arrive. DRAM reads them in pairs: what completes a pair
// that this SM has asked for comes with it, when the line is `ready`.
static double fetch_sectors(const SM &sm, double count, bool completes, double ready, double begin,
                            double t)
{
    pass_slices(sm, count * sm.p->read_row_cycles, begin);
    double arrival = pass_l2(sm, count, begin);
    sm.statistics->l1_misses += count;
    double &owed = sm.shared->owed_sectors;
    owed += count;
    if (completes)
        return max(arrival, ready);
    sm.shared->read_credit += owed * sm.p->dram_read_part / PAIR;
    owed = 0.0;
    sm.shared->wait_credit += count * sm.p->dram_wait_part / PAIR;
    double whole = PAIR * take_whole(sm.shared->read_credit);
    if (take_whole(sm.shared->wait_credit) > 0) // for what another SM has asked for
        arrival = max(arrival, await_dram(sm));
    if (whole <= 0)
        return arrival;
    pass_through_l2(sm, whole, t);
    return max(arrival, read_dram(sm, whole, begin));
}

// The same of local memory, as far as the L2 does not hold them.
static double fetch_local(const SM &sm, double count, int64_t tag, double begin, double t)
{
    double arrival = pass_l2(sm, count, begin);
    if (use_l2(sm, tag, 0, t))
        return arrival;
    return max(arrival, read_dram(sm, PAIR * __builtin_ceil(count / PAIR), begin));
}

// What a store asks of the L2: a line, its sectors, and those of them that it covers.
struct Stored {
    double lines, count, covered;
};

// Cycles for a store where a line, a whole sector and one in part take so many.
static double cycles_of(Stored stored, double line, double whole, double part)
{
    return stored.lines * line + stored.covered * whole + (stored.count - stored.covered) * part;
}

// Cycles in which the slices of the L2 take a store.
static double store_cycles(const SM &sm, Stored stored)
{
    const Parameters &p = *sm.p;
    return cycles_of(stored, p.store_line_cycles, p.store_sector_cycles, p.partial_sector_cycles);
}

// What a store adds to what was stored to its line just before, which it goes to the L2 with, if
// that still waits to leave the SM.
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

// Sectors of a store or an atomic have passed the slices of the L2 in so many cycles, and a part of
// them passes DRAM; the load/store unit waits where their queues are full.
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
    double port = cycles_of(stored, p.line_port_cycles, p.fill_port_cycles, p.partial_port_cycles);
    double count = count_sectors(line.touched), dram = count * p.dram_write_part;
    sm.statistics->stored += count;
    pass_through_l2(sm, dram, t);
    double cycles = store_cycles(sm, stored) + count * p.write_row_cycles;
    pass_slices(sm, cycles, begin);
    pass_stores(sm, stored.count, dram, port, cycles, begin);
}

// An atomic takes turns of the slices of the L2, which reads wait for too, and beyond these those
// of the busiest one; what it returns is read.
static void reduce_sectors(const SM &sm, const CodeRow &row, const Line &line, double begin)
{
    Shared &shared = *sm.shared;
    const Parameters &p = *sm.p;
    double count = count_sectors(line.touched), turns = turns_of(line, row.atomic);
    bool fetches = row.write_scoreboard < SCOREBOARDS;
    double passing = p.atomic_pass_cycles + (fetches ? p.l2_sector_cycles : 0.0);
    pass_slices(sm, turns * p.atomic_slice_cycles + count * passing, begin);
    double cycles = turns * p.atomic_cycles;
    double port = max(count, double(line.rounds)) * p.line_port_cycles;
    shared.busiest_free = max(shared.busiest_free, begin) + cycles;
    sm.statistics->stored += count;
    pass_stores(sm, count, count * p.dram_write_part, port, cycles, begin);
}

// --- the L1 --------------------------------------------------------------------------------------

// The place of a line in the L1, which holds none of its sectors where it was not there before.
static CacheLine &place_in_l1(const SM &sm, int64_t tag)
{
    CacheLine *set = set_of(sm.l1, sm.l1_lines, tag), *found = find_line(set, tag);
    CacheLine &line = found ? *found : find_oldest(set);
    bool stale = found && tag < LOCAL_LINES && line.used < sm.shared->invalidated;
    if (!found || stale)
        line = {tag, 0, 0.0, line.used};
    return line;
}

// Whether sectors are the other halves of pairs of which one was asked for.
static bool completes_pairs(uint32_t missing, uint32_t held)
{
    return (missing & held) == 0 && (pairs_of(missing) & ~pairs_of(held)) == 0;
}

// When the sectors that are asked for are there; the missing ones are fetched, and all of them
// where the load goes past the L1.
static double load_line(const SM &sm, const Line &line, int64_t tag, int64_t past_l1, double begin,
                        double t)
{
    CacheLine &held = place_in_l1(sm, tag);
    bool local = line.number >= LOCAL_LINES;
    bool past = past_l1 == 1 || (past_l1 == 2 && held.ready <= begin);
    int64_t missing = line.touched & ~(past ? 0 : held.sectors);
    double count = count_sectors(missing);
    if (!local) {
        sm.statistics->load_sectors += count_sectors(line.touched);
        sm.statistics->load_hits += count_sectors(line.touched) - count;
    }
    held.used = t;
    if (missing == 0)
        return held.ready;
    int64_t stored = missing & held.sectors >> LINE_SECTORS;
    pass_slices(sm, count_sectors(stored) * sm.p->stored_read_cycles, begin);
    bool completes = completes_pairs(uint32_t(missing), uint32_t(held.sectors));
    held.sectors = (held.sectors | missing) & ~(stored << LINE_SECTORS);
    double arrival = local ? fetch_local(sm, count, tag, begin, t)
                           : fetch_sectors(sm, count, completes, held.ready, begin, t);
    held.ready = max(held.ready, arrival);
    return arrival;
}

// Of what is stored, the sectors of a mask stay in the L1; reading them from the L2 takes longer.
static void keep_stored(const SM &sm, int64_t tag, const Line &line, int64_t sectors, double t)
{
    CacheLine &held = place_in_l1(sm, tag);
    held.sectors |= sectors | int64_t(line.touched) << LINE_SECTORS;
    held.ready = max(held.ready, sm.shared->lsu_free);
    held.used = t;
}

// A store to local memory stays in the L1, and goes on to the L2.
static void store_local(const SM &sm, const Line &line, int64_t tag, double begin, double t)
{
    keep_stored(sm, tag, line, line.touched, t);
    use_l2(sm, tag, line.touched, t);
    double count = count_sectors(line.touched), covered = count_sectors(line.whole);
    double cycles = store_cycles(sm, {1.0, count, covered});
    pass_slices(sm, cycles, begin);
    pass_stores(sm, count, 0.0, count * sm.p->fill_port_cycles, cycles, begin);
}

// A store to a line of which a load is under way lets the sub-partition's next access wait for it:
// an H200's SM begins four of them in the time of one load.
static void await_load(const SM &sm, const Warp &warp, int64_t tag)
{
    double &free = sm.partitions[(&warp - sm.warps) % SUB_PARTITIONS].pipes[Unit::MEMORY];
    free = max(free, place_in_l1(sm, tag).ready);
}

// Note that a warp has stored, for fences.
static void note_store(const SM &sm, Warp &warp)
{
    Shared &shared = *sm.shared;
    if (shared.storer != &warp - sm.warps)
        shared.stored_before = shared.stored;
    shared.storer = &warp - sm.warps;
    shared.stored = warp.stored = max(shared.store_port_free, shared.l2_free);
}

// When what is asked of a line has come; of stores, 0.
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
        note_store(sm, warp);
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

// Wavefronts that the second access of an asynchronous copy takes, its store to shared memory.
static double copied_wavefronts(const SM &sm, const CodeRow &row, int64_t index)
{
    if (row.past_l1)
        return 0.0;
    bool stores = index + 1 < sm.access_count && sm.accesses[index + 1].space == TraceWord::SHARED;
    return stores ? sm.accesses[index + 1].wavefronts : 1.0;
}

// Which line a line of a traced access is: those of local memory belong to the warp's place.
static int64_t tag_of(const SM &sm, const Warp &warp, int64_t number)
{
    if (number >= LOCAL_LINES)
        return number + (&warp - sm.warps) * sm.local_words;
    return number + sm.blocks[warp.place].shift;
}

// Sectors are fetched into the L2, for which nothing waits.
static Ends prefetch(const SM &sm, const Access &access, double begin, double t)
{
    for (int64_t k = access.first; k < access.end; ++k) {
        const Line &line = sm.lines[k];
        pass_data(sm, max(sm.shared->lsu_free, begin),
                  count_pairs(line.touched) * sm.p->prefetch_pair);
        fetch_sectors(sm, count_sectors(line.touched), false, 0.0, begin, t);
    }
    return {t, sm.shared->lsu_free + READ_CYCLES};
}

static Ends access_global(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double begin,
                          double t)
{
    const Access &access = sm.accesses[index];
    double wavefronts = access.wavefronts + FURTHER * max(0.0, access.wavefronts - 2.0);
    bool copies = row.kind == Kind::COPY;
    pass_data(sm, begin, max(copies ? COPY_CYCLES : wavefronts, sm.p->access_cycles));
    double read = sm.shared->lsu_free + READ_CYCLES;
    double done = sm.shared->lsu_free + sm.p->l1_latency - PIPELINED_CYCLES;
    for (int64_t k = access.first; k < access.end; ++k) {
        int64_t tag = tag_of(sm, warp, sm.lines[k].number);
        done = max(done, access_line(sm, warp, row, sm.lines[k], tag, begin, t));
    }
    if (copies) {
        pass_data(sm, sm.shared->lsu_free, copied_wavefronts(sm, row, index));
        warp.open_copy = max(warp.open_copy, done);
    }
    return {done, read};
}

Ends access_memory(const SM &sm, Warp &warp, const CodeRow &row, int64_t index, double t)
{
    bool global = row.kind != Kind::SHARED && index >= 0;
    double tags = global ? max(double(sm.accesses[index].tags), LEAST_CYCLES) : SHARED_CYCLES;
    double begin = max(sm.shared->lsu_free, pass_tags(sm, tags, t + REACH_CYCLES));
    if (row.kind == Kind::SHARED)
        return access_shared(sm, index, begin);
    if (index < 0) {
        sm.shared->lsu_free = begin + 1.0;
        return {begin + 1.0 + SKIPPED_CYCLES, begin + 1.0 + SKIPPED_CYCLES};
    }
    if (sm.accesses[index].space == TraceWord::SHARED) { // by a generic address
        pass_data(sm, begin, sm.accesses[index].wavefronts);
        double done = sm.shared->lsu_free + sm.p->shared_latency;
        return {done, done};
    }
    if (row.kind == Kind::PREFETCH)
        return prefetch(sm, sm.accesses[index], begin, t);
    return access_global(sm, warp, row, index, begin, t);
}

} // namespace timing
