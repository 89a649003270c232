// Launches in the form before CUDA 4: a function keeps its block and its parameters. PyCUDA and
// older programs use them.
#include "driver/driver.h"

namespace {

CUresult set_parameter(CUfunction function, int offset, const void *value, unsigned bytes)
{
    ENTER(healthy);
    REQUIRE(is_live(function), bad_handle);
    REQUIRE(offset >= 0 && value, bad_value);
    REQUIRE(size_t(offset) + bytes <= function->parameter_bytes(), bad_value);
    auto &parameters = function->setup.parameters;
    parameters.resize(function->parameter_bytes());
    if (bytes)
        memcpy(parameters.data() + offset, value, bytes);
    return CUDA_SUCCESS;
}

// A size may include padding behind the last parameter.
unsigned padded_bytes(const CUfunc_st &function)
{
    return (function.parameter_bytes() + 15u) / 16 * 16;
}

} // namespace

API cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    ENTER(healthy);
    REQUIRE(is_live(function), bad_handle);
    REQUIRE(x > 0 && y > 0 && z > 0, bad_value);
    REQUIRE(x <= attribute("MAX_BLOCK_DIM_X") && y <= attribute("MAX_BLOCK_DIM_Y") &&
                z <= attribute("MAX_BLOCK_DIM_Z") &&
                int64_t(x) * y * z <= attribute("MAX_THREADS_PER_BLOCK"),
            bad_value);
    auto &block = function->setup.block;
    block[0] = static_cast<unsigned>(x);
    block[1] = static_cast<unsigned>(y);
    block[2] = static_cast<unsigned>(z);
    return CUDA_SUCCESS;
}

API cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    CUfunc_st::Setup setup;
    {
        ENTER(healthy);
        REQUIRE(is_live(function), bad_handle);
        REQUIRE(width > 0 && height > 0, bad_value);
        setup = function->setup;
        setup.parameters.resize(function->parameter_bytes());
    }
    size_t bytes = setup.parameters.size();
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, setup.parameters.data(),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    auto &block = setup.block;
    return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                          block[0], block[1], block[2], setup.dynamic_shared, stream, nullptr,
                          extra);
}
