// What holds up a warp of the simulated SM without a unit of its own: sleeps, fences, calls of the
// system, and instructions that have to be fetched.
#include "timing/timing.h"

namespace timing {

// A sleep ends as the GPU's timer passes a multiple of this power of two nanoseconds, the first one
// that is no less than what was asked for: of 100, 500, 2,000, 10,000, 100,000 and 1,000,000 ns an
// H200 makes 128 to 1,048,576 from sleep to sleep, and any part of it at first.
constexpr double LEAST_SLEEP_NS = 64.0;
// The first of the addresses of the system's functions (memory.HOST_FUNCTIONS), apart.
constexpr int64_t FUNCTIONS_APART = 256, PRINTS = 1, ALLOCATES = 3, FREES = 4;
// Lines of instructions that warps which follow another one closely find.
constexpr int64_t CLOSE_LINES = 256;

static double end_sleep(const SM &sm, double ns, double t)
{
    double grid = LEAST_SLEEP_NS;
    while (grid < ns)
        grid *= 2.0;
    grid *= sm.p->ns_cycles;
    double before = grid /
                    2.0; // since a multiple, when the launch began: half of it on the average
    return (__builtin_floor((t + before) / grid) + 1.0) * grid - before;
}

// Fences of the system go together: those that come while some are under way wait for these, then
// take as long.
static double end_system_fence(const SM &sm, double t)
{
    double &end = sm.shared->fence_end, &next = sm.shared->next_fence_end;
    double latency = sm.p->system_fence;
    if (t >= next) {
        end = next = t + latency;
    } else if (t >= end) {
        end = next;
        next = end + latency;
    } else if (next == end) {
        next = end + latency;
    }
    return next;
}

// When the L2 has answered all that a warp has stored; later where other warps of the SM store,
// too.
static double stores_answered(const SM &sm, const Warp &warp, double t)
{
    const Shared &shared = *sm.shared;
    double others = shared.storer == &warp - sm.warps ? shared.stored_before : shared.stored;
    double answer = warp.stored + sm.p->store_answer;
    return others > 0.0 && others + sm.p->store_answer > t ? answer + sm.p->busy_answer : answer;
}

// Fences of an SM pass one after another. One for more than the block ends when the L2 has answered
// what its warp has stored since the last one, and then the fence.
static double end_fence(const SM &sm, Warp &warp, int64_t kind, double t)
{
    const Parameters &p = *sm.p;
    bool stored = warp.stored > 0.0, of_block = kind == Kind::FENCE_BLOCK;
    double answered = stored && !of_block ? stores_answered(sm, warp, t) : 0.0;
    warp.stored = 0.0;
    if (kind == Kind::FENCE_SYSTEM)
        return max(end_system_fence(sm, t), answered);
    double &free = sm.shared->fence_free, begin = max(free, t);
    free = begin + (stored || !of_block ? p.fence_pass : p.empty_fence_pass);
    return of_block ? max(t + p.block_fence, free) : max(begin, answered) + p.gpu_fence;
}

// All SMs' calls of a function go one after another.
static double end_call(const SM &sm, const Access &access, double t)
{
    const Parameters &p = *sm.p;
    int64_t function = access.wavefronts / FUNCTIONS_APART;
    bool heap = function == ALLOCATES || function == FREES;
    if (function != PRINTS && !heap)
        return t;
    double more = double(access.lanes) - 1.0, &free = sm.shared->system_free;
    double pass = heap ? p.heap_pass + more * p.heap_lane : p.print_pass + more * p.print_lane;
    free = max(free, t) + pass;
    sm.statistics->calls += 1.0;
    sm.statistics->call_cycles += pass;
    return max(free, t + (heap ? p.heap_latency : p.print_latency));
}

bool holds_up(int64_t kind)
{
    return kind == Kind::SLEEP || kind == Kind::FENCE_BLOCK || kind == Kind::FENCE_GPU ||
           kind == Kind::FENCE_SYSTEM || kind == Kind::CALL || kind == Kind::INDIRECT;
}

double end_wait(const SM &sm, Warp &warp, int64_t kind, int64_t access, double t)
{
    double end = t;
    switch (kind) {
    case Kind::SLEEP:
        end = access < 0 ? t : end_sleep(sm, double(sm.accesses[access].wavefronts), t);
        sm.statistics->slept += end - t;
        break;
    case Kind::CALL:
        end = access < 0 ? t : end_call(sm, sm.accesses[access], t);
        sm.statistics->called += end - t;
        break;
    case Kind::INDIRECT:
        end = t + sm.p->indirect_jump;
        break;
    default:
        end = end_fence(sm, warp, kind, t);
        sm.statistics->fenced += end - t;
        break;
    }
    return end;
}

double fetch_code(const SM &sm, int64_t code, double t)
{
    int64_t &known = sm.code_lines[code], &fetched = sm.shared->fetched;
    if (known > 0 && fetched - known < CLOSE_LINES)
        return t;
    double &free = sm.shared->fetch_free, cycles = sm.p->fetch_line;
    free = max(free, t - cycles) + cycles; // the next line is asked for with this one
    known = ++fetched;
    sm.statistics->awaiting_code += max(0.0, free - t);
    return max(free, t);
}

} // namespace timing
