// Devices: their contexts, properties, limits, flags and peers.
#include "runtime/runtime.h"

#include <mutex>

namespace {

constexpr int max_devices = 64;

thread_local int selected = 0;

CUresult count_devices(int *count)
{
    if (CUresult status = cuInit(0))
        return status;
    return cuDeviceGetCount(count);
}

cudaError_t check_device(int device)
{
    int count = 0;
    if (CUresult status = count_devices(&count))
        return static_cast<cudaError_t>(status);
    return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

struct Contexts {
    std::mutex mutex;
    CUcontext primary[max_devices] = {};
};

Contexts &contexts()
{
    static Contexts &instance = *new Contexts;
    return instance;
}

// Holds the primary context of a device until the device is reset.
cudaError_t retain(int device, CUcontext *context)
{
    if (cudaError_t error = check_device(device))
        return error;
    std::lock_guard<std::mutex> lock(contexts().mutex);
    CUcontext &primary = contexts().primary[device];
    CUresult status = primary ? CUDA_SUCCESS : cuDevicePrimaryCtxRetain(&primary, device);
    *context = primary;
    return static_cast<cudaError_t>(status);
}

cudaError_t current_device(int *device)
{
    CUcontext context = nullptr;
    *device = selected;
    if (cudaError_t error = check_device(selected))
        return error;
    if (cuCtxGetCurrent(&context) || !context)
        return cudaSuccess;
    return static_cast<cudaError_t>(cuCtxGetDevice(device));
}

} // namespace

// --- contexts -----------------------------------------------------------------------------------

CUcontext primary_context(int device)
{
    CUcontext context = nullptr;
    retain(device, &context);
    return context;
}

CUcontext current_context()
{
    CUcontext context = nullptr;
    enter();
    cuCtxGetCurrent(&context);
    return context;
}

cudaError_t enter()
{
    CUcontext context = nullptr;
    if (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context)
        return cudaSuccess;
    if (cudaError_t error = retain(selected, &context))
        return error;
    return static_cast<cudaError_t>(cuCtxSetCurrent(context));
}

API cudaSetDevice(int device)
{
    CUcontext context = nullptr;
    if (cudaError_t error = retain(device, &context))
        return keep(error);
    selected = device;
    return keep(cuCtxSetCurrent(context));
}

API cudaInitDevice(int device, unsigned, unsigned)
{
    CUcontext context = nullptr;
    return keep(retain(device, &context));
}

API cudaGetDevice(int *device)
{
    return device ? keep(current_device(device)) : keep(cudaErrorInvalidValue);
}

API cudaGetDeviceCount(int *count)
{
    return count ? keep(count_devices(count)) : keep(cudaErrorInvalidValue);
}

// Devices of the emulated machine are equal: the first is the best.
API cudaChooseDevice(int *device, const cudaDeviceProp *properties)
{
    if (!device || !properties)
        return keep(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

API cudaDeviceReset()
{
    int device = 0;
    if (cudaError_t error = current_device(&device))
        return keep(error);
    std::lock_guard<std::mutex> lock(contexts().mutex);
    CUcontext &context = contexts().primary[device];
    if (!context)
        return cudaSuccess;
    context = nullptr;
    CUresult status = cuDevicePrimaryCtxReset(device);
    cuDevicePrimaryCtxRelease(device);
    cuCtxSetCurrent(nullptr);
    return keep(status);
}

// --- properties ---------------------------------------------------------------------------------

API cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return keep(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

// --- limits and flags ---------------------------------------------------------------------------

// Banks of shared memory are 4 bytes wide on all devices of today.
API cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *config)
{
    *config = cudaSharedMemBankSizeFourByte;
    return keep(enter());
}

API cudaSetDeviceFlags(unsigned flags)
{
    int device = 0;
    unsigned schedule = flags & cudaDeviceScheduleMask;
    if (flags & ~cudaDeviceMask || (schedule & (schedule - 1)) != 0)
        return keep(cudaErrorInvalidValue);
    if (cudaError_t error = current_device(&device))
        return keep(error);
    return keep(cuDevicePrimaryCtxSetFlags(device, flags & ~cudaDeviceMapHost));
}

API cudaGetDeviceFlags(unsigned *flags)
{
    int device = 0, active = 0;
    if (cudaError_t error = current_device(&device))
        return keep(error);
    CUresult status = cuDevicePrimaryCtxGetState(device, flags, &active);
    *flags |= cudaDeviceMapHost;
    return keep(status);
}

API cudaSetValidDevices(int *devices, int length)
{
    for (int i = 0; i < length; ++i)
        if (cudaError_t error = check_device(devices[i]))
            return keep(error);
    if (length > 0)
        selected = devices[0];
    return cudaSuccess;
}

// --- profiler -----------------------------------------------------------------------------------

extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();

API cudaProfilerStart() { return call(cuProfilerStart); }

API cudaProfilerStop() { return call(cuProfilerStop); }
