// Call sites, findings in host code, and the host's accesses to device memory.
#include "driver/driver.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

namespace {

struct Range {
    uintptr_t start = 0, end = 0;

    bool holds(uintptr_t address) const { return address >= start && address < end; }
};

Range own, runtime;
constexpr size_t most_frames = 32;

int record_library(dl_phdr_info *info, size_t, void *)
{
    Range range;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        auto &part = info->dlpi_phdr[i];
        if (part.p_type == PT_LOAD && part.p_flags & PF_X)
            range = {info->dlpi_addr + part.p_vaddr, info->dlpi_addr + part.p_vaddr + part.p_memsz};
    }
    if (range.holds(reinterpret_cast<uintptr_t>(&record_library)))
        own = range;
    else if (strstr(info->dlpi_name, "/libcudart.so"))
        runtime = range;
    return 0;
}

bool in_libraries(uintptr_t address) { return own.holds(address) || runtime.holds(address); }

_Unwind_Reason_Code add_frame(_Unwind_Context *context, void *frames)
{
    auto &to = *static_cast<std::vector<uintptr_t> *>(frames);
    uintptr_t address = _Unwind_GetIP(context);
    if (!in_libraries(address) && address)
        to.push_back(address);
    return to.size() < most_frames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::vector<uintptr_t> unwind()
{
    std::vector<uintptr_t> frames;
    _Unwind_Backtrace(add_frame, &frames);
    return frames;
}

struct Place {
    uintptr_t address;
    std::string line;
};

// The object that contains an address: `frame OBJECT OFFSET`.
int find_object(dl_phdr_info *info, size_t, void *data)
{
    auto &place = *static_cast<Place *>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        auto &part = info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part.p_vaddr;
        if (part.p_type != PT_LOAD || !Range{start, start + part.p_memsz}.holds(place.address))
            continue;
        char path[4096] = {};
        if (!*info->dlpi_name && readlink("/proc/self/exe", path, sizeof path - 1) < 0)
            return 1;
        place.line = "frame " + std::string(*info->dlpi_name ? info->dlpi_name : path) + " " +
                     std::to_string(place.address - info->dlpi_addr) + "\n";
        return 1;
    }
    return 0;
}

std::string describe_frames(const std::vector<uintptr_t> &frames)
{
    std::string text;
    for (uintptr_t address : frames) {
        Place place = {address, {}};
        dl_iterate_phdr(find_object, &place);
        text += place.line;
    }
    return text;
}

// `main+0x52` or `program+0x1969` for a person, where no symbols of lines are known.
std::string describe_place(uintptr_t address)
{
    Dl_info info = {};
    if (!dladdr(reinterpret_cast<void *>(address), &info) || !info.dli_fname)
        return "an unknown place";
    char text[32];
    bool named = info.dli_sname != nullptr;
    auto base = reinterpret_cast<uintptr_t>(named ? info.dli_saddr : info.dli_fbase);
    snprintf(text, sizeof text, "+0x%zx", address - base);
    std::string file = info.dli_fname;
    return (named ? info.dli_sname : file.substr(file.rfind('/') + 1)) + text;
}

// --- faults -------------------------------------------------------------------------------------

struct sigaction before;

const char *kind_of_fault(CUdeviceptr address, std::string *facts, size_t *bytes, Site *site)
{
    if (const Allocation *memory = find_allocation(address)) {
        *facts = "call=" + memory->site.call() + "\n";
        *bytes = memory->bytes;
        *site = memory->site;
        return "device_pointer_on_host";
    }
    if (const Freed *freed = find_freed(address)) {
        *facts = "call=" + freed->call + "\n";
        *bytes = freed->bytes;
        return "use_after_free";
    }
    *facts = "call=\n";
    return "device_pointer_on_host";
}

// The frames of the program from the instruction of a fault on, as return addresses.
std::vector<uintptr_t> unwind_from(uintptr_t instruction)
{
    auto frames = unwind();
    while (!frames.empty() && frames.front() != instruction)
        frames.erase(frames.begin());
    if (frames.empty())
        frames = {instruction};
    ++frames.front();
    return frames;
}

void explain_fault(CUdeviceptr address, bool write, std::vector<uintptr_t> frames)
{
    std::string facts;
    size_t bytes = 0;
    Site allocated, here;
    here.frames = std::move(frames);
    const char *kind = kind_of_fault(address, &facts, &bytes, &allocated);
    facts += write ? "access=write\n" : "access=read\n";
    report_finding(kind, address, bytes, facts, here);
    std::string origin = bytes ? ", allocated by " + allocated.call() + " at " +
                                     describe_place(allocated.program)
                               : "";
    fprintf(stderr, "grader: the host dereferenced device memory 0x%llx%s\n", address,
            origin.c_str());
}

