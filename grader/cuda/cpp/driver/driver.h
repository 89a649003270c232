// What all files of libcuda share: its state, the handles of the API, and the guards of its
// functions.
//
// CUDA's headers declare the structures behind handles without defining them. They are defined
// here, so no handle needs a cast.
#pragma once

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_set>
#include <variant>
#include <vector>

#include "wire.h"

#define API extern "C" CUresult

#define TRY(expression)                                                                            \
    do {                                                                                           \
        if (CUresult status_ = (expression))                                                       \
            return status_;                                                                        \
    } while (false)

#define REQUIRE(condition, status)                                                                 \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return status;                                                                         \
    } while (false)

constexpr CUresult bad_value = CUDA_ERROR_INVALID_VALUE;
constexpr CUresult bad_handle = CUDA_ERROR_INVALID_HANDLE;
constexpr CUdeviceptr page = 4096; // bytes of the machine's pages

// --- handles ------------------------------------------------------------------------------------

// The live handles of a type. A program may pass any pointer as a handle.
template <class T> std::unordered_set<const T *> &handles()
{
    static auto &instance = *new std::unordered_set<const T *>;
    return instance;
}

template <class T> bool is_live(const T *handle) { return handles<T>().count(handle) != 0; }

template <class T, class... Fields> T *make(Fields &&...fields)
{
    T *made = new T{std::forward<Fields>(fields)...};
    handles<T>().insert(made);
    return made;
}

template <class T> void destroy(T *handle)
{
    handles<T>().erase(handle);
    delete handle;
}

// --- operations of streams ----------------------------------------------------------------------

struct Launch {
    CUfunction function;
    unsigned grid[3], block[3], cluster[3], dynamic_shared;
    bool cooperative;
    std::vector<char> parameters;
    // For the getters of graph nodes: the addresses of the parameters.
    std::vector<void *> pointers = {};

    // The parameters that may be addresses, in this form.
    std::vector<CUdeviceptr> addresses() const
    {
        std::vector<CUdeviceptr> found(parameters.size() / sizeof(CUdeviceptr));
        memcpy(found.data(), parameters.data(), found.size() * sizeof(CUdeviceptr));
        return found;
    }
};

// `asynchronous`: the host does not wait on the modelled clock.
struct Copy {
    CUDA_MEMCPY3D box;
    bool asynchronous = true;
};

struct Fill {
    CUDA_MEMSET_NODE_PARAMS fields;
    bool asynchronous = true;
};

struct HostCall {
    CUDA_HOST_NODE_PARAMS fields;
};

struct Callback {
    CUstreamCallback function;
    CUstream stream;
    void *data;
};

struct RecordEvent {
    CUevent event;
};

struct WaitEvent {
    CUevent event;
};

struct Child {
    CUgraph graph;
};

struct GraphAllocation {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters;
};

struct GraphFree {
    CUdeviceptr address;
};

// A 32- or 64-bit word of cuStreamWriteValue; `wait`: cuStreamWaitValue.
struct Word {
    CUdeviceptr address;
    uint64_t value;
    unsigned bytes, flags;
    bool wait;
};

struct Nothing {};

using Operation = std::variant<Nothing, Launch, Copy, Fill, HostCall, Callback, RecordEvent,
                               WaitEvent, Child, GraphAllocation, GraphFree, Word>;

// --- structures behind handles ------------------------------------------------------------------

struct CUctx_st {
    int device;
    unsigned flags;
    bool primary;
    uint64_t id;
    CUresult sticky = CUDA_SUCCESS; // an error that every later call returns
    // Errors that arrived with a call that does not report errors of earlier work.
    CUresult pending = CUDA_SUCCESS, pending_once = CUDA_SUCCESS;
    std::map<CUlimit, size_t> limits = {};
    std::set<CUcontext> peers = {};
    CUfunc_cache cache_config = CU_FUNC_CACHE_PREFER_NONE;
    std::unique_ptr<CUstream_st> legacy = {};

    uint32_t device_number() const { return static_cast<uint32_t>(device); }
};

struct Capture;

