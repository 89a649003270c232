// Memory of the driver API: pitch, sets of 8, 16 and 32 bits, 2-D copies, ranges, attributes.
// nvcc: -lcuda
#include "driver.h"

int main()
{
    CUdevice device;
    CUcontext context;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));

    CUdeviceptr plane, base;
    size_t pitch, size;
    CHECK(cuMemAllocPitch(&plane, &pitch, 30, 6, 4));
    CHECK(cuMemsetD2D8(plane, pitch, 1, 30, 6));
    CHECK(cuMemsetD8(plane + pitch, 2, 10));
    CHECK(cuMemsetD16(plane + 2 * pitch, 0x0403, 5));
    CHECK(cuMemsetD32(plane + 3 * pitch, 0x08070605, 3));
    unsigned char host[6][30];
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = plane;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host;
    copy.dstPitch = 30;
    copy.WidthInBytes = 30;
    copy.Height = 6;
    CHECK(cuMemcpy2D(&copy));
    for (auto &row : host) {
        for (unsigned char value : row)
            printf("%d", value);
        printf("\n");
    }
    CHECK(cuMemGetAddressRange(&base, &size, plane + 77));
    printf("base %d, large enough %d\n", base == plane, size >= 6 * pitch - (pitch - 30));
    unsigned type;
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, plane));
    printf("type %u\n", type);

    int *pinned, *plain;
    CUdeviceptr alias, managed, copied;
    CHECK(cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemAllocHost((void **)&plain, 64));
    CHECK(cuMemHostGetDevicePointer(&alias, pinned, 0));
    CHECK(cuMemsetD32(alias, 123, 10));
    CHECK(cuCtxSynchronize());
    printf("pinned %d %d\n", pinned[9], alias == (CUdeviceptr)pinned);
    CHECK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuMemAlloc(&copied, 64));
    CHECK(cuMemcpyDtoD(managed, alias, 40));
    CHECK(cuMemcpy(copied, managed, 40));
    CHECK(cuMemcpyDtoH(plain, copied, 40));
    printf("managed %d, copied %d\n", ((int *)managed)[3], plain[9]);
    printf("beyond: %s\n", name_of(cuMemcpyDtoH(plain, copied, (size_t)1 << 33)));
    printf("zero bytes: %s\n", name_of(cuMemAlloc(&base, 0)));
    printf("free: %s\n", name_of(cuMemFree(plane + 8)));
    CHECK(cuMemFree(plane));
    CHECK(cuMemFree(copied));
    CHECK(cuMemFree(managed));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFreeHost(plain));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
