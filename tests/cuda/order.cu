// Results that depend on the order of streams. Arguments: the name of a case, and `wrong` or
// `right`. A case prints the value that a dependency guarantees only in the right program.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

static bool right;
static cudaStream_t first, second;
static cudaEvent_t event;
static int *x, *y, *pinned; // device, device, pinned

__global__ void set(int *to, int value) { *to = value; }

__global__ void add(int *to, int value) { *to += value; }

__global__ void copy(int *to, const int *from) { *to = *from; }

static void order(cudaStream_t from, cudaStream_t to)
{
    cudaEventRecord(event, from);
    cudaStreamWaitEvent(to, event, 0);
}

static int read(const int *from)
{
    int value;
    cudaDeviceSynchronize();
    cudaMemcpy(&value, from, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

static int kernels()
{
    set<<<1, 1, 0, first>>>(x, 5);
    if (right)
        order(first, second);
    add<<<1, 1, 0, second>>>(x, 2);
    return read(x);
}

static int input_of_kernel()
{
    *pinned = 7;
    cudaMemcpyAsync(x, pinned, 4, cudaMemcpyHostToDevice, first);
    if (right)
        order(first, second);
    copy<<<1, 1, 0, second>>>(y, x);
    return read(y);
}

static int output_of_kernel()
{
    set<<<1, 1, 0, first>>>(x, 7);
    if (right)
        order(first, second);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, second);
    cudaDeviceSynchronize();
    return *pinned;
}

static int pageable_source()
{
    int source = 7;
    cudaMemcpyAsync(x, &source, 4, cudaMemcpyHostToDevice, first);
    source = 8; // the call has copied it
    if (right)
        order(first, second);
    copy<<<1, 1, 0, second>>>(y, x);
    return read(y);
}

static int overwritten_source()
{
    *pinned = 7;
    cudaMemcpyAsync(x, pinned, 4, cudaMemcpyHostToDevice, first);
    if (right)
        cudaStreamSynchronize(first);
    *pinned = 8;
    return read(x);
}

static int early_read()
{
    set<<<1, 1, 0, first>>>(x, 7);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, first);
    cudaStreamSynchronize(right ? first : second);
    return *pinned;
}

static int wait_for_another_event()
{
    set<<<1, 1, 0, first>>>(x, 7);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, first);
    cudaEventRecord(event, right ? first : second);
    cudaEventSynchronize(event);
    return *pinned;
}

static int event_before_the_work()
{
    if (!right)
        cudaEventRecord(event, first);
    set<<<1, 1, 0, first>>>(x, 7);
    if (right)
        cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    copy<<<1, 1, 0, second>>>(y, x);
    return read(y);
}

static int non_blocking_and_default()
{
    cudaStream_t stream = right ? first : second; // `second` does not wait for the default stream
    set<<<1, 1, 0, stream>>>(x, 7);
    copy<<<1, 1>>>(y, x);
    return read(y);
}

static int default_stream()
{
    *pinned = 7;
    cudaMemcpyAsync(x, pinned, 4, cudaMemcpyHostToDevice);
    add<<<1, 1>>>(x, 1);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost);
    if (right)
        cudaDeviceSynchronize();
    return *pinned - 1;
}

// The second chunk arrives in the buffer before the kernel has read the first.
static int next_chunk_too_early()
{
    static int *chunks = [] {
        int *memory;
        cudaMallocHost(&memory, 8);
        return memory;
    }();
    chunks[0] = 7, chunks[1] = 1;
    for (int chunk = 0; chunk < 2; ++chunk) {
        if (right)
            order(second, first);
        cudaMemcpyAsync(x, chunks + chunk, 4, cudaMemcpyHostToDevice, first);
        order(first, second);
        if (chunk == 0)
            copy<<<1, 1, 0, second>>>(y, x);
    }
    return read(y);
}

static int polling_the_wrong_stream()
{
    set<<<1, 1, 0, first>>>(x, 7);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, first);
    while (cudaStreamQuery(right ? first : second) == cudaErrorNotReady) {
    }
    return *pinned;
}

