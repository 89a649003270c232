// cudaDeviceProp: most fields are attributes of the device.
#include "runtime/runtime.h"

#include <cstddef>
#include <cstring>

namespace {

// A field of cudaDeviceProp that holds an attribute of the device; `wide` for size_t.
struct Field {
    size_t offset;
    int attribute;
    bool wide;
};

#define FIELD(name, attribute)                                                                     \
    {offsetof(cudaDeviceProp, name), cudaDevAttr##attribute,                                       \
     sizeof(cudaDeviceProp::name) == sizeof(size_t)}
#define ITEM(name, index, attribute)                                                               \
    {offsetof(cudaDeviceProp, name) + (index) * sizeof(int), cudaDevAttr##attribute, false}

constexpr Field fields[] = {
    FIELD(sharedMemPerBlock, MaxSharedMemoryPerBlock), FIELD(regsPerBlock, MaxRegistersPerBlock),
    FIELD(warpSize, WarpSize), FIELD(memPitch, MaxPitch),
    FIELD(maxThreadsPerBlock, MaxThreadsPerBlock), ITEM(maxThreadsDim, 0, MaxBlockDimX),
    ITEM(maxThreadsDim, 1, MaxBlockDimY), ITEM(maxThreadsDim, 2, MaxBlockDimZ),
    ITEM(maxGridSize, 0, MaxGridDimX), ITEM(maxGridSize, 1, MaxGridDimY),
    ITEM(maxGridSize, 2, MaxGridDimZ), FIELD(totalConstMem, TotalConstantMemory),
    FIELD(major, ComputeCapabilityMajor), FIELD(minor, ComputeCapabilityMinor),
    FIELD(textureAlignment, TextureAlignment), FIELD(texturePitchAlignment, TexturePitchAlignment),
    FIELD(multiProcessorCount, MultiProcessorCount), FIELD(integrated, Integrated),
    FIELD(canMapHostMemory, CanMapHostMemory), FIELD(maxTexture1D, MaxTexture1DWidth),
    FIELD(maxTexture1DMipmap, MaxTexture1DMipmappedWidth), ITEM(maxTexture2D, 0, MaxTexture2DWidth),
    ITEM(maxTexture2D, 1, MaxTexture2DHeight),
    ITEM(maxTexture2DMipmap, 0, MaxTexture2DMipmappedWidth),
    ITEM(maxTexture2DMipmap, 1, MaxTexture2DMipmappedHeight),
    ITEM(maxTexture2DLinear, 0, MaxTexture2DLinearWidth),
    ITEM(maxTexture2DLinear, 1, MaxTexture2DLinearHeight),
    ITEM(maxTexture2DLinear, 2, MaxTexture2DLinearPitch),
    ITEM(maxTexture2DGather, 0, MaxTexture2DGatherWidth),
    ITEM(maxTexture2DGather, 1, MaxTexture2DGatherHeight), ITEM(maxTexture3D, 0, MaxTexture3DWidth),
    ITEM(maxTexture3D, 1, MaxTexture3DHeight), ITEM(maxTexture3D, 2, MaxTexture3DDepth),
    ITEM(maxTexture3DAlt, 0, MaxTexture3DWidthAlt), ITEM(maxTexture3DAlt, 1, MaxTexture3DHeightAlt),
    ITEM(maxTexture3DAlt, 2, MaxTexture3DDepthAlt),
    FIELD(maxTextureCubemap, MaxTextureCubemapWidth),
    ITEM(maxTexture1DLayered, 0, MaxTexture1DLayeredWidth),
    ITEM(maxTexture1DLayered, 1, MaxTexture1DLayeredLayers),
    ITEM(maxTexture2DLayered, 0, MaxTexture2DLayeredWidth),
    ITEM(maxTexture2DLayered, 1, MaxTexture2DLayeredHeight),
    ITEM(maxTexture2DLayered, 2, MaxTexture2DLayeredLayers),
    ITEM(maxTextureCubemapLayered, 0, MaxTextureCubemapLayeredWidth),
    ITEM(maxTextureCubemapLayered, 1, MaxTextureCubemapLayeredLayers),
    FIELD(maxSurface1D, MaxSurface1DWidth), ITEM(maxSurface2D, 0, MaxSurface2DWidth),
    ITEM(maxSurface2D, 1, MaxSurface2DHeight), ITEM(maxSurface3D, 0, MaxSurface3DWidth),
    ITEM(maxSurface3D, 1, MaxSurface3DHeight), ITEM(maxSurface3D, 2, MaxSurface3DDepth),
    ITEM(maxSurface1DLayered, 0, MaxSurface1DLayeredWidth),
    ITEM(maxSurface1DLayered, 1, MaxSurface1DLayeredLayers),
    ITEM(maxSurface2DLayered, 0, MaxSurface2DLayeredWidth),
    ITEM(maxSurface2DLayered, 1, MaxSurface2DLayeredHeight),
    ITEM(maxSurface2DLayered, 2, MaxSurface2DLayeredLayers),
    FIELD(maxSurfaceCubemap, MaxSurfaceCubemapWidth),
    ITEM(maxSurfaceCubemapLayered, 0, MaxSurfaceCubemapLayeredWidth),
    ITEM(maxSurfaceCubemapLayered, 1, MaxSurfaceCubemapLayeredLayers),
    FIELD(surfaceAlignment, SurfaceAlignment), FIELD(concurrentKernels, ConcurrentKernels),
    FIELD(ECCEnabled, EccEnabled), FIELD(pciBusID, PciBusId), FIELD(pciDeviceID, PciDeviceId),
    FIELD(pciDomainID, PciDomainId), FIELD(tccDriver, TccDriver),
    FIELD(asyncEngineCount, AsyncEngineCount), FIELD(unifiedAddressing, UnifiedAddressing),
    FIELD(memoryBusWidth, GlobalMemoryBusWidth), FIELD(l2CacheSize, L2CacheSize),
    FIELD(persistingL2CacheMaxSize, MaxPersistingL2CacheSize),
    FIELD(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor),
    FIELD(streamPrioritiesSupported, StreamPrioritiesSupported),
    FIELD(globalL1CacheSupported, GlobalL1CacheSupported),
    FIELD(localL1CacheSupported, LocalL1CacheSupported),
    FIELD(sharedMemPerMultiprocessor, MaxSharedMemoryPerMultiprocessor),
    FIELD(regsPerMultiprocessor, MaxRegistersPerMultiprocessor),
    FIELD(managedMemory, ManagedMemory), FIELD(isMultiGpuBoard, IsMultiGpuBoard),
    FIELD(multiGpuBoardGroupID, MultiGpuBoardGroupID),
    FIELD(hostNativeAtomicSupported, HostNativeAtomicSupported),
    FIELD(pageableMemoryAccess, PageableMemoryAccess),
    FIELD(concurrentManagedAccess, ConcurrentManagedAccess),
    FIELD(computePreemptionSupported, ComputePreemptionSupported),
    FIELD(canUseHostPointerForRegisteredMem, CanUseHostPointerForRegisteredMem),
    FIELD(cooperativeLaunch, CooperativeLaunch),
    FIELD(sharedMemPerBlockOptin, MaxSharedMemoryPerBlockOptin),
    FIELD(pageableMemoryAccessUsesHostPageTables, PageableMemoryAccessUsesHostPageTables),
    FIELD(directManagedMemAccessFromHost, DirectManagedMemAccessFromHost),
    FIELD(maxBlocksPerMultiProcessor, MaxBlocksPerMultiprocessor),
    FIELD(accessPolicyMaxWindowSize, MaxAccessPolicyWindowSize),
    FIELD(reservedSharedMemPerBlock, ReservedSharedMemoryPerBlock),
    FIELD(hostRegisterSupported, HostRegisterSupported),
    FIELD(sparseCudaArraySupported, SparseCudaArraySupported),
    FIELD(hostRegisterReadOnlySupported, HostRegisterReadOnlySupported),
    FIELD(timelineSemaphoreInteropSupported, TimelineSemaphoreInteropSupported),
    FIELD(memoryPoolsSupported, MemoryPoolsSupported),
    FIELD(gpuDirectRDMASupported, GPUDirectRDMASupported),
    FIELD(gpuDirectRDMAFlushWritesOptions, GPUDirectRDMAFlushWritesOptions),
    FIELD(gpuDirectRDMAWritesOrdering, GPUDirectRDMAWritesOrdering),
    FIELD(memoryPoolSupportedHandleTypes, MemoryPoolSupportedHandleTypes),
    FIELD(deferredMappingCudaArraySupported, DeferredMappingCudaArraySupported),
    FIELD(ipcEventSupported, IpcEventSupport), FIELD(clusterLaunch, ClusterLaunch),
    FIELD(unifiedFunctionPointers, Reserved129), FIELD(deviceNumaConfig, NumaConfig),
    FIELD(deviceNumaId, NumaId), FIELD(mpsEnabled, MpsEnabled), FIELD(hostNumaId, HostNumaId),
    FIELD(gpuPciDeviceID, GpuPciDeviceId), FIELD(gpuPciSubsystemID, GpuPciSubsystemId),
    FIELD(hostNumaMultinodeIpcSupported, HostNumaMultinodeIpcSupported),
    // Fields that CUDA 13 removed; grader/cuda/toolkit_headers.py gives them back to programs.
    ITEM(reserved, 0, ClockRate), ITEM(reserved, 1, GpuOverlap), ITEM(reserved, 2, ComputeMode),
    ITEM(reserved, 3, KernelExecTimeout), ITEM(reserved, 4, MaxTexture1DLinearWidth),
    ITEM(reserved, 5, MemoryClockRate), ITEM(reserved, 6, SingleToDoublePrecisionPerfRatio),
    ITEM(reserved, 7, Reserved96)};

void fill(cudaDeviceProp &properties, const Field &field, int device)
{
    int value = 0;
    cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(field.attribute), device);
    char *place = reinterpret_cast<char *>(&properties) + field.offset;
    size_t wide = static_cast<size_t>(value);
    if (field.wide)
        memcpy(place, &wide, sizeof wide);
    else
        memcpy(place, &value, sizeof value);
}

} // namespace

API cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (!properties)
        return keep(cudaErrorInvalidValue);
    int value = 0;
    if (cudaError_t error = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, device))
        return error;
    memset(properties, 0, sizeof *properties);
    for (const Field &field : fields)
        fill(*properties, field, device);
    cuDeviceGetName(properties->name, sizeof properties->name, device);
    cuDeviceGetUuid(&properties->uuid, device);
    return keep(cuDeviceTotalMem(&properties->totalGlobalMem, device));
}
