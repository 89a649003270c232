// Warps that wait in a loop for a value that another thread writes: a spin lock, a flag.
//
// If a kernel reads values that others may write meanwhile, a warp runs for a slice of
// instructions. Then its loop is examined. The warp waits if its path reaches the same basic block
// again, has read such a value, and no register has changed. It also waits if the block certainly
// reads for others (`sure`) and at most FEW_REGISTERS registers have changed: the loop may count
// its rounds. Then the other warps have a turn. In each of its turns, a waiting warp runs its loop
// once. The number of rounds is a matter of time, so they leave no trace and do not move the clock.
#include <ctime>

#include "timing/tracing.h"
#include "warps/barrier_objects.h"
#include "warps/blocks.h"

constexpr int64_t LONGEST_WAITING_SLICE = 1 << 14, LONGEST_SLICE = 1 << 20;
constexpr uint32_t LONGEST_LOOP = 64; // in basic blocks
constexpr uint32_t LEAST_SPENT = 256; // instructions that an interrupted turn counts at least
constexpr uint32_t FEW_REGISTERS = 2;
constexpr uint32_t PATIENCE = 3; // turns without a change until the warp counts as stalled

// --- running for so many instructions ------------------------------------------------------------

static void put_aside(Context &context, int64_t instructions)
{
    context.budget -= instructions;
    context.block_budget -= instructions;
}

// The instruction budget or the processor time is spent. Counts the next block as executed, so that
// the total exceeds the budget.
COLD uint32_t overrun(Context &context, const Warp &warp)
{
    uint64_t *counts = context.block_counts + uint64_t(warp.pc) * COUNTS_PER_BLOCK;
    counts[0] += 1;
    counts[1] += count_lanes(warp.mask);
    context.budget -= context.code_blocks[warp.pc].length;
    return context.fault_code = FaultCode::BUDGET;
}

