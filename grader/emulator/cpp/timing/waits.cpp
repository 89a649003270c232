// Delays of a simulated warp without a unit: sleeps, fences, system calls, instruction fetches.
#include "timing/timing.h"

namespace timing {

// A sleep ends when the GPU's timer passes a multiple of a power of two nanoseconds, the smallest
// power that is at least the requested time: for 100, 500, 2,000, 10,000, 100,000 and 1,000,000 ns,
// an H200 sleeps 128 to 1,048,576 ns from sleep to sleep; the first sleep is any part of that.
constexpr double LEAST_SLEEP_NS = 64.0;
// Distance of the addresses of system functions (memory.HOST_FUNCTIONS), and indices of functions.
constexpr int64_t FUNCTIONS_APART = 256, PRINTS = 1, ALLOCATES = 3, FREES = 4;
// Lines of instructions that a closely following warp still finds.
constexpr int64_t CLOSE_LINES = 256;

static double end_sleep(const SM &sm, double ns, double t)
{
    double grid = LEAST_SLEEP_NS;
    while (grid < ns)
        grid *= 2.0;
    grid *= sm.p->ns_cycles;
    // Time since a multiple at the launch: on average half of it.
    double before = grid / 2.0;
    return (__builtin_floor((t + before) / grid) + 1.0) * grid - before;
}

// While a fence passes, nothing else moves between the SM and the L2: an H200 needs the sum of the
// times of fences and of loads and stores (costs/fences_beside_traffic.cu).
static void hold_up_memory(const SM &sm, double cycles, double t)
{
    Shared &shared = *sm.shared;
    shared.port_free = max(shared.port_free, t) + cycles;
    shared.store_port_free = max(shared.store_port_free, t) + cycles;
    shared.l2_free = max(shared.l2_free, t) + cycles;
    shared.dram_free = max(shared.dram_free, t) + cycles;
}

// System fences run together: all fences that start during another wait for its end, and then share
// one latency.
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

// The cycle at which the L2 has acknowledged all stores of a warp; later if other warps of the SM
// store.
static double stores_answered(const SM &sm, const Warp &warp, double t)
{
    const Shared &shared = *sm.shared;
    double others = shared.storer == &warp - sm.warps ? shared.stored_before : shared.stored;
    double answer = warp.stored + sm.p->store_answer;
    return others > 0.0 && others + sm.p->store_answer > t ? answer + sm.p->busy_answer : answer;
}

// Fences of an SM are serialised. A fence wider than the block waits until the L2 has acknowledged
// the warp's stores since its last fence, and then for its own latency.
static double end_fence(const SM &sm, Warp &warp, int64_t kind, double t)
{
    const Parameters &p = *sm.p;
    bool stored = warp.stored > 0.0, of_block = kind == Kind::FENCE_BLOCK;
    double answered = stored && !of_block ? stores_answered(sm, warp, t) : 0.0;
    warp.stored = 0.0;
    if (!of_block)
        hold_up_memory(sm, kind == Kind::FENCE_SYSTEM ? p.system_fence_pass : p.fence_pass, t);
    if (kind == Kind::FENCE_SYSTEM)
        return max(end_system_fence(sm, t), answered);
    double &free = sm.shared->fence_free, begin = max(free, t);
    free = begin + (stored || !of_block ? p.fence_pass : p.empty_fence_pass);
    return of_block ? max(t + p.block_fence, free) : max(begin, answered) + p.gpu_fence;
}

// Calls of a function are serialised over all SMs.
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
    free = max(free, t - cycles) + cycles; // the next line is requested with this line
    known = ++fetched;
    sm.statistics->awaiting_code += max(0.0, free - t);
    return max(free, t);
}

} // namespace timing