static int time_of_another_stream()
{
    cudaEvent_t start;
    float ms;
    cudaEventCreate(&start);
    cudaEventRecord(start, second);
    set<<<1, 1, 0, first>>>(x, 7);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, first);
    cudaEventRecord(event, right ? first : second);
    cudaEventSynchronize(event);
    cudaEventElapsedTime(&ms, start, event);
    cudaEventDestroy(start);
    return *pinned;
}

static int destroyed_with_work()
{
    cudaStream_t stream;
    cudaEvent_t done;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    set<<<1, 1, 0, stream>>>(x, 7);
    cudaEventRecord(done, stream);
    if (right)
        cudaStreamWaitEvent(second, done, 0);
    cudaStreamDestroy(stream);
    cudaEventDestroy(done);
    copy<<<1, 1, 0, second>>>(y, x);
    return read(y);
}

static int host_function()
{
    set<<<1, 1, 0, first>>>(x, 7);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, first);
    static volatile int seen;
    seen = -1;
    cudaLaunchHostFunc(right ? first : second, [](void *) { seen = *pinned; }, nullptr);
    while (seen < 0) { // without a call
    }
    return seen;
}

static int memory_of_streams()
{
    int *memory;
    cudaMallocAsync(&memory, 4, first);
    set<<<1, 1, 0, first>>>(memory, 7);
    if (right)
        order(first, second);
    copy<<<1, 1, 0, second>>>(y, memory);
    order(second, first);
    cudaFreeAsync(memory, first);
    return read(y);
}

static int nodes()
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t one, two;
    cudaMemsetParams fill = {x, 0, 7, 1, 1, 1};
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemsetNode(&one, graph, nullptr, 0, &fill);
    cudaGraphAddMemcpyNode1D(&two, graph, &one, right, y, x, 4, cudaMemcpyDeviceToDevice);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, first);
    int value = read(y);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return value;
}

static int many_operations()
{
    for (int i = 0; i < 3000; ++i)
        cudaMemsetAsync(x, i % 2, 4, first);
    set<<<1, 1, 0, first>>>(x, 7);
    if (right)
        order(first, second);
    copy<<<1, 1, 0, second>>>(y, x);
    return read(y);
}

#define CASE(name) {#name, name}
static const std::map<std::string, int (*)()> cases = {
    CASE(kernels), CASE(input_of_kernel), CASE(output_of_kernel), CASE(pageable_source),
    CASE(overwritten_source), CASE(early_read), CASE(wait_for_another_event),
    CASE(event_before_the_work), CASE(non_blocking_and_default), CASE(default_stream),
    CASE(next_chunk_too_early), CASE(polling_the_wrong_stream), CASE(time_of_another_stream),
    CASE(destroyed_with_work), CASE(host_function), CASE(memory_of_streams), CASE(nodes),
    CASE(many_operations),
};

// The host waits without a call for what a pending operation writes: a GPU makes progress.
static int silent_host()
{
    set<<<1, 1, 0, first>>>(x, 7);
    cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, first);
    while (*(volatile int *)pinned != 7) {
    }
    return *pinned;
}

// The host polls a value by copies in another stream, which do not wait for the kernel.
static int polling_by_copies()
{
    set<<<1, 1, 0, first>>>(x, 7);
    do {
        cudaMemcpyAsync(pinned, x, 4, cudaMemcpyDeviceToHost, second);
        cudaStreamSynchronize(second);
    } while (*pinned != 7);
    return *pinned;
}

static const std::map<std::string, int (*)()> progress = {CASE(silent_host),
                                                          CASE(polling_by_copies)};

static void run(const std::string &name, int (*run)())
{
    cudaDeviceSynchronize();
    cudaMemset(x, 0, 4);
    cudaMemset(y, 0, 4);
    cudaDeviceSynchronize();
    *pinned = 0;
    printf("%s %d\n", name.c_str(), run());
}

int main(int, char **words)
{
    right = !strcmp(words[1], "right");
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaMalloc(&x, 4);
    cudaMalloc(&y, 4);
    cudaMallocHost(&pinned, 4);
    for (auto &[name, function] : !strcmp(words[1], "progress") ? progress : cases)
        run(name, function);
    return cudaGetLastError();
}
