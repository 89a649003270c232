// Mistakes of host code, one per function, and the same code without the mistake. Arguments: the
// name of a case, and `wrong` or `right`. A comment names the finding that a line causes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

static bool right;
const int n = 4096, bytes = n * sizeof(int);

__global__ void fill(int *x, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = value;
}

static void launch(int *x, cudaStream_t stream = nullptr) { fill<<<16, 256, 0, stream>>>(x, 7); }

static int *allocate()
{
    int *x;
    cudaMalloc(&x, bytes);
    cudaMemset(x, 0, bytes);
    return x;
}

static void leak()
{
    int *x;
    cudaMalloc(&x, bytes); // leak
    cudaMemset(x, 0, bytes);
    if (right)
        cudaFree(x);
}

static void leak_of_pinned()
{
    int *x;
    cudaMallocHost(&x, bytes); // leak
    if (right)
        cudaFreeHost(x);
}

static void leak_of_array()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 64); // leak
    if (right)
        cudaFreeArray(array);
}

static void double_free()
{
    int *x = allocate();
    cudaFree(x);
    if (!right)
        cudaFree(x); // double_free
    cudaGetLastError();
}

static void wrong_function()
{
    int *x;
    cudaMallocHost(&x, bytes);
    if (!right)
        cudaFree(x); // invalid_free
    cudaFreeHost(x);
    cudaGetLastError();
}

static void inner_pointer()
{
    int *x = allocate();
    if (!right)
        cudaFree(x + 1); // invalid_free
    cudaFree(x);
    cudaGetLastError();
}

static void copy_after_free()
{
    int *x = allocate(), host[4];
    cudaFree(x);
    if (right)
        x = allocate();
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost); // use_after_free
    if (right)
        cudaFree(x);
    cudaGetLastError();
}

static void managed_after_free()
{
    int *x, sum = 0;
    cudaMallocManaged(&x, bytes);
    x[0] = 1;
    if (right)
        sum += x[0];
    cudaFree(x);
    if (!right)
        sum += x[0]; // use_after_free
    printf("%d\n", sum);
}

static void long_copy()
{
    int *x = allocate(), *host = new int[2 * n]();
    cudaMemcpy(x, host, right ? bytes : bytes + 4, cudaMemcpyHostToDevice); // copy_beyond_allocation
    delete[] host;
    cudaFree(x);
    cudaGetLastError();
}

static void copy_from_the_middle()
{
    int *x = allocate(), *host = new int[n];
    int first = right ? 0 : 8;
    cudaMemcpy(host, x + first, bytes, cudaMemcpyDeviceToHost); // copy_beyond_allocation
    delete[] host;
    cudaFree(x);
    cudaGetLastError();
}

static void long_fill()
{
    int *x = allocate();
    cudaMemset(x, 0, right ? bytes : 4 * bytes); // copy_beyond_allocation
    cudaFree(x);
    cudaGetLastError();
}

static void high_box()
{
    int *x;
    size_t pitch;
    char host[64 * 65];
    cudaMallocPitch(&x, &pitch, 64, 64);
    cudaMemcpy2D(host, 64, x, pitch, 64, right ? 64 : 65, cudaMemcpyDeviceToHost); // copy_beyond_allocation
    cudaFree(x);
    cudaGetLastError();
}

static void short_pinned_memory()
{
    int *x = allocate(), *host;
    cudaMallocHost(&host, right ? bytes : bytes / 2);
    cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost); // copy_beyond_allocation
    cudaFreeHost(host);
    cudaFree(x);
    cudaGetLastError();
}

static void wrong_direction()
{
    int *x = allocate(), host[4];
    cudaMemcpyKind kind = right ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    cudaMemcpy(host, x, sizeof host, kind); // wrong_direction
    cudaFree(x);
    cudaGetLastError();
}

static void device_named_as_host()
{
    int *x = allocate(), *y = allocate();
    cudaMemcpyKind kind = right ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
    cudaMemcpy(y, x, bytes, kind); // wrong_direction
    cudaFree(x);
    cudaFree(y);
}

static void early_read()
{
    int *x = allocate(), *host;
    cudaMallocHost(&host, bytes);
    launch(x);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost);
    if (right)
        cudaDeviceSynchronize();
    int last = host[n - 1]; // early_read
    cudaDeviceSynchronize();
    printf("%d\n", last);
    cudaFree(x);
    cudaFreeHost(host);
}

