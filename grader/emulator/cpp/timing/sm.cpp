// Simulates the resident warps of one SM, cycle by cycle where anything happens.
//
// Four sub-partitions issue one instruction per cycle each. They choose the block that started
// first among blocks with a ready warp (on an H200, equal resident blocks end one after another),
// and in it a warp that loads; then the warp that issued last if it is ready; otherwise the warp
// that has not issued for the longest time. A warp is ready when its stall count has passed, the
// scoreboards of its wait mask are free, and the pipe of its instruction can take it: the control
// bits of the machine code contain the dependencies. Issue waits for the register banks, and all
// stall counts stand still until then. memory.cpp has the memory system. Each unit serves its
// requests in order; its state is the cycle at which it is free, so that an instruction's end is
// known at its issue. sm_profiled.cpp compiles this file again with the profile: a test at run time
// would take 5 %.
#include "timing/timing.h"

#ifndef PROFILED
#define PROFILED false
#endif

namespace timing {

// Cycles from the issue of a queued instruction until its registers are read.
constexpr double READ_CYCLES = 6.0;
// Cycles of a warp instruction in a pipe of 16 lanes, and of 4 lanes (special functions).
constexpr double PIPE_CYCLES = 2.0, SPECIAL_CYCLES = 8.0;
// Cycles of a distinct word in the unit for address divergence.
constexpr double DIVERGENCE_CYCLES = 2.0;
// Cycles by which a distinct value delays the end of a match, besides its passes.
constexpr double MATCH_CYCLES = 9.0;
// Cycles of the load/store unit for a barrier: 64 warps that hand on a number take 2.8 cycles each
// for a load, a store and a barrier (H200: benchmarks/kernels/pipelines/barriers.cu).
constexpr double BARRIER_PASSES = 0.4;
// Cycles by which reads of a register bank (one per cycle) may lag behind before the issue waits:
// operands are read in a window of three cycles.
constexpr double PORT_QUEUE = 2.0;
// Cycles from the issue of an integer product of 64 bits until the next issue. Without 20 such
// products, of 148 instructions, a round of a loop takes an H200's sub-partition 157 cycles instead
// of 210 (patched machine code).
constexpr double WIDE_CYCLES = 4.0;
// Wavefronts of A in shared memory for a product of a warp group; cycles of the shortest product,
// from its issue until it begins, and until the next issue (H200).
constexpr double LEFT_WAVEFRONTS = 16.0, LEAST_PRODUCT = 12.0;
constexpr double PRODUCT_START = 10.0, PRODUCT_ISSUE = 4.0;
// Blocks that stand for other blocks have their data elsewhere and must miss in the L1: each
// repetition shifts its line numbers by this distance.
constexpr int64_t FRESH = int64_t(1) << 42;
// More than any cycle of a simulation.
constexpr double LOADS_FIRST = 1e12;
// See await_earlier.
constexpr double EARLIER_PART = 0.75, FURTHER_READS = 1.7, SINGLE_READS = 7.0;

// --- choosing a warp -----------------------------------------------------------------------------

constexpr uint32_t UNITS = Unit::GROUP + 1;

struct Choice {
    int64_t warp; // -1: none
    double wake;  // first cycle at which another warp is ready
};

// The end of all but the last `left` of a warp's groups, of which COPY_GROUPS are known.
static double end_of_groups(const double *groups, int64_t count, int64_t left)
{
    double end = 0.0;
    for (int64_t group = max(int64_t(0), count - COPY_GROUPS); group < count - left; ++group)
        end = max(end, groups[group % COPY_GROUPS]);
    return end;
}

// The cycle at which the stall count has passed and all dependencies are met.
static double latest_dependency(const Warp &warp, const CodeRow &row)
{
    double at = warp.ready;
    for (uint32_t scoreboard : Lanes{uint32_t(row.wait_mask)})
        at = max(at, warp.board[scoreboard]);
    if (row.kind == Kind::LOAD)
        at = max(at, warp.loads_from);
    if (row.kind == Kind::DEPEND)
        at = max(at, end_of_groups(warp.groups, warp.committed, row.argument));
    if (row.kind == Kind::PRODUCTS_DEPEND)
        at = max(at, end_of_groups(warp.products, warp.multiplied, row.argument));
    return at;
}

// Computes when the dependencies of a warp's next instruction are met. They are known when the
// previous instruction issues; only the warp's own instructions change them.
static void find_dependencies(const SM &sm, Warp &warp)
{
    const CodeRow &row = sm.table[sm.steps[warp.position].code];
    warp.dependencies_end = latest_dependency(warp, row);
    warp.unit = row.unit;
}

// The cycle at which a sub-partition can take an instruction, by unit.
struct Free {
    double units[UNITS];
};

static Free find_free(const SM &sm, const Partition &partition)
{
    const double *pipes = partition.pipes;
    Free free{};
    for (uint32_t unit = 0; unit < UNITS; ++unit)
        free.units[unit] = pipes[unit];
    free.units[Unit::FMA] = sm.p->float_halves > 1.0 ? min(pipes[Unit::HEAVY], pipes[Unit::FMA])
                                                     : pipes[Unit::HEAVY];
    double queue = partition.accesses[partition.accessed % QUEUED_ACCESSES];
    free.units[Unit::MEMORY] = max(pipes[Unit::MEMORY], queue);
    return free;
}

// The order of a block's warps: loads first, of which the warp issues that has not issued for the
// longest time; then the warp that issued last; then again the warp that has not issued for the
// longest time. On an H200, 4 to 8 warps of a sub-partition with equal chains of instructions end
// within 10 % of their time; and the warps of a block load at about the same time, and wait
// together if the data are new (costs/shared_lines.cu).
static double rank_of(const CodeRow &row, const Warp &warp, bool latest)
{
    if (is_global(row.kind) && row.kind != Kind::STORE)
        return LOADS_FIRST - warp.ready;
    return latest ? 0.0 : -warp.ready;
}

// The warp to issue: of the block that started first, the one with the highest rank.
static Choice choose_warp(const SM &sm, int64_t number, double t)
{
    const Partition &partition = sm.partitions[number];
    const Free free = find_free(sm, partition);
    double wake = NEVER, rank = -NEVER;
    int64_t chosen = -1, first_block = INT64_MAX;
    for (int64_t w = number; w < sm.warp_count; w += SUB_PARTITIONS) {
        const Warp &warp = sm.warps[w];
        double at = max(warp.dependencies_end, free.units[warp.unit]);
        if (at > t) {
            wake = min(wake, at);
            continue;
        }
        int64_t block = sm.blocks[warp.place].number;
        if (block > first_block)
            continue;
        const CodeRow &row = sm.table[sm.steps[warp.position].code];
        double own = rank_of(row, warp, w == partition.latest);
        if (block < first_block || own > rank) {
            chosen = w;
            first_block = block;
            rank = own;
        }
    }
    return {chosen, wake};
}

// --- blocks --------------------------------------------------------------------------------------

static void wake_partitions(const SM &sm, double at)
{
    for (uint32_t number = 0; number < SUB_PARTITIONS; ++number)
        sm.partitions[number].next_ready = min(sm.partitions[number].next_ready, at);
}

static int64_t warps_per_block(const SM &sm) { return sm.warp_count / sm.block_count; }

// The SM's place of a block's warp; consecutive places are on consecutive sub-partitions. A block
// whose warps fill all sub-partitions evenly starts one sub-partition after the block before
// (%warpid on an H200).
static int64_t place_of(int64_t slot, int64_t warps, int64_t index)
{
    if (warps % SUB_PARTITIONS == 0)
        index += (index + slot) % SUB_PARTITIONS - index % SUB_PARTITIONS;
    return slot * warps + index;
}

// Starts the next block of the order on a place of the SM at cycle `at`.
static void start_block(const SM &sm, int64_t slot, double at)
{
    at = max(at, sm.shared->start_free);
    sm.shared->start_free = at + sm.p->dispatch_cycles;
    int64_t warps = warps_per_block(sm), traced_blocks = sm.traced_warps / warps;
    int64_t number = sm.shared->started++, traced = sm.order[number];
    sm.blocks[slot] = {number, at, 0.0, traced / traced_blocks * FRESH, warps, 0, 0};
    int64_t of_block = traced % traced_blocks * warps;
    for (int64_t index = 0; index < warps; ++index) {
        Warp &warp = sm.warps[place_of(slot, warps, index)];
        warp.first = sm.first[of_block + index];
        warp.last = sm.first[of_block + index + 1];
        warp.position = warp.begun = sm.begins[of_block + index];
        warp.ready = at + double(index / SUB_PARTITIONS);
        warp.at_barrier = false;
        warp.committed = warp.multiplied = 0;
        warp.awaited = NO_OBJECT;
        warp.open_copy = warp.open_product = warp.copied = warp.stored = warp.loads_from = 0.0;
        warp.phase_end = 0.0;
        warp.looked_back = false;
        memset(warp.board, 0, sizeof warp.board);
        if (warp.position == warp.last) { // it ended before its trace began
            warp.dependencies_end = NEVER;
            --sm.blocks[slot].living;
            continue;
        }
        find_dependencies(sm, warp);
        if (PROFILED)
            profile_start(sm, warp);
    }
}

// A warp that has waited for other warps continues at `at`.
static void resume(const SM &sm, Warp &warp, double at)
{
    warp.ready = max(warp.ready, at);
    find_dependencies(sm, warp);
    if (PROFILED)
        profile_release(sm, warp, at);
    wake_partitions(sm, at);
}

// Whether the warp reads here until all blocks of the grid have come.
static bool awaits_blocks(const CodeRow &row)
{
    return (row.kind == Kind::LOAD || row.kind == Kind::ATOMIC) && row.argument == AWAITS_BLOCKS;
}

// Continues the warps whose phase has ended. `anyway`: all warps, because none can continue: they
// wait for other blocks, and the simulated ones have all come; or for a phase, and their traces are
// cut off. Returns whether there are any.
static bool resume_released(const SM &sm, double t, bool anyway)
{
    bool found = false;
    for (int64_t w = 0; w < sm.warp_count; ++w) {
        Warp &warp = sm.warps[w];
        if (warp.awaited == NO_OBJECT || (warp.awaited != RELEASED && !anyway))
            continue;
        double more = warp.awaited == OTHER_BLOCKS ? sm.p->blocks_wait : 0.0;
        warp.awaited = NO_OBJECT;
        found = true;
        resume(sm, warp, max(warp.ready, t) + more);
    }
    sm.shared->released = false;
    return found;
}

// Releases the warps of a block when all living warps have arrived.
static void pass_barrier(const SM &sm, int64_t slot, double t)
{
    Block &block = sm.blocks[slot];
    if (block.arrived == 0 || block.arrived < block.living)
        return;
    block.arrived = 0;
    double at = t + sm.p->barrier_latency;
    int64_t warps = warps_per_block(sm);
    for (int64_t w = slot * warps; w < (slot + 1) * warps; ++w) {
        Warp &warp = sm.warps[w];
        if (!warp.at_barrier)
            continue;
        warp.at_barrier = false;
        resume(sm, warp, at);
    }
}

// Ends a warp; its block may end and another block start, or its barrier may be complete.
static void retire(const SM &sm, Warp &warp, double t)
{
    int64_t slot = warp.place;
    Block &block = sm.blocks[slot];
    warp.dependencies_end = NEVER;
    if (PROFILED)
        profile_end(sm, t);
    if (--block.living > 0) {
        pass_barrier(sm, slot, t);
        return;
    }
    sm.ends[block.number] = t;
    ++sm.shared->ended;
    if (sm.shared->started < sm.order_count) {
        start_block(sm, slot, t + sm.p->block_launch);
        wake_partitions(sm, t + sm.p->block_launch);
    } else if (sm.statistics->full_cycles == 0.0) {
        sm.statistics->full_cycles = t;
        sm.statistics->full_issued = sm.statistics->issued;
    }
}

// --- issuing -------------------------------------------------------------------------------------

// Wavefronts of shared memory for a product of a warp group: B, and A unless it is in registers.
static double product_wavefronts(const CodeRow &row)
{
    return double(row.passes) / 4.0 + (row.argument & LEFT_SHARED ? LEFT_WAVEFRONTS : 0.0);
}

// Cycles of a product of a warp group in each tensor core, by an H200: half a cycle per column if
// shared memory delivers B and A in time.
static double product_cycles(const CodeRow &row)
{
    return max(double(row.passes) / 2.0, max(product_wavefronts(row), LEAST_PRODUCT));
}

// A warp's part of a product of its group. Products of a sub-partition run in order.
static double multiply_group(const SM &sm, Partition &partition, Warp &warp, const CodeRow &row,
                             double t)
{
    double &free = partition.pipes[Unit::TENSOR];
    free = max(free, t + PRODUCT_START) + product_cycles(row);
    int64_t &count = partition.multiplied;
    partition.products[count++ % QUEUED_PRODUCTS] = free;
    double oldest = partition.products[count % QUEUED_PRODUCTS];
    partition.pipes[Unit::GROUP] = max(t + PRODUCT_ISSUE, oldest);
    pass_queue(sm, product_wavefronts(row) / SUB_PARTITIONS, t);
    double end = free + double(row.latency);
    warp.open_product = max(warp.open_product, end);
    if (row.argument & ENDS_GROUP) {
        warp.products[warp.multiplied++ % COPY_GROUPS] = warp.open_product;
        warp.open_product = 0.0;
    }
    return end;
}

// Reads an instruction's registers from their banks, except registers in the register cache: a
// cached register stays until another instruction reads its bank for the same operand (Huerta and
// others, MICRO 2025; confirmed on an H200). A register of several operands is read once per pass
// of the instruction; a tensor core's matrices are read while it multiplies, in less time than that
// takes. If the banks lag behind, the next instruction waits after its warp is chosen.
static void read_registers(Partition &partition, const CodeRow &row, int64_t warp, double t)
{
    bool multiplies = row.unit == Unit::TENSOR || row.unit == Unit::GROUP;
    double latest = t, turns = multiplies ? 1.0 : double(row.passes);
    int64_t read[OPERANDS];
    for (uint32_t slot = 0; slot < OPERANDS; ++slot) {
        int64_t number = row.sources >> 8 * slot & 0xFF, bank = number % REGISTER_BANKS;
        read[slot] = number;
        if (number == NO_REGISTER)
            continue;
        int64_t &kept = partition.kept[bank * OPERANDS + slot];
        if (kept != (warp | number) && !is_among(read, slot, number))
            partition.banks[bank] = max(partition.banks[bank], t) + turns;
        kept = row.reuse >> slot & 1 ? warp | number : 0;
        latest = max(latest, partition.banks[bank]);
    }
    partition.read_ready = latest - PORT_QUEUE;
}

static void take_pipe(const SM &sm, Partition &partition, const CodeRow &row, double t)
{
    const Parameters &p = *sm.p;
    double *pipes = partition.pipes, passes = double(row.passes);
    switch (row.unit) {
    case Unit::FMA:
    case Unit::HEAVY: {
        bool light = p.float_halves > 1.0 && pipes[Unit::FMA] <= pipes[Unit::HEAVY];
        pipes[row.unit == Unit::FMA && light ? Unit::FMA : Unit::HEAVY] = t + passes * PIPE_CYCLES;
        sm.statistics->fma += passes * PIPE_CYCLES / p.float_halves;
        break;
    }
    case Unit::ALU:
        pipes[Unit::ALU] = t + PIPE_CYCLES;
        sm.statistics->alu += PIPE_CYCLES;
        break;
    case Unit::DOUBLE:
        pipes[Unit::DOUBLE] = t + p.double_cycles;
        break;
    case Unit::SPECIAL:
        pipes[Unit::SPECIAL] = t + SPECIAL_CYCLES;
        break;
    case Unit::MEMORY:
        pipes[Unit::MEMORY] = t + p.memory_issue;
        break;
    case Unit::TENSOR:
        pipes[Unit::TENSOR] = t + passes;
        break;
    }
}

// Barriers and constants pass the unit for address divergence, shared by all warps, one distinct
// word at a time; returns the end.
static double pass_divergence(const SM &sm, double words, double t)
{
    double &free = sm.shared->divergence_free;
    free = max(free, t) + words * DIVERGENCE_CYCLES;
    return free;
}

// The distinct words of an access to constants, or values of a match; 1 if the trace has none.
static double distinct_words(const SM &sm, int64_t access)
{
    return access < 0 ? 1.0 : sm.accesses[access].wavefronts;
}

// The cycle at which a load has read the results of earlier blocks, if its data arrive at `done`.
// The slowest of these blocks has its result later than this block: on an H200 by half of the time
// that this block took for its own (solutions/scan.cu; 0.75 fits the times). Then the warp reads
// further and further back.
static double await_earlier(const SM &sm, Warp &warp, const CodeRow &row, double t, double done)
{
    if (warp.looked_back)
        return done;
    warp.looked_back = true;
    const Block &block = sm.blocks[warp.place];
    double published = block.published > 0.0 ? block.published : t;
    double all = published + EARLIER_PART * (published - block.started);
    double reads = row.argument == AWAITS_SINGLE ? SINGLE_READS : FURTHER_READS;
    return max(done, all) + reads * (done - t);
}

// Performs a memory access; keeps when a block has its first result for others, and waits for
// theirs.
static Ends exchange(const SM &sm, Warp &warp, const CodeRow &row, int64_t access, double t)
{
    Ends ends = access_memory(sm, warp, row, access, t);
    double &published = sm.blocks[warp.place].published;
    if (row.kind == Kind::STORE && row.argument == PUBLISHES && published == 0.0)
        published = t;
    if (row.kind == Kind::LOAD && row.argument >= AWAITS_EARLIER)
        ends.done = await_earlier(sm, warp, row, t, ends.done);
    return ends;
}

// Executes an instruction at its issue.
static Ends execute(const SM &sm, Partition &partition, Warp &warp, const CodeRow &row,
                    int64_t access, double t)
{
    sm.shared->issuer = &warp - sm.warps;
    switch (row.kind) {
    case Kind::UNTIMED:
    case Kind::VARIABLE: {
        double start = row.unit == Unit::MEMORY ? pass_queue(sm, double(row.passes), t) : t;
        return {start + row.latency, t + READ_CYCLES};
    }
    case Kind::MATCH: {
        double values = distinct_words(sm, access);
        double start = pass_queue(sm, row.passes * values, t);
        return {start + row.latency + MATCH_CYCLES * values, t + READ_CYCLES};
    }
    case Kind::CONSTANT: {
        double end = pass_divergence(sm, distinct_words(sm, access), t);
        return {end + row.latency, end};
    }
    case Kind::SHARED:
    case Kind::LOAD:
    case Kind::STORE:
    case Kind::SURFACE_STORE:
    case Kind::ATOMIC:
    case Kind::COPY:
    case Kind::PREFETCH:
        return exchange(sm, warp, row, access, t);
    case Kind::TEXTURE:
        return read_texture(sm, warp, row, access, t);
    case Kind::OBJECT:
        return change_objects(sm, warp, row, access, t);
    case Kind::PHASE:
        return await_phase(sm, warp, access, t);
    case Kind::BULK_LOAD:
    case Kind::BULK_STORE:
        return copy_bulk(sm, warp, row, access, t);
    case Kind::PRODUCT: {
        double end = multiply_group(sm, partition, warp, row, t);
        return {end, end};
    }
    case Kind::INVALIDATE:
        sm.shared->invalidated = t;
        warp.loads_from = t + sm.p->invalidation;
        return {t, t};
    case Kind::COMMIT:
        warp.groups[warp.committed++ % COPY_GROUPS] = warp.open_copy;
        warp.open_copy = 0.0;
        return {t, t};
    default:
        if (holds_up(row.kind))
            warp.ready = max(warp.ready, end_wait(sm, warp, row.kind, access, t));
        return {t, t};
    }
}

// Issues a warp's next instruction.
static void issue(const SM &sm, Partition &partition, Warp &warp, double t)
{
    const Step &step = sm.steps[warp.position];
    const CodeRow &row = sm.table[step.code];
    sm.statistics->issued += 1;
    warp.latest = step.code;
    if (++warp.position >= warp.last) { // the steps before the one with which it began follow
        warp.position = warp.first;
        warp.last = warp.begun;
        warp.begun = warp.first;
    }
    warp.ready = t + max(1.0, double(row.stall)) + (row.kind == Kind::DELAY ? row.latency : 0);
    if (warp.position < warp.last && sm.steps[warp.position].code != step.code + 1)
        warp.ready += sm.p->jump_cycles;
    read_registers(partition, row, (&warp - sm.warps + 1) << 8, t);
    take_pipe(sm, partition, row, t);
    Ends ends = execute(sm, partition, warp, row, step.access, t);
    if (row.unit == Unit::MEMORY)
        partition.accesses[partition.accessed++ % QUEUED_ACCESSES] = max(sm.shared->lsu_free,
                                                                         sm.shared->tags_free);
    if (sm.shared->released)
        resume_released(sm, t, false);
    if (PROFILED)
        profile_setter(sm, warp, row, ends);
    if (row.write_scoreboard < SCOREBOARDS)
        warp.board[row.write_scoreboard] = max(warp.board[row.write_scoreboard], ends.done);
    if (row.read_scoreboard < SCOREBOARDS)
        warp.board[row.read_scoreboard] = max(warp.board[row.read_scoreboard], ends.read);
    if (warp.position >= warp.last) {
        warp.awaited = NO_OBJECT;
        retire(sm, warp, t);
    } else if (warp.awaited != NO_OBJECT) {
        warp.dependencies_end = NEVER;
    } else if (awaits_blocks(sm.table[sm.steps[warp.position].code])) {
        warp.awaited = OTHER_BLOCKS;
        warp.dependencies_end = NEVER;
    } else if (row.kind == Kind::BARRIER) {
        warp.at_barrier = true;
        warp.dependencies_end = NEVER;
        ++sm.blocks[warp.place].arrived;
        pass_queue(sm, BARRIER_PASSES, t);
        pass_barrier(sm, warp.place, pass_divergence(sm, 1.0, t) + double(row.latency));
    } else {
        int64_t line = sm.steps[warp.position].code / CODE_LINE;
        if (sm.code_lines != nullptr && line != step.code / CODE_LINE)
            warp.ready = max(warp.ready, fetch_code(sm, line, t));
        find_dependencies(sm, warp);
        if (PROFILED)
            profile_next(sm, warp, t + max(1.0, double(row.stall)));
    }
}

// --- running -------------------------------------------------------------------------------------

// The stall counts of a sub-partition's warps stand still while an issue waits: chains of
// instructions that read two registers of a bank take 4, 5, 6 and 8 cycles per instruction with 1
// to 4 warps on an H200 (here 4, 4, 6 and 8).
static void hold_back(const SM &sm, int64_t number, double t, double until)
{
    if (until <= t)
        return;
    for (int64_t w = number; w < sm.warp_count; w += SUB_PARTITIONS) {
        Warp &warp = sm.warps[w];
        if (warp.ready <= t)
            continue;
        warp.ready += until - t;
        warp.dependencies_end = max(warp.dependencies_end, warp.ready);
    }
}

// One cycle of a sub-partition: chooses a warp and issues its next instruction.
static void run_partition(const SM &sm, int64_t number, double t)
{
    Partition &partition = sm.partitions[number];
    if (partition.next_ready > t)
        return;
    Choice choice = choose_warp(sm, number, t);
    if (choice.warp < 0) {
        if (PROFILED)
            profile_turn(sm, number, find_free(sm, partition).units, choice.warp, t, t);
        partition.next_ready = choice.wake < NEVER ? max(choice.wake, t + 1.0) : NEVER;
        return;
    }
    partition.latest = choice.warp;
    double at = max(t, partition.read_ready);
    hold_back(sm, number, t, at);
    const CodeRow &row = sm.table[sm.steps[sm.warps[choice.warp].position].code];
    bool wide = row.unit == Unit::HEAVY && row.passes > 1;
    partition.next_ready = at + (wide ? WIDE_CYCLES : 1.0);
    if (PROFILED)
        profile_turn(sm, number, find_free(sm, partition).units, choice.warp, t, at);
    issue(sm, partition, sm.warps[choice.warp], at);
}

#if PROFILED
#define emulator_simulate emulator_simulate_profiled
#endif
// Runs the blocks of the SM's order; results are in `ends` and `statistics`.
EXPORT void emulator_simulate(const SM &sm)
{
    double t = 0.0;
    for (int64_t slot = 0; slot < sm.block_count && slot < sm.order_count; ++slot)
        start_block(sm, slot, 0.0);
    for (uint32_t turn = 1;; ++turn) { // sub-partitions take turns at shared units
        for (uint32_t offset = 0; offset < SUB_PARTITIONS; ++offset)
            run_partition(sm, (turn + offset) % SUB_PARTITIONS, t);
        double following = NEVER;
        for (uint32_t number = 0; number < SUB_PARTITIONS; ++number)
            following = min(following, sm.partitions[number].next_ready);
        if (sm.shared->ended >= sm.order_count)
            break;
        if (following >= NEVER) {
            if (!resume_released(sm, t, true))
                break;
            continue;
        }
        t = max(t + 1.0, __builtin_ceil(following));
    }
    sm.statistics->cycles = t;
}

} // namespace timing