struct CUstream_st {
    CUcontext context;
    uint64_t number;
    unsigned flags = 0;
    int priority = 0;
    Capture *capture = nullptr;
    std::map<int, CUstreamAttrValue> attributes = {};
    std::vector<std::unique_ptr<CUstream_st>> lanes = {}; // for independent nodes of graphs
};

struct CUevent_st {
    CUcontext context;
    uint64_t number;
    unsigned flags;
    bool recorded = false;
    uint64_t operation = 0; // the pending operation that records it
    // The event stands for nodes of a capture.
    Capture *capture = nullptr;
    std::vector<CUgraphNode> nodes = {};
};

struct CUfunc_st {
    // See legacy.cpp.
    struct Setup {
        unsigned block[3] = {1, 1, 1}, dynamic_shared = 0;
        std::vector<char> parameters = {};
    };

    CUmodule module;
    uint32_t index = 0;
    std::string name = {};
    int registers = 0, static_shared = 0, local_bytes = 0, constant_bytes = 0, max_threads = 0;
    int cluster[3] = {};
    std::vector<std::pair<unsigned, unsigned>> parameters = {}; // offsets and sizes
    int max_dynamic_shared = 0, carveout = -1, policy = 0, non_portable = 0;
    CUkernel kernel = nullptr;
    Setup setup = {};

    unsigned parameter_bytes() const
    {
        return parameters.empty() ? 0 : parameters.back().first + parameters.back().second;
    }
};

struct Variable {
    CUdeviceptr address;
    size_t bytes;
    bool managed;
};

struct CUmod_st {
    CUcontext context;
    uint32_t number;
    std::vector<CUfunction> functions = {};
    std::map<std::string, Variable> variables = {};
};

struct CUkern_st {
    CUlibrary library;
    std::string name;
};

// Code that belongs to no context: a module for each context that uses it.
struct CUlib_st {
    int file; // the image
    std::string options;
    std::map<uint64_t, CUmodule> modules = {}; // by the context's id
    std::map<std::string, CUkernel> kernels = {};
};

struct CUmemPoolHandle_st {
    int device;
    std::map<CUmemPool_attribute, uint64_t> attributes = {};
    std::map<int, CUmemAccess_flags> access = {};
};

struct CUarray_st {
    CUDA_ARRAY3D_DESCRIPTOR description;
    CUdeviceptr address;
    CUcontext context;
    CUmipmappedArray whole; // not null: a level, which it owns

    size_t texel_bytes() const;
    size_t row_bytes() const { return description.Width * texel_bytes(); }
    size_t rows() const { return std::max<size_t>(description.Height, 1); }
    size_t slices() const { return std::max<size_t>(description.Depth, 1); }
    size_t bytes() const { return row_bytes() * rows() * slices(); }
};

struct CUmipmappedArray_st {
    std::vector<CUarray> levels;
};

struct CUgraphNode_st {
    CUgraph graph;
    uint64_t id;
    Operation operation;
    CUcontext context;
    std::vector<CUgraphNode> dependencies;
    bool enabled = true;
    CUgraphNode original = nullptr; // of a clone
    CUgraph child = nullptr;        // owned
};

struct CUgraph_st {
    std::vector<CUgraphNode> nodes; // in the order of their creation: dependencies come first
    uint64_t id;
};

struct CUgraphExec_st {
    CUgraph graph; // a clone
    unsigned long long flags;
};

// --- memory -------------------------------------------------------------------------------------

// Where the program called the API: the return address in the program, and the last address in the
// libraries, which names the function.
struct Site {
    uintptr_t program = 0, library = 0;
    std::vector<uintptr_t> frames = {}; // in checked sessions

    std::string call() const;
};

enum class Kind { device, host, managed, array, registered };

struct Allocation {
    CUdeviceptr address;
    size_t bytes;
    Kind kind;
    CUcontext context;
    int device;
    unsigned flags = 0;
    bool of_module = false; // a variable
    char *user = nullptr;   // registered: where the program has it
    CUmemoryPool pool = nullptr;
    Site site = {};
    uint64_t id = 0;

