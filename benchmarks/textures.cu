// Kernels with textures and surfaces: a line for each with its name, the width of the picture, and milliseconds.
// Argument: the width, 1024 or 4096. The L2 is flushed before each kernel; the median of eleven counts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Object = cudaTextureObject_t;
using Surface = cudaSurfaceObject_t;

struct Place {
    int x, y, index;
};

__device__ Place place_of(int width)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    return {x, y, y * width + x};
}

template <class Texel, bool BLENDED> __global__ void copy(Object from, Texel *to, int width)
{
    const Place at = place_of(width);
    to[at.index] = tex2D<Texel>(from, at.x + 0.5f, at.y + 0.5f);
}

__global__ void transpose(Object from, float *to, int width)
{
    const Place at = place_of(width);
    to[at.index] = tex2D<float>(from, at.y + 0.5f, at.x + 0.5f);
}

template <int RADIUS> __global__ void blur(Object from, float *to, int width)
{
    const Place at = place_of(width);
    float sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
            sum += tex2D<float>(from, at.x + dx + 0.5f, at.y + dy + 0.5f);
    to[at.index] = sum;
}

__global__ void scale(Object from, float *to, int width)
{
    const Place at = place_of(width);
    to[at.index] = tex2D<float>(from, 0.5f * (at.x + 0.5f), 0.5f * (at.y + 0.5f));
}

__global__ void rotate(Object from, float *to, int width)
{
    const Place at = place_of(width);
    const float u = at.x - width / 2, v = at.y - width / 2;
    to[at.index] = tex2D<float>(from, 0.8f * u - 0.6f * v + width / 2, 0.6f * u + 0.8f * v + width / 2);
}

__global__ void copy_linear_memory(Object from, float *to)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    to[i] = tex1Dfetch<float>(from, i);
}

__global__ void gather(Object from, const int *list, float *to)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    to[i] = tex1Dfetch<float>(from, list[i]);
}

template <class Texel> __global__ void read_surface(Surface from, Texel *to, int width)
{
    const Place at = place_of(width);
    to[at.index] = surf2Dread<Texel>(from, at.x * int(sizeof(Texel)), at.y);
}

template <class Texel> __global__ void write_surface(const Texel *from, Surface to, int width)
{
    const Place at = place_of(width);
    surf2Dwrite(from[at.index], to, at.x * int(sizeof(Texel)), at.y);
}

template <class Texel> __global__ void copy_surface(Surface from, Surface to)
{
    const Place at = place_of(0);
    const int x = at.x * int(sizeof(Texel));
    surf2Dwrite(surf2Dread<Texel>(from, x, at.y), to, x, at.y);
}

__global__ void transpose_surface(Surface from, Surface to)
{
    const Place at = place_of(0);
    surf2Dwrite(surf2Dread<float>(from, at.x * 4, at.y), to, at.y * 4, at.x);
}

__global__ void blur_surface(Surface from, Surface to)
{
    const Place at = place_of(0);
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += surf2Dread<float>(from, (at.x + dx) * 4, at.y + dy, cudaBoundaryModeClamp);
    surf2Dwrite(sum, to, at.x * 4, at.y);
}

template <class Texel> cudaResourceDesc make_array(int width)
{
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<Texel>();
    cudaMallocArray(&resource.res.array.array, &format, width, width, cudaArraySurfaceLoadStore);
    const std::vector<Texel> texels(size_t(width) * width);
    const size_t bytes = width * sizeof(Texel);
    cudaMemcpy2DToArray(resource.res.array.array, 0, 0, texels.data(), bytes, bytes, width, cudaMemcpyHostToDevice);
    return resource;
}

template <class Texel> Surface make_surface(int width)
{
    const cudaResourceDesc resource = make_array<Texel>(width);
    Surface made;
    cudaCreateSurfaceObject(&made, &resource);
    return made;
}

template <class Texel> Object make_picture(int width, bool linear)
{
    const cudaResourceDesc resource = make_array<Texel>(width);
    cudaTextureDesc how{};
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    Object made;
    cudaCreateTextureObject(&made, &resource, &how, nullptr);
    return made;
}

Object make_linear_memory(int count)
{
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = count * sizeof(float);
    cudaMalloc(&resource.res.linear.devPtr, resource.res.linear.sizeInBytes);
    const cudaTextureDesc how{};
    Object made;
    cudaCreateTextureObject(&made, &resource, &how, nullptr);
    return made;
}

template <class Launch> void show(const char *name, int width, Launch launch)
{
    const size_t flushed = 1 << 28;
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    char *memory;
    cudaMalloc(&memory, flushed);
    std::vector<float> taken(11);
    for (float &ms : taken) {
        cudaMemset(memory, 0, flushed);
        cudaEventRecord(start);
        launch();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, start, end);
    }
    cudaFree(memory);
    std::sort(taken.begin(), taken.end());
    printf("%s %d %.5f\n", name, width, taken[taken.size() / 2]);
}

int main(int, char **words)
{
    const int width = atoi(words[1]), count = width * width;
    const dim3 grid(width / 32, width / 8), block(32, 8);
    float4 *to;
    cudaMalloc(&to, count * sizeof(float4));
    float *y = &to->x;
    const Object point = make_picture<float>(width, false), linear = make_picture<float>(width, true);
    const Object wide = make_picture<float4>(width, false), wide_linear = make_picture<float4>(width, true);
    show("copy", width, [&] { copy<float, false><<<grid, block>>>(point, y, width); });
    show("copy_blended", width, [&] { copy<float, true><<<grid, block>>>(linear, y, width); });
    show("copy_float4", width, [&] { copy<float4, false><<<grid, block>>>(wide, to, width); });
    show("copy_float4_blended", width, [&] { copy<float4, true><<<grid, block>>>(wide_linear, to, width); });
    show("transpose", width, [&] { transpose<<<grid, block>>>(point, y, width); });
    show("blur_3x3", width, [&] { blur<1><<<grid, block>>>(point, y, width); });
    show("blur_7x7", width, [&] { blur<3><<<grid, block>>>(linear, y, width); });
    show("scale", width, [&] { scale<<<grid, block>>>(linear, y, width); });
    show("rotate", width, [&] { rotate<<<grid, block>>>(linear, y, width); });
    const Surface from = make_surface<float>(width), into = make_surface<float>(width);
    const Surface from4 = make_surface<float4>(width), into4 = make_surface<float4>(width);
    show("read_surface", width, [&] { read_surface<<<grid, block>>>(from, y, width); });
    show("read_surface_float4", width, [&] { read_surface<<<grid, block>>>(from4, to, width); });
    show("write_surface", width, [&] { write_surface<<<grid, block>>>(y, into, width); });
    show("write_surface_float4", width, [&] { write_surface<<<grid, block>>>(to, into4, width); });
    show("copy_surface", width, [&] { copy_surface<float><<<grid, block>>>(from, into); });
    show("copy_surface_float4", width, [&] { copy_surface<float4><<<grid, block>>>(from4, into4); });
    show("transpose_surface", width, [&] { transpose_surface<<<grid, block>>>(from, into); });
    show("blur_surface", width, [&] { blur_surface<<<grid, block>>>(from, into); });
    const Object memory = make_linear_memory(count);
    std::vector<int> places(count);
    for (int &place : places)
        place = (rand() * 32768u + rand()) % count;
    int *list;
    cudaMalloc(&list, count * sizeof(int));
    cudaMemcpy(list, places.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    show("copy_linear_memory", width, [&] { copy_linear_memory<<<count / 256, 256>>>(memory, y); });
    show("gather", width, [&] { gather<<<count / 256, 256>>>(memory, list, y); });
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