static void early_read_of_a_number()
{
    int *x = allocate(), *host;
    cudaMallocHost(&host, 4);
    launch(x);
    cudaMemcpyAsync(host, x, 4, cudaMemcpyDeviceToHost);
    if (right)
        cudaStreamSynchronize(nullptr);
    printf("%d\n", *host); // early_read
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFreeHost(host);
}

static void other_stream()
{
    int *x = allocate(), *host;
    cudaStream_t streams[2];
    cudaStreamCreate(&streams[0]);
    cudaStreamCreate(&streams[1]);
    cudaMallocHost(&host, bytes);
    launch(x, streams[0]);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, streams[0]);
    cudaStreamSynchronize(streams[right ? 0 : 1]);
    printf("%d\n", host[5]); // early_read
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFreeHost(host);
    cudaStreamDestroy(streams[0]);
    cudaStreamDestroy(streams[1]);
}

static void early_event()
{
    int *x = allocate(), *host;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaMallocHost(&host, bytes);
    launch(x, stream);
    if (!right)
        cudaEventRecord(event, stream);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream);
    if (right)
        cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    printf("%d\n", host[5]); // early_read
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFreeHost(host);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
}

static void early_read_of_registered()
{
    int *x = allocate(), *host = static_cast<int *>(aligned_alloc(4096, bytes));
    cudaHostRegister(host, bytes, 0);
    launch(x);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost);
    if (right)
        cudaDeviceSynchronize();
    printf("%d\n", host[9]); // early_read
    cudaDeviceSynchronize();
    cudaHostUnregister(host);
    cudaFree(x);
    free(host);
}

static void early_read_of_managed()
{
    int *x;
    cudaMallocManaged(&x, bytes);
    launch(x);
    if (right)
        cudaDeviceSynchronize();
    printf("%d\n", x[9]); // early_managed_read
    cudaDeviceSynchronize();
    cudaFree(x);
}

__device__ int variable[n];
__global__ void set_variable() { variable[0] = 7; }

static void unsynchronized()
{
    set_variable<<<1, 1>>>(); // unsynchronized
    if (right)
        cudaDeviceSynchronize();
}

static void unsynchronized_copy()
{
    static int *host;
    int *x = allocate();
    cudaMallocHost(&host, bytes); // leak
    cudaFree(x);
    cudaGetSymbolAddress(reinterpret_cast<void **>(&x), variable);
    cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost); // unsynchronized
    if (right)
        cudaFreeHost(host);
}

static void unchecked_call()
{
    int *x = nullptr;
    cudaMalloc(&x, right ? bytes : size_t(1) << 60); // unchecked_error
    cudaFree(x);
}

static void checked_call()
{
    int *x = nullptr;
    cudaError_t error = cudaMalloc(&x, size_t(1) << 60);
    if (error != cudaSuccess)
        puts("too much memory");
    if (cudaSetDevice(9) != cudaSuccess)
        puts("no tenth device");
}

static void unchecked_launch()
{
    int *x = allocate();
    fill<<<16, 2048>>>(x, 7); // unchecked_error
    if (right)
        puts(cudaGetErrorString(cudaGetLastError()));
    cudaFree(x);
}

static void unchecked_fault()
{
    int *x = allocate();
    fill<<<16, 256>>>(x + (1 << 20), 7);
    if (right)
        puts(cudaGetErrorString(cudaDeviceSynchronize()));
    else
        cudaDeviceSynchronize(); // unchecked_error
}

static void overwritten_source()
{
    int *x = allocate(), *host;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&host, bytes);
    memset(host, 1, bytes);
    cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, stream);
    if (right)
        cudaStreamSynchronize(stream);
    host[5] = 7; // early_write
    cudaStreamSynchronize(stream);
    cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost);
    printf("%d\n", host[5]);
    cudaFree(x);
    cudaFreeHost(host);
    cudaStreamDestroy(stream);
}

// Two streams, and an event that may order them.
struct Pair {
    cudaStream_t first, second;
    cudaEvent_t event;
    int *x = allocate();

    Pair()
    {
        cudaStreamCreate(&first);
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
        cudaEventCreate(&event);
        cudaDeviceSynchronize();
    }
    void order(cudaStream_t from, cudaStream_t to)
    {
        cudaEventRecord(event, from);
        cudaStreamWaitEvent(to, event, 0);
    }
    ~Pair()
    {
        cudaDeviceSynchronize();
        cudaFree(x);
        cudaEventDestroy(event);
        cudaStreamDestroy(first);
        cudaStreamDestroy(second);
    }
};