    bool on_host() const
    {
        return kind == Kind::host || kind == Kind::managed || kind == Kind::registered;
    }
    // From its start to an address of the window, or to an address that the program has.
    size_t offset_of(CUdeviceptr place) const
    {
        bool window = place - address < bytes || !user;
        return place - (window ? address : reinterpret_cast<CUdeviceptr>(user));
    }
};

struct Freed {
    size_t bytes;
    std::string call;
};

struct Device {
    size_t total_bytes = 0;
    std::string name;
    std::map<std::string, int> attributes;
};

struct DeviceState {
    CUcontext primary = nullptr;
    int retained = 0;
    unsigned flags = 0;
    bool dead = false; // after an error of execution: as on a GPU, until the program ends
    CUmemoryPool default_pool = nullptr, pool = nullptr;
};

// --- state --------------------------------------------------------------------------------------

struct State {
    std::mutex mutex;
    bool initialized = false, forked = false, lost = false;
    int socket = -1;
    bool check = false, wall_clock = false;
    bool deferring = false;  // see pending.cpp
    uint64_t order_seed = 0; // 0: the worst order
    // Numbers so far.
    uint64_t deferred = 0, deferred_launches = 0, waits = 0, calls = 0;
    std::atomic<bool> watching = false; // the library's own thread holds the lock
    Device device; // all devices are equal
    std::vector<DeviceState> devices;
    // The window: where the host sees all memory, and the device addresses.
    char *view = nullptr;
    CUdeviceptr window = 0;
    size_t window_bytes = 0;
    int window_file = -1;
    CUdeviceptr top = 0; // no memory was allocated from here on
    std::map<CUdeviceptr, Allocation> allocations;
    std::map<CUdeviceptr, Freed> freed;
    std::map<CUdeviceptr, size_t> reserved;   // addresses of virtual memory, and their bytes
    std::map<char *, CUdeviceptr> registered; // program's address → address in the window
    bool running = false;                     // launches since the last answer about errors
    bool dirty = false;                       // operations since the last synchronisation
    std::string launched;                     // the last kernel since the last synchronisation
    Site launch_site;                         // of it, in checked sessions
    bool printed = false;                     // a kernel has printed
    std::string held;                         // text of kernels until the program synchronises
    uint64_t numbers = 3; // of streams, events, contexts, nodes; 0 to 2 are the default streams
    std::vector<Capture *> captures;
    // Default streams, by thread and context.
    std::map<std::pair<std::thread::id, uint64_t>, CUstream> per_thread;
    std::vector<bool> textures;
};

State &state();

CUcontext current_context();

// How much a function needs. `healthy`: a context without an error. `safe`: also no capture that
// forbids the call.
enum class Need { library, context, healthy, safe };

// Guards a function: holds the lock, and checks the state.
struct Call {
    std::unique_lock<std::mutex> lock;
    CUcontext context = nullptr;
    CUresult status;

    explicit Call(Need need);
};

#define ENTER(need)                                                                                \
    Call call(Need::need);                                                                         \
    if (call.status)                                                                               \
    return call.status

// Checks an argument: a device, a live handle, or the address of a value.
#define CHECK(argument) TRY(check_argument(argument))

// The error of a call with a handle that is not live; success for other pointers.
template <class> constexpr CUresult dead = CUDA_SUCCESS;
template <> constexpr CUresult dead<CUctx_st> = CUDA_ERROR_INVALID_CONTEXT;
template <> constexpr CUresult dead<CUgraph_st> = bad_value;
template <> constexpr CUresult dead<CUgraphExec_st> = bad_value;
template <> constexpr CUresult dead<CUgraphNode_st> = bad_value;
template <> constexpr CUresult dead<CUmemPoolHandle_st> = bad_value;
template <> constexpr CUresult dead<CUarray_st> = bad_handle;
template <> constexpr CUresult dead<CUevent_st> = bad_handle;
template <> constexpr CUresult dead<CUkern_st> = bad_handle;
template <> constexpr CUresult dead<CUlib_st> = bad_handle;
template <> constexpr CUresult dead<CUmipmappedArray_st> = bad_handle;
template <> constexpr CUresult dead<CUmod_st> = bad_handle;
template <> constexpr CUresult dead<CUstream_st> = bad_handle;

