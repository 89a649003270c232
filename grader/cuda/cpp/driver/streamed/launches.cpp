// Launches of kernels and host functions.
#include "driver/streamed.h"

API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                     void **extra)
{
    ENTER(healthy);
    REQUIRE(config, bad_value);
    CUstream stream = config->hStream;
    CHECK(stream);
    if (!is_live(function))
        TRY(function_of(reinterpret_cast<CUkernel>(function), stream->context, &function));
    REQUIRE(function->module->context == stream->context, bad_handle);
    Launch launch;
    TRY(make_launch(function, *config, parameters, extra, &launch));
    return submit(call, stream, std::move(launch));
}

API cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared,
                   CUstream stream, void **parameters, void **extra)
{
    CUlaunchConfig config = {grid_x,  grid_y,         grid_z, block_x, block_y,
                             block_z, dynamic_shared, stream, nullptr, 0};
    return cuLaunchKernelEx(&config, function, parameters, extra);
}

API cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                              unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned dynamic_shared, CUstream stream, void **parameters)
{
    CUlaunchAttribute cooperative = {};
    cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    cooperative.value.cooperative = 1;
    CUlaunchConfig config = {grid_x,  grid_y,         grid_z, block_x,      block_y,
                             block_z, dynamic_shared, stream, &cooperative, 1};
    return cuLaunchKernelEx(&config, function, parameters, nullptr);
}
