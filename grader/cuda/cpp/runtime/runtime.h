// The runtime over the driver: what all files of libcudart share.
//
// Types of both libraries have equal numbers and layouts, so most functions of the runtime are one
// `call` of the driver. The folder streamed/ is compiled twice: CUDA's headers rename its functions
// and the driver's to their variants for per-thread default streams (_ptds, _ptsz).
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <type_traits>

#define API extern "C" cudaError_t

// Keeps an error as the last error of the thread; returns it. cudaErrorNotReady is no error.
cudaError_t keep(cudaError_t error);

inline cudaError_t keep(CUresult result) { return keep(static_cast<cudaError_t>(result)); }

// Makes the primary context of the thread's device current, if the thread has no context.
cudaError_t enter();

CUcontext current_context();

// The primary context of a device, null if there is none.
CUcontext primary_context(int device);

// The kernel of a host function, or of a handle from cudaLibraryGetKernel, in the current context.
cudaError_t find_function(const void *symbol, CUfunction *function);

// A structure of the driver as an argument of `call`, or the error of its translation.
template <class Structure> struct Translated {
    cudaError_t error;
    Structure value;

    operator const Structure *() const { return &value; }
};

template <class> constexpr bool is_translated = false;
template <class Structure> constexpr bool is_translated<Translated<Structure>> = true;

using Box = Translated<CUDA_MEMCPY3D>;
using KernelNode = Translated<CUDA_KERNEL_NODE_PARAMS>;

KernelNode kernel_node(const cudaKernelNodeParams *parameters);

// Finds the kernel where a host function is the argument and a kernel is the parameter. Gives the
// error of an argument.
template <class Parameter, class Argument> cudaError_t resolve(Argument &argument)
{
    if constexpr (std::is_same_v<Parameter, CUfunction> && std::is_same_v<Argument, const void *>) {
        CUfunction function = nullptr;
        cudaError_t error = find_function(argument, &function);
        argument = function;
        return error;
    } else if constexpr (is_translated<Argument>) {
        return argument.error;
    }
    return cudaSuccess;
}

// An argument as the driver's type, which has the same layout.
template <class Parameter, class Argument> Parameter as(const Argument &argument)
{
    if constexpr (std::is_convertible_v<Argument, Parameter>) {
        return argument;
    } else if constexpr (std::is_class_v<Argument>) {
        static_assert(sizeof(Parameter) == sizeof(Argument));
        return *reinterpret_cast<const Parameter *>(&argument);
    } else {
        return (Parameter)argument;
    }
}

// Calls a function of the driver in the thread's context.
template <class... Parameters, class... Arguments>
cudaError_t call(CUresult (*function)(Parameters...), Arguments... arguments)
{
    cudaError_t error = enter();
    ((error = error ? error : resolve<Parameters>(arguments)), ...);
    return keep(error ? error : static_cast<cudaError_t>(function(as<Parameters>(arguments)...)));
}

// Calls a function that allocates. An allocation of 0 bytes succeeds and gives a null pointer.
template <class Address, class... Parameters, class... Arguments>
cudaError_t allocate(void **pointer, size_t bytes, CUresult (*function)(Address *, Parameters...),
                     Arguments... arguments)
{
    if (cudaError_t error = enter())
        return keep(error);
    if (!pointer)
        return keep(cudaErrorInvalidValue);
    *pointer = nullptr;
    auto address = reinterpret_cast<Address *>(pointer);
    return bytes ? call(function, address, arguments...) : cudaSuccess;
}

// The address and size of a __device__, __constant__ or __managed__ variable in the current
// context.
cudaError_t find_variable(const void *symbol, CUdeviceptr *address, size_t *bytes);

// The host function of a kernel that find_function returned, else the kernel itself.
const void *symbol_of(CUfunction function);