void take_fault(int signal, siginfo_t *info, void *context)
{
    auto address = reinterpret_cast<CUdeviceptr>(info->si_addr);
    auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    // the lock may be held: a copy reads the program's memory
    std::unique_lock<std::mutex> lock(state().mutex, std::try_to_lock);
    if (!state().forked && (state().check || in_window(address))) {
        auto frames = unwind_from(static_cast<uintptr_t>(registers[REG_RIP]));
        bool write = registers[REG_ERR] & 2;
        if (take_guarded_access(address, write, frames))
            return;
        if (in_window(address))
            explain_fault(address, write, std::move(frames));
    }
    if (before.sa_flags & SA_SIGINFO && before.sa_sigaction)
        before.sa_sigaction(signal, info, context);
    else
        sigaction(signal, &before, nullptr); // the access is repeated
}

} // namespace

void find_libraries() { dl_iterate_phdr(record_library, nullptr); }

void watch_faults()
{
    struct sigaction action = {};
    action.sa_sigaction = take_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before);
    unwind(); // the first use may allocate
}

// Follows the frame pointers of both libraries, which are compiled with them.
Site call_site()
{
    Site site;
    auto frame = static_cast<uintptr_t *>(__builtin_frame_address(0));
    for (size_t depth = 0; depth < most_frames; ++depth) {
        uintptr_t address = frame[1];
        if (!in_libraries(address)) {
            site.program = address;
            break;
        }
        site.library = address;
        frame = reinterpret_cast<uintptr_t *>(frame[0]);
    }
    return site;
}

// The exported function that contains the address: `cuMemAlloc_v2` → `cuMemAlloc`,
// `__cudaLaunchKernel` → `cudaLaunchKernel`.
std::string Site::call() const
{
    Dl_info info = {};
    if (!library || !dladdr(reinterpret_cast<void *>(library), &info) || !info.dli_sname)
        return "";
    std::string name = info.dli_sname + strspn(info.dli_sname, "_");
    for (const char *suffix : {"_ptds", "_ptsz"})
        if (size_t at = name.rfind(suffix); at != name.npos)
            name.resize(at);
    size_t at = name.rfind("_v");
    return at != name.npos && at + 3 == name.size() ? name.substr(0, at) : name;
}

void report_finding(const char *kind, CUdeviceptr address, size_t bytes, const std::string &facts,
                    const Site &site)
{
    auto frames = site.frames;
    if (frames.empty() && site.program)
        frames = {site.program};
    std::string text = "kind=" + std::string(kind) + "\n" + facts + describe_frames(frames);
    send(wire::HostFinding{address, bytes}, text.data(), text.size());
}

void name_call()
{
    if (!state().check || !state().deferring)
        return;
    Site site = allocation_site();
    std::string text = "call=" + site.call() + "\n" + describe_frames(site.frames);
    send(wire::Call{}, text.data(), text.size());
}

void report_leak(const Allocation &memory)
{
    bool own = !memory.of_module && memory.kind != Kind::registered && memory.site.program &&
               !state().devices[static_cast<size_t>(memory.device)].dead;
    if (state().check && own)
        report_finding("leak", memory.address, memory.bytes, "call=" + memory.site.call() + "\n",
                       memory.site);
}

void report_misuse(const char *kind, CUdeviceptr address, size_t bytes, const std::string &facts)
{
    if (!state().check)
        return;
    Site site = call_site();
    site.frames = unwind();
    report_finding(kind, address, bytes, "call=" + site.call() + "\n" + facts, site);
}

// For the runtime, which knows the errors that a program does not read.
extern "C" void grader_host_finding(const char *kind, unsigned long long address,
                                    unsigned long long bytes, const char *facts,
                                    void *const *frames, int count)
{
    Call call(Need::library);
    if (call.status || !state().check)
        return;
    Site site;
    for (int i = 0; i < count; ++i) {
        auto each = reinterpret_cast<uintptr_t>(frames[i]);
        if (in_libraries(each))
            site.library = each;
        else
            site.frames.push_back(each);
    }
    report_finding(kind, address, bytes, "call=" + site.call() + "\n" + facts + "\n", site);
}

// Sites of allocations hold all frames in checked sessions.
Site allocation_site()
{
    Site site = call_site();
    if (state().check)
        site.frames = unwind();
    return site;
}