template <class T> CUresult check_argument(T *argument)
{
    if constexpr (dead<T> != CUDA_SUCCESS)
        return is_live(argument) ? CUDA_SUCCESS : dead<T>;
    else
        return argument ? CUDA_SUCCESS : bad_value;
}

// Gives a value to the program, if it wants it.
template <class T, class Value> void offer(T *to, Value value)
{
    if (to)
        *to = value;
}

inline bool is_device(int device)
{
    return device >= 0 && static_cast<size_t>(device) < state().devices.size();
}

inline CUresult check_argument(CUdevice device)
{
    return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

// A kernel may stand for its function in the current context, which replaces it.
CUresult check_argument(CUfunction &function);

// --- connection ---------------------------------------------------------------------------------

CUresult connect_to_server();

// An answer, the text behind it and the attached file (-1: none).
template <class Record> struct Answer {
    Record record = {};
    std::string text = {};
    int file = -1;
};

bool send_packet(uint32_t kind, const void *record, size_t record_bytes, const void *rest,
                 size_t rest_bytes, const std::vector<int> &files);
bool receive_packet(void *record, size_t bytes, std::string *text, int *file);

template <class Record>
void send(const Record &record, const void *rest = nullptr, size_t rest_bytes = 0)
{
    send_packet(wire::KindOf<Record>::value, &record, sizeof record, rest, rest_bytes, {});
}

// False after the end of the server.
template <class Record>
bool ask(const Record &record, Answer<typename wire::AnswerTo<Record>::Type> *answer,
         const std::string &text = {}, const std::vector<int> &files = {})
{
    auto &to = answer->record;
    return send_packet(wire::KindOf<Record>::value, &record, sizeof record, text.data(),
                       text.size(), files) &&
           receive_packet(&to, sizeof to, &answer->text, &answer->file);
}

// --- order --------------------------------------------------------------------------------------

// Waits for the work of a stream, an event or the device; reports errors and prints text.
CUresult synchronize(CUcontext context, uint32_t sort, uint64_t number);
// Waits until kernels that have started have finished, because the host needs their memory: no
// synchronisation of the program.
void settle(CUcontext context);
// Reports errors of finished work and prints text, as synchronize: after a wait for some work, or
// after a wait for all work.
CUresult report(CUcontext context);
CUresult finish_and_report(CUcontext context);
// Whether work is done; does not wait on the modelled clock.
CUresult query(CUcontext context, uint32_t sort, uint64_t number);

// Executes an operation, or adds it to the graph that captures the stream.
CUresult submit(Call &call, CUstream stream, Operation operation);
CUresult execute(Call &call, CUstream stream, const Operation &operation);
// Adds a node to the graph that captures a stream.
CUresult record(CUstream stream, Operation operation);
CUresult check_operation(const Operation &operation);
// An event without a handle that costs no time: edges of graphs.
struct Mark {
    uint64_t event, operation;
};
Mark set_mark(CUstream stream);
void follow(CUstream stream, Mark mark);
// Whether captures forbid a call that may wait: they are invalid then.
bool forbidden_by_captures();
// The stream of a handle, which may be a default stream; null for a bad handle.
CUstream find_stream(CUstream handle, CUstream default_stream);
// Informs the session about a stream that the legacy default stream does not wait for.
void name_stream(CUstream stream);

// --- pending operations -------------------------------------------------------------------------

enum class Deferred { in_device, launch, with_host };

// From now on, operations wait: the program uses more than the default stream and blocking calls.
void start_deferring();
// Works after the stream's operations and another operation: later, or at once if nothing is
// deferred. Returns the number of the pending operation, else 0.
uint64_t defer(CUstream stream, Deferred kind, std::function<void()> work, uint64_t after = 0);
// Perform pending operations, and those that they follow: all, those that the next operation of a
// stream follows, of a stream (0: of all blocking streams), of a device, launches, one.
void finish_all();
void finish_earlier(const CUstream_st &stream);
void finish_stream(CUcontext context, uint64_t stream);
void finish_device(int device);
void finish_launches();
void finish(uint64_t number);
// At each wait of the program.
void count_wait();

// --- memory -------------------------------------------------------------------------------------

// The allocation that contains an address of the device or of registered memory.
const Allocation *find_allocation(CUdeviceptr address);
const Freed *find_freed(CUdeviceptr address);
bool is_on_host(CUdeviceptr address); // pinned, managed or registered memory
bool in_window(CUdeviceptr address);
// Where this process reads and writes an address of the device or of the host.
char *host_view(CUdeviceptr address);
CUresult allocate(CUcontext context, size_t bytes, Kind kind, unsigned flags, CUdeviceptr *address);
// Virtual memory: free addresses of the window, and an allocation there.
CUdeviceptr find_gap(size_t bytes, size_t unit);
CUresult allocate_at(CUcontext context, CUdeviceptr address, size_t bytes, Kind kind);
// Memory of a graph, which has no leak. A launch allocates it again if it was freed, at the same
// address.
CUresult allocate_for_graph(CUcontext context, size_t bytes, CUdeviceptr *address);
CUresult allocate_again(CUcontext context, CUdeviceptr address, size_t bytes);
CUresult release(CUdeviceptr address);
void release_all(CUcontext context);
void allow_host(CUdeviceptr address, size_t bytes, bool allowed);
void unregister_all(CUcontext context);

// --- guards: host memory that outstanding work writes, in checked sessions ----------------------

// The destination of a copy, or its source.
void guard_copy(CUstream stream, CUdeviceptr address, size_t bytes, bool source);
// Managed memory among the parameters of a kernel.
void guard_parameters(CUstream stream, const Launch &launch);
// The work of a stream is complete (0: all work), or the work before an event.
void complete_guards(uint64_t stream);
void complete_guards_of_event(uint64_t event);
// The order of the program: an event is recorded in a stream; a stream waits for an event.
void mark_event(uint64_t event, uint64_t stream);
void mark_stream(uint64_t stream, uint64_t event);
// The program's access to guarded memory, which may go on. False: the memory is not guarded.
bool take_guarded_access(CUdeviceptr address, bool write, const std::vector<uintptr_t> &frames);
// At the end of the program.
void report_unsynchronized();

// --- copies -------------------------------------------------------------------------------------

CUDA_MEMCPY3D line(CUdeviceptr target, CUdeviceptr source, size_t bytes);
// Inform the session of an operation, and perform it now or later.
CUresult run(CUstream stream, const Copy &copy);
CUresult run(CUstream stream, const Fill &fill);
CUresult run(CUstream stream, const Launch &launch);
CUresult check(const Copy &copy);
CUresult check(const Fill &fill);
CUresult check(const Launch &launch);

// --- modules ------------------------------------------------------------------------------------

CUresult load_module(CUcontext context, int file, const std::string &options, std::string *log,
                     CUmodule *module);
CUresult function_of(CUkernel kernel, CUcontext context, CUfunction *function);
void unload_modules(CUcontext context);
// A launch with its parameters, checked.
CUresult make_launch(CUfunction function, const CUlaunchConfig &config, void **parameters,
                     void **extra, Launch *launch);
int max_blocks(CUfunction function, int threads, size_t dynamic_shared, int *blocks);

// --- contexts -----------------------------------------------------------------------------------

int attribute(const char *name);
size_t memory_in_use(int device);
DeviceState &pools_of(int device);
void record_use(CUmemoryPool pool);
CUresult free_device(CUdeviceptr address);

// --- graphs -------------------------------------------------------------------------------------

CUgraph make_graph();
void destroy_graph(CUgraph graph);
CUgraphNode add_node(CUgraph graph, std::vector<CUgraphNode> dependencies, CUcontext context,
                     Operation operation);
CUresult launch_graph(Call &call, CUstream stream, CUgraph graph);

// --- findings -----------------------------------------------------------------------------------

Site call_site();
Site allocation_site();
void report_finding(const char *kind, CUdeviceptr address, size_t bytes, const std::string &facts,
                    const Site &site);
// In checked sessions only, as report_leak.
void report_leak(const Allocation &memory);
// Before the session is informed of an operation that may lack a dependency.
void name_call();
void report_misuse(const char *kind, CUdeviceptr address, size_t bytes, const std::string &facts);
void watch_faults();
void find_libraries();