static int64_t processor_time()
{
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Moves instructions from the reserve to the budget; false if none are left or the time is spent.
COLD bool extend_budget(Context &context)
{
    if (context.reserve <= 0 || processor_time() >= context.processor_end)
        return false;
    int64_t more = context.reserve < BUDGET_STRETCH ? context.reserve : BUDGET_STRETCH;
    context.reserve -= more;
    put_aside(context, -more);
    return true;
}

// Runs until every path waits or has ended (NONE), or until `length` instructions are executed
// (SLICE_END). Returns one of these or a FaultCode.
HOT uint32_t run_for(Context &context, Warp &warp, int64_t length)
{
    for (;;) {
        int64_t aside = context.budget > length ? context.budget - length : 0;
        put_aside(context, aside);
        uint32_t code = FaultCode::NONE;
        while ((warp.mask & ~warp.at_barrier) != 0) {
            const uint8_t *cells = warp.mask == warp.live ? context.converged : context.diverged;
            const uint8_t *cell = cells + context.entries[warp.pc];
            code = (*reinterpret_cast<Step *const *>(cell))(&context, &warp, cell);
            if (code != DISPATCH)
                break;
            code = FaultCode::NONE;
        }
        put_aside(context, -aside);
        if (likely(code != SLICE_END || aside != 0))
            return code;
        if (!extend_budget(context))
            return overrun(context, warp);
    }
}

static uint32_t run_one_block(Context &context, Warp &warp)
{
    return run_for(context, warp, context.code_blocks[warp.pc].length);
}

// Runs to the end of the slice (SLICE_END), or as run_for. A turn that ends at an atomic counts
// towards the slice because a waiting loop may consist of atomics.
static uint32_t run_slice(Context &context, Warp &warp)
{
    int64_t before = context.budget;
    warp.since = warp.clock;
    uint32_t code = run_for(context, warp, int64_t(warp.slice) - warp.spent);
    if (code == DRAWS) {
        int64_t executed = before - context.budget;
        int64_t spent = warp.spent + (executed > LEAST_SPENT ? executed : LEAST_SPENT);
        warp.spent = spent < warp.slice ? uint32_t(spent) : warp.slice;
        return code;
    }
    warp.spent = 0;
    if (code != SLICE_END)
        warp.slice = FIRST_SLICE;
    return code;
}

// --- one round of a loop -------------------------------------------------------------------------

constexpr uint64_t ROW = WARP_LANES * sizeof(uint32_t);

// A copy of a warp's registers (one row each), predicates and uniform registers.
struct Held {
    uint8_t *bytes;
    uint64_t rows;

    Held(const Context &context, const Warp &warp) : rows((context.warp_bytes - sizeof(Warp)) / ROW)
    {
        bytes = static_cast<uint8_t *>(__builtin_malloc(rows * ROW + own_bytes));
        memcpy(bytes, &warp + 1, rows * ROW);
        memcpy(bytes + rows * ROW, warp.uniform, own_bytes);
    }
    ~Held() { __builtin_free(bytes); }
    Held(const Held &) = delete;

    uint32_t changed(const Warp &warp) const
    {
        uint32_t count = memcmp(bytes + rows * ROW, warp.uniform, own_bytes) != 0;
        auto now = reinterpret_cast<const uint8_t *>(&warp + 1);
        for (uint64_t row = 0; row < rows && count <= FEW_REGISTERS; ++row)
            count += memcmp(bytes + row * ROW, now + row * ROW, ROW) != 0;
        return count;
    }

    static constexpr uint64_t own_bytes = sizeof Warp::uniform + sizeof Warp::predicates +
                                          sizeof Warp::uniform_predicates;
};
static_assert(offsetof(Warp, predicates) == offsetof(Warp, uniform) + sizeof Warp::uniform);
static_assert(offsetof(Warp, uniform_predicates) ==
              offsetof(Warp, predicates) + sizeof Warp::predicates);

// Registers after a round of the loop: unchanged; at most FEW_REGISTERS changed; not a waiting
// loop.
enum class Loop { STILL, COUNTS, MOVES };

// Runs one round of a loop and stops at the loop's first basic block in the code. Returns SLICE_END
// with the kind of the loop in `found`, or the result of run_for. `elsewhere`: the path only waits for
// the warp's other paths, which run instead.
static uint32_t go_round(Context &context, Warp &warp, Loop &found, bool &elsewhere)
{
    found = Loop::MOVES;
    elsewhere = false;
    bool sure = false;
    uint32_t start = warp.pc, mask = warp.mask, first = start, shared_read = 0, left = LONGEST_LOOP;
    Held before(context, warp);
    const uint32_t *trace = warp.trace;
    int64_t budget = context.budget;
    uint32_t visited[LONGEST_LOOP], blocks = 0;
    do {
        visited[blocks++] = warp.pc;
        if (warp.mask == mask && warp.pc < first)
            first = warp.pc;
        const CodeBlock &block = context.code_blocks[warp.pc];
        if (block.shared_read != 0 && (shared_read == 0 || block.sure)) {
            shared_read = block.shared_read;
            sure |= block.sure != 0;
        }
        uint32_t code = run_one_block(context, warp);
        if (code != SLICE_END)
            return code;
        elsewhere |= left == LONGEST_LOOP && warp.mask != mask;
    } while ((warp.pc != start || warp.mask != mask) && --left != 0);
    if (left == 0)
        return SLICE_END;
    int64_t words = warp.trace - trace, instructions = budget - context.budget;
    uint32_t changed = before.changed(warp);
    if (shared_read == 0 || changed > (sure ? FEW_REGISTERS : 0))
        return SLICE_END;
    found = changed == 0 ? Loop::STILL : Loop::COUNTS;
    warp.waits_at = shared_read - 1;
    for (left = LONGEST_LOOP; (warp.pc != first || warp.mask != mask) && left != 0; --left) {
        uint32_t code = run_one_block(context, warp);
        if (code != SLICE_END)
            return code;
    }
    for (; changed == 0 && blocks != 0; --blocks)
        context.waits_in[visited[blocks - 1]] = 1;
    if (changed == 0)
        forget_rounds(context, warp, words, instructions);
    return SLICE_END;
}

// --- a turn --------------------------------------------------------------------------------------

static uint32_t end_turn(Context &context, Warp &warp, bool changed, bool waits)
{
    context.waited |= waits;
    warp.stale = changed ? 0 : warp.stale + 1;
    return warp.stale >= PATIENCE ? STALLED : WAITS;
}

// Examines the loop after the end of a slice, or if the warp waited before.
COLD uint32_t examine_and_run_on(Context &context, Warp &warp)
{
    bool changed = !warp.waits, waits = false;
    uint32_t waiting = 0; // consecutive paths that wait
    int64_t begun = warp.waits ? warp.clock : NEVER; // when it began to wait
    for (;;) {
        Loop loop;
        bool elsewhere;
        int64_t horizon = context.horizon, clock = begun != NEVER ? begun : warp.since;
        context.horizon = NEVER;
        uint32_t code = go_round(context, warp, loop, elsewhere);
        if (code == SLICE_END && loop == Loop::COUNTS) { // or has it read a new value?
            changed = true;
            code = go_round(context, warp, loop, elsewhere);
        }
        context.horizon = horizon;
        warp.waits = code == SLICE_END && loop == Loop::STILL;
        if (warp.waits)
            warp.clock = begun = clock; // the rounds are a matter of time
        else if (!elsewhere)
            begun = NEVER;
        if (code != SLICE_END) {
            warp.slice = FIRST_SLICE;
            return code;
        }
        int64_t longest = loop == Loop::COUNTS ? LONGEST_WAITING_SLICE : LONGEST_SLICE;
        changed |= loop != Loop::STILL;
        waits |= loop != Loop::MOVES;
        context.counting += loop == Loop::COUNTS;
        bool long_turn = warp.slice >= LONGEST_SLICE;
        warp.slice = loop == Loop::STILL        ? FIRST_SLICE
                     : 2 * warp.slice < longest ? 2 * warp.slice
                                                : longest;
        if (loop == Loop::MOVES && !long_turn)
            waiting = 0;
        else if (++waiting <= change_path(warp))
            continue;
        else if (!pass_barrier(warp))
            return end_turn(context, warp, changed, waits);
        else {
            changed = true;
            change_path(warp);
            continue;
        }
        code = run_slice(context, warp);
        if (code != SLICE_END)
            return code;
        if (unlikely(warp.clock - context.started >= context.late_from))
            trace_late(context);
    }
}

static uint32_t run_on(Context &context, Warp &warp)
{
    uint32_t code;
    while ((code = run_for(context, warp, FIRST_SLICE)) == SLICE_END)
        if (unlikely(warp.clock - context.started >= context.late_from))
            trace_late(context);
    return code;
}

uint32_t run_warp(Context &context, Warp &warp)
{
    if ((warp.mask & ~warp.at_barrier) == 0)
        return FaultCode::NONE;
    if (unlikely(warp.clock - context.started >= context.late_from))
        trace_late(context);
    if (likely(!context.may_wait))
        return run_on(context, warp);
    if (likely(!warp.waits)) {
        uint32_t code = run_slice(context, warp);
        if (likely(code != SLICE_END))
            return code;
    }
    return examine_and_run_on(context, warp);
}

uint32_t blame_waiting(Context &context)
{
    context.fault_code = FaultCode::ENDLESS_WAIT;
    for (const Warp &warp : Warps{context}) {
        if (!warp.waits)
            continue;
        context.fault_warp = warp.index;
        context.fault_lane = lowest_lane(warp.mask);
        context.fault_instruction = warp.waits_at;
        return context.fault_code;
    }
    blame_path(context);
    return context.fault_code;
}
