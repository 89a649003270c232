// Copies and fills: the client moves the data, because it shares the memory of the devices; the
// session is informed for the clock and for the checked mode.
#include "driver/driver.h"

namespace {

// One side of a box: the address of its first byte, and the distances of its rows and slices.
struct Side {
    CUdeviceptr first;
    size_t pitch, slice;
    CUmemorytype type;

    char *row(size_t y, size_t z) const { return host_view(first + z * slice + y * pitch); }
};

struct Boxed {
    Side from, to;
    size_t width, height, depth;

    bool regular(const Side &side) const { return depth == 1 || side.slice == side.pitch * height; }
    bool dense(const Side &side) const
    {
        return regular(side) && (height * depth == 1 || side.pitch == width);
    }
    // From the first byte to the last.
    size_t extent(const Side &side) const
    {
        return (depth - 1) * side.slice + (height - 1) * side.pitch + width;
    }
    bool empty() const { return !width || !height || !depth; }
};

Side make_side(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array, size_t x,
               size_t y, size_t z, size_t pitch, size_t height, size_t width)
{
    if (type == CU_MEMORYTYPE_ARRAY) {
        size_t row = array->row_bytes(), slice = row * array->rows();
        return {array->address + x + y * row + z * slice, row, slice, CU_MEMORYTYPE_DEVICE};
    }
    CUdeviceptr base = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : device;
    pitch = pitch ? pitch : width;
    size_t slice = pitch * (height ? height : 1);
    return {base + x + y * pitch + z * slice, pitch, slice, type};
}

Boxed resolve(const CUDA_MEMCPY3D &box)
{
    return {make_side(box.srcMemoryType, box.srcHost, box.srcDevice, box.srcArray, box.srcXInBytes,
                      box.srcY, box.srcZ, box.srcPitch, box.srcHeight, box.WidthInBytes),
            make_side(box.dstMemoryType, box.dstHost, box.dstDevice, box.dstArray, box.dstXInBytes,
                      box.dstY, box.dstZ, box.dstPitch, box.dstHeight, box.WidthInBytes),
            box.WidthInBytes, box.Height, box.Depth};
}

bool on_device(CUdeviceptr address)
{
    const Allocation *memory = find_allocation(address);
    return memory && memory->kind != Kind::host && memory->kind != Kind::registered;
}

const char *name_direction(bool from_device, bool to_device)
{
    constexpr const char *names[] = {"host to host", "host to device", "device to host",
                                     "device to device"};
    return names[2 * from_device + to_device];
}

const char *name_kind(const Boxed &box)
{
    if (box.from.type == CU_MEMORYTYPE_DEVICE)
        return box.to.type == CU_MEMORYTYPE_DEVICE ? "cudaMemcpyDeviceToDevice"
                                                   : "cudaMemcpyDeviceToHost";
    return box.to.type == CU_MEMORYTYPE_DEVICE ? "cudaMemcpyHostToDevice" : "cudaMemcpyDefault";
}

void report_wrong_direction(const Boxed &box, const Side &side)
{
    bool from = on_device(box.from.first), to = on_device(box.to.first);
    std::string given = name_kind(box), real = name_direction(from, to);
    report_misuse("wrong_direction", side.first, box.extent(side),
                  "given=" + given + "\nreal=" + real + "\n");
}

// The reason why bytes are not inside an allocation.
void report_bad_range(CUdeviceptr address, size_t bytes)
{
    if (!state().check)
        return;
    if (const Allocation *memory = find_allocation(address)) {
        size_t available = memory->bytes - memory->offset_of(address);
        report_misuse("copy_beyond_allocation", address, bytes,
                      "available=" + std::to_string(available) + "\n");
    } else if (find_freed(address)) {
        report_misuse("use_after_free", address, bytes, "");
    }
}

// Mapped virtual memory may follow other such memory.
bool holds(CUdeviceptr address, size_t bytes)
{
    const Allocation *memory = find_allocation(address);
    if (!memory)
        return false;
    size_t available = memory->bytes - memory->offset_of(address);
    CUdeviceptr next = address + available;
    return bytes <= available || (in_window(next) && holds(next, bytes - available));
}

// The device's side must be an allocation; the host's side may be any memory of the process.
CUresult check_side(const Boxed &box, const Side &side)
{
    bool known = find_allocation(side.first) != nullptr;
    bool free = side.type != CU_MEMORYTYPE_DEVICE && !in_window(side.first) && !known;
    REQUIRE(side.first, bad_value);
    if (free || holds(side.first, box.extent(side)))
        return CUDA_SUCCESS;
    if (!known && !in_window(side.first) && state().check)
        report_wrong_direction(box, side);
    else
        report_bad_range(side.first, box.extent(side));
    return bad_value;
}

// Addresses are unique, so the copy is right although its name is wrong.
void check_direction(const Boxed &box)
{
    for (const Side &side : {box.from, box.to}) {
        const Allocation *memory = find_allocation(side.first);
        if (side.type == CU_MEMORYTYPE_HOST && memory && !memory->on_host()) {
            report_wrong_direction(box, side);
            return;
        }
    }
}

void move_rows(const Boxed &box)
{
    if (box.dense(box.from) && box.dense(box.to)) {
        memmove(box.to.row(0, 0), box.from.row(0, 0), box.width * box.height * box.depth);
        return;
    }
    for (size_t z = 0; z < box.depth; ++z)
        for (size_t y = 0; y < box.height; ++y)
            memmove(box.to.row(y, z), box.from.row(y, z), box.width);
}

bool is_pageable(const Side &side)
{
    return !in_window(side.first) && !find_allocation(side.first);
}

constexpr size_t most_staged = 64 << 20;
size_t staged_bytes = 0;

// Copies the source of a pageable copy, which the program may change after the call.
std::shared_ptr<char> stage(Boxed &box)
{
    size_t bytes = box.width * box.height * box.depth;
    if (staged_bytes + bytes > most_staged)
        finish_all();
    staged_bytes += bytes;
    std::shared_ptr<char> staged(new char[bytes], [bytes](char *end) {
        staged_bytes -= bytes;
        delete[] end;
    });
    Boxed to_staged = box;
    to_staged.to = {reinterpret_cast<CUdeviceptr>(staged.get()), box.width, box.width * box.height,
                    CU_MEMORYTYPE_HOST};
    move_rows(to_staged);
    box.from = to_staged.to;
    return staged;
}

uint32_t direction_of(const Boxed &box)
{
    bool from = on_device(box.from.first), to = on_device(box.to.first);
    if (from && to)
        return find_allocation(box.from.first)->device == find_allocation(box.to.first)->device ? 3
                                                                                                : 4;
    return 2 * from + to;
}

void inform(CUstream stream, const Boxed &box, bool asynchronous)
{
    wire::Copy message = {};
    message.from = box.from.first;
    message.to = box.to.first;
    message.bytes = box.width;
    message.rows = box.height * box.depth;
    message.from_pitch = box.from.pitch;
    message.to_pitch = box.to.pitch;
    message.stream = stream->number;
    message.device = stream->context->device_number();
    message.direction = direction_of(box);
    message.pageable = !find_allocation(box.from.first) || !find_allocation(box.to.first);
    message.asynchronous = asynchronous;
    name_call();
    // the message describes rows alone
    if (state().check && !(box.regular(box.to) && box.regular(box.from))) {
        message.rows = box.height;
        for (size_t z = 1; z < box.depth; ++z)
            send(wire::Written{box.to.first + z * box.to.slice,
                               (box.height - 1) * box.to.pitch + box.width});
    }
    send(message);
}

template <class Value> void fill_row(char *row, unsigned value, size_t count)
{
    auto to = reinterpret_cast<Value *>(row);
    std::fill(to, to + count, static_cast<Value>(value));
}

void fill_row(const CUDA_MEMSET_NODE_PARAMS &fill, size_t y)
{
    char *row = host_view(fill.dst + y * fill.pitch);
    if (fill.elementSize == 1)
        memset(row, static_cast<int>(fill.value), fill.width);
    else if (fill.elementSize == 2)
        fill_row<uint16_t>(row, fill.value, fill.width);
    else
        fill_row<uint32_t>(row, fill.value, fill.width);
}

size_t row_bytes(const CUDA_MEMSET_NODE_PARAMS &fill) { return fill.width * fill.elementSize; }

} // namespace