static void kernel_after_copy()
{
    Pair pair;
    int *host;
    cudaMallocHost(&host, bytes);
    cudaMemcpyAsync(pair.x, host, bytes, cudaMemcpyHostToDevice, pair.first);
    if (right)
        pair.order(pair.first, pair.second);
    fill<<<16, 256, 0, pair.second>>>(pair.x, 7); // missing_dependency
    cudaDeviceSynchronize();
    cudaFreeHost(host);
}

static void fill_after_kernel()
{
    Pair pair;
    launch(pair.x, pair.first);
    if (right)
        pair.order(pair.first, pair.second);
    cudaMemsetAsync(pair.x + n / 2, 0, 4, pair.second); // missing_dependency
}

static void event_of_another_stream()
{
    Pair pair;
    launch(pair.x, pair.first);
    pair.order(right ? pair.first : pair.second, pair.second);
    cudaMemsetAsync(pair.x, 0, bytes, pair.second); // missing_dependency
}

static void event_before_the_work()
{
    Pair pair;
    if (!right)
        cudaEventRecord(pair.event, pair.first);
    cudaMemsetAsync(pair.x, 0, bytes, pair.first);
    if (right)
        cudaEventRecord(pair.event, pair.first);
    cudaStreamWaitEvent(pair.second, pair.event, 0);
    cudaMemsetAsync(pair.x, 1, bytes, pair.second); // missing_dependency
}

static void non_blocking_and_default()
{
    Pair pair;
    cudaMemsetAsync(pair.x, 0, bytes, right ? pair.first : pair.second);
    cudaMemsetAsync(pair.x, 1, bytes); // missing_dependency
}

static void next_chunk_too_early()
{
    Pair pair;
    int *out = allocate();
    for (int chunk = 0; chunk < 3; ++chunk) {
        if (right)
            pair.order(pair.second, pair.first);
        cudaMemsetAsync(pair.x, chunk, bytes, pair.first); // missing_dependency
        pair.order(pair.first, pair.second);
        cudaMemcpyAsync(out, pair.x, bytes, cudaMemcpyDeviceToDevice, pair.second);
    }
    cudaFree(out);
}

static void independent_nodes()
{
    Pair pair;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t first, second;
    cudaMemsetParams fill = {pair.x, 0, 1, 4, n, 1};
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill);
    fill.value = 2;
    cudaGraphAddMemsetNode(&second, graph, &first, right, &fill);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, pair.first); // missing_dependency
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}

static void disjoint_chunks()
{
    Pair pair;
    for (int chunk = 0; chunk < 8; ++chunk)
        cudaMemsetAsync(pair.x + chunk * n / 8, right, bytes / 8,
                        chunk % 2 ? pair.first : pair.second);
}

static void dereference()
{
    int *x = allocate(), host[4] = {};
    if (right)
        cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    else
        host[1] = x[1]; // device_pointer_on_host
    printf("%d\n", host[1]);
    cudaFree(x);
}

static void write_on_host()
{
    int *x = allocate();
    if (!right)
        for (int i = 0; i < n; ++i)
            x[i] = i; // device_pointer_on_host
    cudaFree(x);
}

static void memcpy_of_host()
{
    int *x = allocate(), host[4] = {};
    if (right)
        cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    else
        memcpy(x, host, sizeof host); // device_pointer_on_host
    cudaFree(x);
}

#define CASE(name) {#name, name}
static const std::map<std::string, void (*)()> cases = {
    CASE(leak), CASE(leak_of_pinned), CASE(leak_of_array), CASE(double_free), CASE(wrong_function),
    CASE(inner_pointer), CASE(copy_after_free), CASE(managed_after_free), CASE(long_copy),
    CASE(copy_from_the_middle), CASE(long_fill), CASE(high_box), CASE(short_pinned_memory),
    CASE(wrong_direction), CASE(device_named_as_host), CASE(early_read),
    CASE(early_read_of_a_number), CASE(other_stream), CASE(early_event),
    CASE(early_read_of_registered), CASE(early_read_of_managed), CASE(unsynchronized), CASE(unsynchronized_copy),
    CASE(unchecked_call), CASE(checked_call), CASE(unchecked_launch), CASE(unchecked_fault),
    CASE(overwritten_source), CASE(kernel_after_copy), CASE(fill_after_kernel),
    CASE(event_of_another_stream), CASE(event_before_the_work), CASE(non_blocking_and_default),
    CASE(next_chunk_too_early), CASE(independent_nodes), CASE(disjoint_chunks),
    CASE(dereference), CASE(write_on_host), CASE(memcpy_of_host),
};

int main(int, char **words)
{
    right = !strcmp(words[2], "right");
    cases.at(words[1])();
    return 0;
}
