// In checked sessions: host memory that outstanding work uses. The program's first access to memory
// that the work writes is a fault, and its first write to memory that the work reads, so that an
// access before the synchronisation is found.
#include "driver/driver.h"

#include <sys/mman.h>

namespace {

// Contents that are kept to find out whether a kernel has written them.
constexpr size_t most_contents = 16 << 20;

// `after`: streams and events that are complete only after this work; 0 is the default stream.
// `contents`: of managed memory before the kernel, in the touched page from `touched` on.
struct Guard {
    CUdeviceptr start, end;         // as the program has them
    CUdeviceptr first, last;        // the guarded pages
    std::set<uint64_t> after;
    Site site;
    std::string call;
    bool source = false; // the work reads the memory
    std::string contents = {};
    CUdeviceptr touched = 0;
    std::vector<uintptr_t> reader = {};
};

std::vector<Guard> &guards()
{
    static auto &instance = *new std::vector<Guard>;
    return instance;
}

void allow(const Guard &guard, int rights)
{
    mprotect(reinterpret_cast<void *>(guard.first), guard.last - guard.first, rights);
}

// Pages that contain other memory of the program are not guarded.
void add(const Allocation &memory, Guard guard)
{
    CUdeviceptr start = memory.user ? reinterpret_cast<CUdeviceptr>(memory.user) : memory.address;
    bool own_pages = !memory.user;
    bool from_start = own_pages && guard.start == start;
    bool to_end = own_pages && guard.end == start + memory.bytes;
    guard.first = (from_start ? guard.start : guard.start + page - 1) / page * page;
    guard.last = (to_end ? guard.end + page - 1 : guard.end) / page * page;
    if (guard.first >= guard.last)
        return;
    allow(guard, guard.source ? PROT_READ : PROT_NONE);
    guards().push_back(std::move(guard));
}

bool precedes(const Guard &guard, uint64_t number)
{
    return !number || guard.after.count(0) || guard.after.count(number);
}

// A kernel that has written what the program read.
void compare(const Guard &guard)
{
    if (!guard.touched)
        return;
    CUdeviceptr from = std::max(guard.touched / page * page, guard.start);
    CUdeviceptr to = std::min(guard.touched / page * page + page, guard.end);
    Site site;
    site.frames = guard.reader;
    if (memcmp(guard.contents.data() + (from - guard.start), host_view(from), to - from))
        report_finding("early_managed_read", guard.touched, 0, "kernel=" + guard.call + "\n", site);
}

template <class Test> void complete(Test test)
{
    auto &all = guards();
    for (size_t i = 0; i < all.size();) {
        if (!test(all[i])) {
            ++i;
            continue;
        }
        Guard guard = std::move(all[i]);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        allow(guard, PROT_READ | PROT_WRITE);
        compare(guard);
    }
}

} // namespace

void guard_copy(CUstream stream, CUdeviceptr address, size_t bytes, bool source)
{
    const Allocation *memory = state().check ? find_allocation(address) : nullptr;
    if (!memory || !memory->on_host())
        return;
    Site site = allocation_site();
    add(*memory, {address, address + bytes, 0, 0, {stream->number}, site, site.call(), source});
}

void guard_parameters(CUstream stream, const Launch &launch)
{
    if (!state().check)
        return;
    for (CUdeviceptr value : launch.addresses()) {
        const Allocation *memory = in_window(value) ? find_allocation(value) : nullptr;
        if (!memory || memory->kind != Kind::managed || memory->bytes > most_contents)
            continue;
        CUdeviceptr start = memory->address, end = start + memory->bytes;
        auto known = [&](const Guard &guard) { return guard.first < end && start < guard.last; };
        if (std::any_of(guards().begin(), guards().end(), known))
            continue;
        std::string contents(host_view(start), memory->bytes);
        add(*memory, {start, end, 0, 0, {stream->number}, allocation_site(),
                      launch.function->name, false, std::move(contents)});
    }
}

void complete_guards(uint64_t stream)
{
    complete([&](const Guard &guard) { return precedes(guard, stream); });
}

void complete_guards_of_event(uint64_t event)
{
    complete([&](const Guard &guard) { return guard.after.count(event) != 0; });
}

void mark_event(uint64_t event, uint64_t stream)
{
    for (Guard &guard : guards()) {
        guard.after.erase(event);
        if (precedes(guard, stream))
            guard.after.insert(event);
    }
}

void mark_stream(uint64_t stream, uint64_t event)
{
    for (Guard &guard : guards())
        if (guard.after.count(event))
            guard.after.insert(stream);
}

bool take_guarded_access(CUdeviceptr address, bool write, const std::vector<uintptr_t> &frames)
{
    auto holds = [&](const Guard &guard) { return guard.first <= address && address < guard.last; };
    auto &all = guards();
    auto found = std::find_if(all.begin(), all.end(), holds);
    if (found == all.end())
        return false;
    for (Guard &guard : all)
        if (holds(guard))
            allow(guard, PROT_READ | PROT_WRITE);
    bool inside = found->start <= address && address < found->end;
    if (!found->contents.empty()) {
        found->touched = write || !inside ? 0 : address;
        found->reader = frames;
    } else {
        Site site;
        site.frames = frames;
        const char *access = write ? "write" : "read";
        std::string facts = "call=" + found->call + "\naccess=" + access + "\n";
        if (inside)
            report_finding(found->source ? "early_write" : "early_read", address,
                           found->end - found->start, facts, site);
        all.erase(found);
    }
    return true;
}

void report_unsynchronized()
{
    for (Guard &guard : guards())
        if (guard.contents.empty()) {
            report_finding("unsynchronized", 0, 0, "call=" + guard.call + "\n", guard.site);
            return;
        }
    if (!state().launched.empty())
        report_finding("unsynchronized", 0, 0,
                       "call=" + state().launch_site.call() + "\nkernel=" + state().launched + "\n",
                       state().launch_site);
}