CUDA_MEMCPY3D line(CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
    CUDA_MEMCPY3D box = {};
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    box.srcDevice = source;
    box.srcHost = reinterpret_cast<const void *>(source);
    box.dstDevice = target;
    box.dstHost = reinterpret_cast<void *>(target);
    box.WidthInBytes = bytes;
    box.Height = box.Depth = 1;
    return box;
}

CUresult check(const Copy &copy)
{
    const CUDA_MEMCPY3D &given = copy.box;
    for (auto [type, array] : {std::pair(given.srcMemoryType, given.srcArray),
                               std::pair(given.dstMemoryType, given.dstArray)})
        REQUIRE(type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED &&
                    (type != CU_MEMORYTYPE_ARRAY || is_live(array)),
                bad_value);
    Boxed box = resolve(given);
    REQUIRE(!box.empty(), CUDA_SUCCESS);
    REQUIRE(box.from.pitch >= box.width && box.to.pitch >= box.width, bad_value);
    TRY(check_side(box, box.to));
    return check_side(box, box.from);
}

CUresult run(CUstream stream, const Copy &copy)
{
    Boxed box = resolve(copy.box);
    REQUIRE(!box.empty(), CUDA_SUCCESS);
    bool from_host = is_on_host(box.from.first), to_host = is_on_host(box.to.first);
    if (copy.asynchronous && (from_host || to_host) && !is_pageable(box.to))
        start_deferring();
    bool waits = !copy.asynchronous || is_pageable(box.to);
    if (waits)
        finish_earlier(*stream);
    inform(stream, box, copy.asynchronous);
    if (waits || !state().deferring) {
        settle(stream->context);
        move_rows(box);
    } else {
        auto kind = from_host || to_host ? Deferred::with_host : Deferred::in_device;
        auto staged = is_pageable(box.from) ? stage(box) : nullptr;
        defer(stream, kind, [=, context = stream->context] {
            settle(context);
            move_rows(box);
            (void)staged;
        });
    }
    if (copy.asynchronous && box.dense(box.to))
        guard_copy(stream, box.to.first, box.width * box.height * box.depth, false);
    if (copy.asynchronous && box.dense(box.from))
        guard_copy(stream, box.from.first, box.width * box.height * box.depth, true);
    bool named_host = box.from.type == CU_MEMORYTYPE_HOST || box.to.type == CU_MEMORYTYPE_HOST;
    if (named_host && state().check)
        check_direction(box);
    return CUDA_SUCCESS;
}

