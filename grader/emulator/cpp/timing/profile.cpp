// Assigns each cycle of each simulated warp to an instruction and a stall reason. The simulation
// does not depend on it.
//
// The dependencies of a warp's next instruction are known when the previous instruction issues, and
// their cycles are assigned then. Later cycles are assigned by the sub-partition in each of its
// turns.
#include "timing/timing.h"

namespace timing {

constexpr int64_t NONE = -1;

// The index of a warp on the SM.
static int64_t slot_of(const SM &sm, const Warp &warp) { return &warp - sm.warps; }

static int64_t next_code(const SM &sm, const Warp &warp) { return sm.steps[warp.position].code; }

// Appends what a warp does from a cycle on; a continued span grows.
static void keep_span(const SM &sm, int64_t w, const Span &span)
{
    Profile &profile = *sm.profile;
    if (profile.span_capacity == 0)
        return;
    int64_t &latest = profile.latest[w];
    if (latest >= 0) {
        Span &before = profile.spans[latest];
        bool on = before.start + before.length == span.start && before.block == span.block;
        if (on && before.code == span.code && before.stall == span.stall) {
            before.length += span.length;
            return;
        }
    }
    if (profile.span_count == profile.span_capacity) {
        profile.filled_at = min(profile.filled_at, double(span.start));
        latest = NONE;
        return;
    }
    latest = profile.span_count++;
    profile.spans[latest] = span;
}

// Assigns a warp's unassigned cycles up to `until` to an instruction and a stall reason; `cause` is
// the instruction that it waits for.
static void assign(const SM &sm, int64_t w, int64_t code, uint32_t stall, double until,
                   int64_t cause = NONE)
{
    Profile &profile = *sm.profile;
    double from = profile.assigned_until[w];
    until = __builtin_ceil(until);
    if (until <= from)
        return;
    profile.assigned_until[w] = until;
    profile.cycles[code * STALLS + stall] += until - from;
    if (cause >= 0)
        profile.awaited[cause] += until - from;
    int64_t block = sm.blocks[sm.warps[w].place].number;
    keep_span(sm, w,
              {int64_t(from), int64_t(until - from), int32_t(w), int32_t(block), int32_t(code),
               int32_t(cause), int32_t(stall), 0});
}

// The stall reason of an instruction whose unit is busy.
static uint32_t throttle_of(const CodeRow &row)
{
    if (row.unit != Unit::MEMORY)
        return Stall::MATH_PIPE_THROTTLE;
    return is_global(row.kind) ? Stall::LG_THROTTLE : Stall::MIO_THROTTLE;
}

// Assigns the cycles in which a warp's next instruction waits for scoreboards or groups of copies;
// the cause is the last of them to be ready.
static void assign_scoreboards(const SM &sm, const Warp &warp)
{
    int64_t w = slot_of(sm, warp), code = next_code(sm, warp), cause = NONE;
    const CodeRow &row = sm.table[code];
    double latest = warp.ready;
    for (uint32_t scoreboard : Lanes{uint32_t(row.wait_mask)})
        if (warp.board[scoreboard] > latest) {
            latest = warp.board[scoreboard];
            cause = sm.profile->setters[w * SCOREBOARDS + scoreboard];
        }
    if (latest < warp.dependencies_end) // it waits for a group
        cause = NONE;
    bool is_long = cause < 0 || is_global(sm.table[cause].kind);
    assign(sm, w, code, is_long ? Stall::LONG_SCOREBOARD : Stall::SHORT_SCOREBOARD,
           warp.dependencies_end, cause);
}

void profile_start(const SM &sm, const Warp &warp)
{
    Profile &profile = *sm.profile;
    int64_t w = slot_of(sm, warp);
    profile.assigned_until[w] = __builtin_ceil(warp.ready);
    profile.latest[w] = NONE;
    for (uint32_t scoreboard = 0; scoreboard < SCOREBOARDS; ++scoreboard)
        profile.setters[w * SCOREBOARDS + scoreboard] = NONE;
    profile.resident_cycles -= profile.assigned_until[w];
}

void profile_end(const SM &sm, double t) { sm.profile->resident_cycles += t + 1.0; }

void profile_setter(const SM &sm, const Warp &warp, const CodeRow &row, Ends ends)
{
    int64_t *setters = sm.profile->setters + slot_of(sm, warp) * SCOREBOARDS;
    int64_t code = &row - sm.table, write = row.write_scoreboard, read = row.read_scoreboard;
    if (write < SCOREBOARDS && ends.done >= warp.board[write])
        setters[write] = code;
    if (read < SCOREBOARDS && ends.read >= warp.board[read])
        setters[read] = code;
}

// The stall reason after an instruction that delays its warp.
static uint32_t held_by(int64_t kind)
{
    if (kind == Kind::SLEEP)
        return Stall::SLEEPING;
    if (kind == Kind::INDIRECT)
        return Stall::BRANCH_RESOLVING;
    return kind == Kind::CALL ? Stall::LONG_SCOREBOARD : Stall::MEMBAR;
}

void profile_next(const SM &sm, const Warp &warp, double counted)
{
    int64_t w = slot_of(sm, warp), code = next_code(sm, warp), before = warp.latest;
    assign(sm, w, code, Stall::WAIT, counted);
    if (holds_up(sm.table[before].kind))
        assign(sm, w, code, held_by(sm.table[before].kind), warp.ready, before);
    else if (code != before + 1)
        assign(sm, w, code, Stall::BRANCH_RESOLVING, min(warp.ready, counted + sm.p->jump_cycles));
    assign(sm, w, code, Stall::NO_INSTRUCTION, warp.ready);
    assign_scoreboards(sm, warp);
}

void profile_release(const SM &sm, const Warp &warp, double t)
{
    assign(sm, slot_of(sm, warp), warp.latest, Stall::BARRIER, t);
    profile_next(sm, warp, warp.ready);
}

void profile_turn(const SM &sm, int64_t number, const double *units, int64_t chosen, double t,
                  double at)
{
    double &issued_until = sm.profile->issued_until[number];
    for (int64_t w = number; w < sm.warp_count; w += SUB_PARTITIONS) {
        const Warp &warp = sm.warps[w];
        if (warp.dependencies_end > t)
            continue;
        int64_t code = next_code(sm, warp);
        uint32_t throttle = throttle_of(sm.table[code]);
        double free = units[warp.unit];
        assign(sm, w, code, throttle, min(t, free)); // since the last turn
        assign(sm, w, code, Stall::DISPATCH_STALL, min(t, issued_until));
        assign(sm, w, code, throttle, t);
        if (w == chosen) {
            assign(sm, w, code, Stall::DISPATCH_STALL, at);
            assign(sm, w, code, Stall::SELECTED, at + 1.0);
        } else {
            assign(sm, w, code, free > t ? throttle : Stall::NOT_SELECTED, t + 1.0);
        }
    }
    if (chosen >= 0)
        issued_until = sm.partitions[number].next_ready;
}

} // namespace timing
