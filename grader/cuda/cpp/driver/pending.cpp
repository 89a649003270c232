// Pending operations: the program has issued them, and nothing has waited for them yet.
//
// A wait performs the operations that it needs, and no copy from or to the host that it does not
// need. Among operations that nothing orders, the last issued comes first: a result that needs
// another order lacks a dependency. With a seed, the order is drawn.
#include "driver/driver.h"

#include <csignal>
#include <pthread.h>
#include <random>
#include <unistd.h>

namespace {

// Most operations in the queue, and bytes of staged copies; waits after which an operation is
// performed although no wait needs it, because a GPU would make progress, too.
constexpr size_t most_pending = 1024, most_waits = 100;
constexpr useconds_t silence = 500'000;

struct Pending {
    CUcontext context;
    uint64_t stream, waits;
    bool blocking;
    Deferred kind;
    std::vector<uint64_t> after;
    std::function<void()> work;
};

// By number, in the order of the calls.
using Queue = std::map<uint64_t, Pending>;

Queue &queue()
{
    static auto &instance = *new Queue;
    return instance;
}

bool is_blocking(const CUstream_st &stream) { return !(stream.flags & CU_STREAM_NON_BLOCKING); }

// The operations that the next operation of a stream follows: the last of each stream.
std::vector<uint64_t> find_last(const CUstream_st &stream)
{
    bool legacy = stream.number == 0;
    std::map<uint64_t, uint64_t> last;
    for (auto &[number, each] : queue()) {
        bool own = each.stream == stream.number;
        bool other = legacy ? each.blocking : is_blocking(stream) && each.stream == 0;
        if (legacy || other ? each.context == stream.context && (own || other) : own)
            last[each.stream] = number;
    }
    std::vector<uint64_t> numbers;
    for (auto [each, number] : last)
        numbers.push_back(number);
    return numbers;
}

void add_earlier(uint64_t number, std::set<uint64_t> &needed)
{
    std::vector<uint64_t> found = {number};
    while (!found.empty()) {
        auto at = queue().find(found.back());
        found.pop_back();
        if (at != queue().end() && needed.insert(at->first).second)
            found.insert(found.end(), at->second.after.begin(), at->second.after.end());
    }
}

bool is_ready(const Pending &each)
{
    auto waits_for = [](uint64_t number) { return queue().count(number) != 0; };
    return std::none_of(each.after.begin(), each.after.end(), waits_for);
}

// An order that the program cannot predict.
Queue::iterator draw()
{
    static std::mt19937_64 random(state().order_seed);
    std::vector<Queue::iterator> ready;
    for (auto at = queue().begin(); at != queue().end(); ++at)
        if (is_ready(at->second))
            ready.push_back(at);
    return ready[random() % ready.size()];
}

Queue::iterator choose(const std::set<uint64_t> &needed)
{
    if (state().order_seed && !queue().empty())
        return draw();
    for (auto at = queue().end(); at != queue().begin();) {
        --at;
        bool allowed = at->second.kind != Deferred::with_host || needed.count(at->first);
        if (allowed && is_ready(at->second))
            return at;
    }
    return queue().end();
}

template <class Test> void finish_where(Test test)
{
    std::set<uint64_t> needed;
    for (auto &[number, each] : queue())
        if (test(each))
            add_earlier(number, needed);
    while (!needed.empty()) {
        auto at = choose(needed);
        if (at == queue().end())
            return;
        needed.erase(at->first);
        Pending pending = std::move(at->second);
        queue().erase(at);
        if (pending.work)
            pending.work();
    }
}

// A program may poll memory that a pending operation writes: without calls, there is progress too.
void *watch(void *)
{
    for (uint64_t calls = 0;;) {
        usleep(silence);
        std::lock_guard<std::mutex> lock(state().mutex);
        state().watching = true;
        if (state().calls == calls)
            finish_all();
        calls = state().calls;
        state().watching = false;
    }
}

bool start_watch()
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, nullptr, watch, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started && pthread_detach(thread) == 0;
}

} // namespace

void start_deferring()
{
    State &s = state();
    s.deferring = s.deferring || start_watch();
}

uint64_t defer(CUstream stream, Deferred kind, std::function<void()> work, uint64_t after)
{
    State &s = state();
    if (!s.deferring) {
        work();
        return 0;
    }
    if (queue().size() >= most_pending)
        finish_all();
    auto numbers = find_last(*stream);
    if (after)
        numbers.push_back(after);
    uint64_t number = ++s.deferred;
    queue()[number] = {stream->context,      stream->number, s.waits, is_blocking(*stream), kind,
                       std::move(numbers), std::move(work)};
    return number;
}

void finish_all()
{
    finish_where([](const Pending &) { return true; });
}

void finish_earlier(const CUstream_st &stream)
{
    for (uint64_t number : find_last(stream))
        finish(number);
}

void finish_stream(CUcontext context, uint64_t stream)
{
    finish_where([&](const Pending &each) {
        bool own = each.stream == stream || (stream == 0 && each.blocking);
        return own && (stream || each.context == context);
    });
}

void finish_device(int device)
{
    finish_where([&](const Pending &each) { return each.context->device == device; });
}

void finish_launches()
{
    finish_where([](const Pending &each) { return each.kind == Deferred::launch; });
}

void finish(uint64_t number)
{
    if (number && queue().count(number))
        finish_where([&, at = &queue().at(number)](const Pending &each) { return &each == at; });
}

void count_wait()
{
    uint64_t now = ++state().waits;
    finish_where([&](const Pending &each) { return each.waits + most_waits < now; });
}
