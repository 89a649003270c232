// Texture objects: arrays with filters and address modes, linear and pitched memory, normalised
// reads, three dimensions and layers.
#include "check.h"
#include <vector>

__global__ void sample2d(cudaTextureObject_t texture, float *result, float step)
{
    int i = threadIdx.x;
    result[i] = tex2D<float>(texture, i * step, i * step * 0.5f);
}

__global__ void fetch(cudaTextureObject_t linear, cudaTextureObject_t bytes, float *result)
{
    int i = threadIdx.x;
    float2 pair = tex1Dfetch<float2>(linear, i);
    float4 colour = tex2D<float4>(bytes, i + 0.5f, 1.5f);
    result[i] = pair.x + 100 * pair.y + colour.z;
}

__global__ void sample3d(cudaTextureObject_t volume, cudaTextureObject_t layers, float *result)
{
    int i = threadIdx.x;
    result[i] = tex3D<float>(volume, i + 0.5f, 1.5f, 1.0f) + tex2DLayered<float>(layers, i, 0, 1);
}

void show(const char *name, const float *device)
{
    float host[12];
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%s:", name);
    for (float value : host)
        printf(" %.3f", value);
    printf("\n");
}

cudaTextureDesc describe(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalised)
{
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
    d.filterMode = filter;
    d.readMode = cudaReadModeElementType;
    d.normalizedCoords = normalised;
    return d;
}

int main()
{
    float *result;
    CHECK(cudaMalloc(&result, 12 * sizeof(float)));
    std::vector<float> a(64);
    for (int i = 0; i < 64; ++i)
        a[i] = i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, 8, 8));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, a.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    struct {
        const char *name;
        cudaTextureDesc description;
        float step;
    } rows[] = {
        {"point clamp", describe(cudaAddressModeClamp, cudaFilterModePoint, false), 1},
        {"linear clamp", describe(cudaAddressModeClamp, cudaFilterModeLinear, false), 0.75f},
        {"point border", describe(cudaAddressModeBorder, cudaFilterModePoint, false), 1},
        {"linear wrap", describe(cudaAddressModeWrap, cudaFilterModeLinear, true), 0.125f},
        {"point mirror", describe(cudaAddressModeMirror, cudaFilterModePoint, true), 0.15f},
    };
    for (auto &row : rows) {
        cudaTextureObject_t texture;
        CHECK(cudaCreateTextureObject(&texture, &resource, &row.description, nullptr));
        sample2d<<<1, 12>>>(texture, result, row.step);
        show(row.name, result);
        CHECK(cudaDestroyTextureObject(texture));
    }

    float2 *pairs;
    CHECK(cudaMallocManaged(&pairs, 12 * sizeof(float2)));
    for (int i = 0; i < 12; ++i)
        pairs[i] = make_float2(i, 0.5f * i);
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = pairs;
    linear.res.linear.desc = cudaCreateChannelDesc<float2>();
    linear.res.linear.sizeInBytes = 12 * sizeof(float2);
    uchar4 *pixels;
    size_t pitch;
    std::vector<uchar4> host(36, make_uchar4(0, 51, 102, 255));
    CHECK(cudaMallocPitch(&pixels, &pitch, 12 * sizeof(uchar4), 3));
    CHECK(cudaMemcpy2D(pixels, pitch, host.data(), 48, 48, 3, cudaMemcpyHostToDevice));
    cudaResourceDesc pitched = {};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D = {pixels, cudaCreateChannelDesc<uchar4>(), 12, 3, pitch};
    cudaTextureDesc plain = describe(cudaAddressModeClamp, cudaFilterModePoint, false);
    cudaTextureDesc normalised = plain;
    normalised.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t first, second;
    CHECK(cudaCreateTextureObject(&first, &linear, &plain, nullptr));
    CHECK(cudaCreateTextureObject(&second, &pitched, &normalised, nullptr));
    fetch<<<1, 12>>>(first, second, result);
    show("fetch", result);
    CHECK(cudaDestroyTextureObject(first));
    CHECK(cudaDestroyTextureObject(second));

    cudaArray_t volume, layers;
    cudaExtent extent = make_cudaExtent(4, 4, 4);
    CHECK(cudaMalloc3DArray(&volume, &format, extent));
    CHECK(cudaMalloc3DArray(&layers, &format, extent, cudaArrayLayered));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(a.data(), 16, 4, 4);
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    for (cudaArray_t target : {volume, layers}) {
        copy.dstArray = target;
        CHECK(cudaMemcpy3D(&copy));
    }
    cudaTextureDesc smooth = describe(cudaAddressModeClamp, cudaFilterModeLinear, false);
    resource.res.array.array = volume;
    CHECK(cudaCreateTextureObject(&first, &resource, &smooth, nullptr));
    resource.res.array.array = layers;
    CHECK(cudaCreateTextureObject(&second, &resource, &plain, nullptr));
    sample3d<<<1, 12>>>(first, second, result);
    show("volume and layers", result);
    cudaResourceDesc read;
    CHECK(cudaGetTextureObjectResourceDesc(&read, second));
    printf("resource is the array: %d\n", read.res.array.array == layers);
    CHECK(cudaDestroyTextureObject(first));
    CHECK(cudaDestroyTextureObject(second));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(volume));
    CHECK(cudaFreeArray(layers));
    CHECK(cudaFree(result));
    CHECK(cudaFree(pairs));
    CHECK(cudaFree(pixels));
    return 0;
}
