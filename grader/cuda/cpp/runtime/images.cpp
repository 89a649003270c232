// Code and variables of the program: nvcc's host code registers them before main.
//
// An image (a fat binary) is loaded when the program first uses one of its kernels or variables.
// The driver selects the code for the device inside the image.
#include "runtime/runtime.h"

#include <fatbinary_section.h>

#include <mutex>
#include <unordered_map>
#include <vector>

namespace {

struct Variable {
    struct Image *image;
    const char *name;
    bool managed;
};

struct Managed {
    void **pointer; // the program's pointer, null until the image is loaded
    const char *name;
};

struct Kernel {
    struct Image *image;
    const char *name;
    CUkernel handle = nullptr;
};

struct Image {
    const void *data;
    std::vector<Managed> managed = {};
    CUlibrary library = nullptr;
    CUresult status = CUDA_SUCCESS;
};

// Never destroyed: programs register and use kernels before and after main.
struct Registry {
    std::recursive_mutex mutex;
    std::unordered_map<const void *, Kernel> kernels;     // by host function
    std::unordered_map<const void *, Variable> variables; // by host or managed address
    std::unordered_map<CUfunction, const void *> symbols;
};

Registry &registry()
{
    static Registry &instance = *new Registry;
    return instance;
}

using Lock = std::lock_guard<std::recursive_mutex>;

// The program uses the address of a __managed__ variable as its symbol.
CUresult place_managed(Image &image)
{
    for (Managed &managed : image.managed) {
        auto address = reinterpret_cast<CUdeviceptr *>(managed.pointer);
        if (CUresult status = cuLibraryGetManaged(address, nullptr, image.library, managed.name))
            return status;
        registry().variables[*managed.pointer] = {&image, managed.name, true};
    }
    return CUDA_SUCCESS;
}

CUresult load(Image &image)
{
    if (image.library || image.status)
        return image.status;
    image.status = cuLibraryLoadData(&image.library, image.data, nullptr, nullptr, 0, nullptr,
                                     nullptr, 0);
    if (!image.status)
        image.status = place_managed(image);
    return image.status;
}

cudaError_t find_kernel(const void *symbol, CUkernel *handle)
{
    Lock lock(registry().mutex);
    auto found = registry().kernels.find(symbol);
    if (found == registry().kernels.end()) {
        *handle = static_cast<CUkernel>(const_cast<void *>(symbol)); // the driver checks handles
        return symbol ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    }
    Kernel &kernel = found->second;
    if (CUresult status = load(*kernel.image))
        return static_cast<cudaError_t>(status);
    if (!kernel.handle && cuLibraryGetKernel(&kernel.handle, kernel.image->library, kernel.name))
        return cudaErrorInvalidDeviceFunction;
    *handle = kernel.handle;
    return cudaSuccess;
}

template <class Entries> void forget(Entries &entries, const Image *image)
{
    for (auto entry = entries.begin(); entry != entries.end();)
        entry = entry->second.image == image ? entries.erase(entry) : std::next(entry);
}

} // namespace

cudaError_t find_function(const void *symbol, CUfunction *function)
{
    CUkernel kernel = nullptr;
    if (cudaError_t error = enter())
        return error;
    if (cudaError_t error = find_kernel(symbol, &kernel))
        return error;
    if (CUresult status = cuKernelGetFunction(function, kernel))
        return static_cast<cudaError_t>(status);
    Lock lock(registry().mutex);
    registry().symbols.emplace(*function, symbol);
    return cudaSuccess;
}

cudaError_t find_variable(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    if (cudaError_t error = enter())
        return error;
    Lock lock(registry().mutex);
    auto found = registry().variables.find(symbol);
    if (found == registry().variables.end())
        return cudaErrorInvalidSymbol;
    Variable &variable = found->second;
    if (CUresult status = load(*variable.image))
        return static_cast<cudaError_t>(status);
    auto get = variable.managed ? cuLibraryGetManaged : cuLibraryGetGlobal;
    if (get(address, bytes, variable.image->library, variable.name))
        return cudaErrorInvalidSymbol;
    return cudaSuccess;
}

const void *symbol_of(CUfunction function)
{
    Lock lock(registry().mutex);
    auto found = registry().symbols.find(function);
    return found == registry().symbols.end() ? function : found->second;
}

// --- functions that nvcc's host code calls -------------------------------------------------------

extern "C" void **__cudaRegisterFatBinary(void *wrapper)
{
    auto &header = *static_cast<const __fatBinC_Wrapper_t *>(wrapper);
    return reinterpret_cast<void **>(new Image{header.data});
}

extern "C" void __cudaRegisterFatBinaryEnd(void **) {}

extern "C" void __cudaUnregisterFatBinary(void **handle)
{
    auto image = reinterpret_cast<Image *>(handle);
    Lock lock(registry().mutex);
    forget(registry().kernels, image);
    forget(registry().variables, image);
    if (image->library)
        cuLibraryUnload(image->library);
    delete image;
}

extern "C" void __cudaRegisterFunction(void **handle, const char *host_function, char *,
                                       const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *,
                                       int *)
{
    Lock lock(registry().mutex);
    registry().kernels[host_function] = {reinterpret_cast<Image *>(handle), name};
}

extern "C" void __cudaRegisterVar(void **handle, char *host_variable, char *, const char *name, int,
                                  size_t, int, int)
{
    Lock lock(registry().mutex);
    registry().variables[host_variable] = {reinterpret_cast<Image *>(handle), name, false};
}

extern "C" void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *,
                                         const char *name, int, size_t, int, int)
{
    Lock lock(registry().mutex);
    reinterpret_cast<Image *>(handle)->managed.push_back({host_pointer, name});
}

extern "C" char __cudaInitModule(void **handle)
{
    Lock lock(registry().mutex);
    return keep(enter()) == cudaSuccess &&
           keep(load(*reinterpret_cast<Image *>(handle))) == cudaSuccess;
}

// The handle of a launch is the host function itself: errors of the image appear at the launch, not
// once before it.
API __cudaGetKernel(cudaKernel_t *kernel, const void *symbol)
{
    *kernel = static_cast<cudaKernel_t>(const_cast<void *>(symbol));
    return cudaSuccess;
}

// --- symbols and kernels ------------------------------------------------------------------------

API cudaGetKernel(cudaKernel_t *kernel, const void *symbol)
{
    cudaError_t error = enter();
    return keep(error ? error : find_kernel(symbol, kernel));
}

API cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    CUdeviceptr address = 0;
    return keep(find_variable(symbol, &address, bytes));
}
