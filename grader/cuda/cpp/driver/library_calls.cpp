// For libcublas and libcurand: views of memory, and their time on the modelled clock.
#include "libraries/library.h"

#include "driver/driver.h"

extern "C" void *grader_view(const void *pointer, size_t bytes, bool writes)
{
    State &s = state();
    std::lock_guard<std::mutex> lock(s.mutex);
    auto address = reinterpret_cast<CUdeviceptr>(pointer);
    const Allocation *memory = find_allocation(address);
    if (!memory || bytes > memory->address + memory->bytes - address)
        return nullptr;
    if (writes && s.check)
        send(wire::Written{address, bytes});
    return host_view(address);
}

extern "C" void grader_library_call(CUstream handle, const char *name, uint32_t arithmetic,
                                    double operations, double bytes)
{
    Call call(Need::healthy);
    CUstream stream = call.status ? nullptr : find_stream(handle, CU_STREAM_LEGACY);
    if (!stream || stream->capture)
        return;
    wire::Library message = {stream->number, stream->context->device_number(), arithmetic,
                             operations, bytes};
    send(message, name, strlen(name));
}