CUresult check(const Fill &operation)
{
    auto &fill = operation.fields;
    REQUIRE(fill.width && fill.height, CUDA_SUCCESS);
    REQUIRE(fill.dst % fill.elementSize == 0, bad_value);
    REQUIRE(fill.height == 1 || fill.pitch >= row_bytes(fill), bad_value);
    size_t bytes = (fill.height - 1) * fill.pitch + row_bytes(fill);
    if (holds(fill.dst, bytes))
        return CUDA_SUCCESS;
    report_bad_range(fill.dst, bytes);
    return bad_value;
}

CUresult run(CUstream stream, const Fill &operation)
{
    const CUDA_MEMSET_NODE_PARAMS fill = operation.fields;
    REQUIRE(fill.width && fill.height, CUDA_SUCCESS);
    bool on_host = is_on_host(fill.dst);
    if (on_host && !operation.asynchronous)
        finish_earlier(*stream);
    name_call();
    send(wire::Set{fill.dst, row_bytes(fill), fill.height, fill.pitch, stream->number,
                   stream->context->device_number()});
    uint64_t number = defer(stream, on_host ? Deferred::with_host : Deferred::in_device,
                            [fill, context = stream->context] {
                                settle(context);
                                for (size_t y = 0; y < fill.height; ++y)
                                    fill_row(fill, y);
                            });
    if (on_host && !operation.asynchronous)
        finish(number);
    return CUDA_SUCCESS;
}
