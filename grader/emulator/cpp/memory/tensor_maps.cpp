// Tensor maps (PTX ISA, "Tensor-map"), and the copies and reductions of boxes of a tensor
// (cp.async.bulk.tensor). The layout of the 128 bytes is taken from the code that ptxas emits for
// tensormap.replace.
#include "checked/checked.h"
#include "memory/bulk_copies.h"

constexpr uint32_t MAP_BYTES = 128, MAP_ALIGNMENT = 64, TARGET_ALIGNMENT = 128, MOST_AXES = 5;

// --- maps ----------------------------------------------------------------------------------------

// A tensor in global memory, fastest axis first. A box takes every `steps`-th element along an
// axis.
struct TensorMap {
    uint64_t address, strides[MOST_AXES], extents[MOST_AXES];
    uint32_t rank, type, interleave, swizzle, box[MOST_AXES], steps[MOST_AXES];
    bool fills_with_nan;

    bool narrows() const { return type == ElementType::TF32 || type == ElementType::TF32_FTZ; }
    uint32_t taken(uint32_t axis) const { return (box[axis] + steps[axis] - 1) / steps[axis]; }
    uint32_t row_bytes() const { return box[0] * element_bytes(type); }
    // Bytes between two rows in shared memory.
    uint32_t pitch_bytes() const { return swizzle == 0 ? row_bytes() : UNIT_BYTES << swizzle; }
};

// Indices of the map's words.
constexpr uint32_t KIND = 2, STRIDES = 3, HIGH_STRIDES = 7, EXTENTS = 8, STEPS = 13;
constexpr uint32_t BOX_BYTE = 55, STEP_BITS = 3;

static TensorMap parse_map(const uint8_t *bytes)
{
    uint32_t words[MAP_BYTES / 4];
    memcpy(words, bytes, sizeof words);
    TensorMap map{};
    map.address = words[0] | uint64_t(words[1]) << 32;
    map.rank = (words[KIND] >> 4 & 7) + 1;
    map.type = words[KIND] >> 7 & 15;
    map.interleave = words[KIND] >> 11 & 3;
    map.swizzle = words[KIND] >> 13 & 3;
    map.fills_with_nan = words[KIND] >> 15 & 1;
    // The types with FTZ have the same distance.
    map.type += words[KIND] >> 16 & 1 ? ElementType::TF32 - ElementType::F32 : 0;
    for (uint32_t axis = 0; axis < MOST_AXES; ++axis) {
        bool within = axis < map.rank;
        map.extents[axis] = uint64_t(words[EXTENTS + axis]) + 1;
        map.box[axis] = within ? bytes[BOX_BYTE + axis] + 1 : 1;
        // Without interleaving, the fastest axis has no step.
        map.steps[axis] = within && axis > 0 ? (words[STEPS] >> axis * STEP_BITS & 7) + 1 : 1;
    }
    for (uint32_t axis = 1; axis < MOST_AXES; ++axis) {
        uint64_t high = words[HIGH_STRIDES] >> (axis - 1) * 4 & 15;
        map.strides[axis] = (words[STRIDES + axis - 1] | high << 32) << 4;
    }
    return map;
}

// --- boxes ---------------------------------------------------------------------------------------

// Exchanges chunks of 16 bytes within 32, 64 or 128 bytes; a row then has this size.
static uint32_t swizzled(uint32_t address, uint32_t swizzle)
{
    return address ^ (address >> 7 & (bit(swizzle) - 1)) << 4;
}

// Collects the units of a box and moves 32 at a time.
struct Box {
    BulkCopy &copy;
    const TensorMap &map;
    const int32_t *corner;
    uint32_t place; // in shared memory
    bool loads;
    End tensor{true, {}}, shared{false, {}};
    uint32_t count = 0, inside = 0;

    uint32_t flush();
    uint32_t add_row(uint64_t row, bool within);
    uint32_t walk();
};

uint32_t Box::flush()
{
    uint32_t mask = count == WARP_LANES ? FULL_MASK : bit(count) - 1, code;
    if (loads)
        code = copy.move(shared, tensor, mask, inside);
    else
        code = copy.move(tensor, shared, mask & inside, inside);
    count = inside = 0;
    return code;
}

// A load ends at the row's last element, a store at a multiple of 16 bytes (seen on an H200).
static uint64_t end_of_row(const TensorMap &map, bool loads)
{
    uint64_t bytes = map.extents[0] * element_bytes(map.type);
    return loads ? bytes : (bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
}

// Adds the units of a row whose first element has this address; `within`: the row lies in the
// tensor.
uint32_t Box::add_row(uint64_t row, bool within)
{
    int64_t first = int64_t(corner[0]) * element_bytes(map.type);
    int64_t end = int64_t(end_of_row(map, loads));
    uint32_t start = place;
    place += map.pitch_bytes();
    for (uint32_t at = 0; at < map.row_bytes(); at += copy.moves.width) {
        int64_t behind = first + at;
        tensor.addresses[count] = row + behind;
        shared.addresses[count] = swizzled(start + at, map.swizzle);
        inside |= within && behind >= 0 && behind < end ? bit(count) : 0;
        if (++count < WARP_LANES)
            continue;
        uint32_t code = flush();
        if (code != FaultCode::NONE)
            return code;
    }
    return FaultCode::NONE;
}

uint32_t Box::walk()
{
    uint32_t at[MOST_AXES] = {};
    for (;;) {
        uint64_t row = map.address;
        bool within = true;
        for (uint32_t axis = 1; axis < map.rank; ++axis) {
            int64_t index = int64_t(corner[axis]) + at[axis] * map.steps[axis];
            within = within && index >= 0 && index < int64_t(map.extents[axis]);
            row += index * map.strides[axis];
        }
        uint32_t code = add_row(row, within), axis = 1;
        while (axis < map.rank && ++at[axis] == map.taken(axis))
            at[axis++] = 0;
        if (code != FaultCode::NONE || axis >= map.rank)
            return code == FaultCode::NONE ? flush() : code;
    }
}

// --- what kernels call ---------------------------------------------------------------------------

// Reads the bytes of a map by accesses of the maps' slot.
static uint32_t read_map(BulkCopy &copy, uint32_t slot, uint64_t address, uint8_t *bytes)
{
    if (address % MAP_ALIGNMENT != 0)
        return copy.fail(FaultCode::GLOBAL_ALIGNMENT, address);
    BulkCopy reading{copy.context, copy.warp, copy.instruction, slot, slot};
    End map{true, {}};
    for (uint32_t lane = 0; lane < MAP_BYTES / UNIT_BYTES; ++lane)
        map.addresses[lane] = address + lane * UNIT_BYTES;
    return reading.read(map, bit(MAP_BYTES / UNIT_BYTES) - 1, bytes);
}

// The widest unit that divides the row's end and the box's row.
static uint32_t unit_width(const TensorMap &map, bool loads)
{
    uint32_t width = UNIT_BYTES;
    while ((end_of_row(map, loads) | map.row_bytes()) % width != 0)
        width /= 2;
    return width;
}

// Fill pattern outside a tensor of floats, for every float type (seen on an H200).
constexpr uint32_t NAN_FILL = 0x7FF77FF7;

// Copies a box of the tensor of a map, from the element at a corner on, to or from a place in
// shared memory; a load arrives at a barrier object.
EXPORT uint32_t emulator_copy_tensor(Context *context, Warp *warp, uint32_t instruction,
                                     uint32_t load_slot, uint32_t store_slot, uint32_t map_slot,
                                     uint32_t form, uint64_t map_address, uint32_t place,
                                     uint32_t object, uint32_t blocks, int32_t x, int32_t y,
                                     int32_t z, int32_t v, int32_t w)
{
    BulkCopy copy{*context, *warp, instruction, load_slot, store_slot};
    uint8_t bytes[MAP_BYTES];
    uint32_t code = read_map(copy, map_slot, map_address, bytes);
    if (code != FaultCode::NONE)
        return code;
    if (place % TARGET_ALIGNMENT != 0)
        return copy.fail(FaultCode::SHARED_ALIGNMENT, place);
    TensorMap map = parse_map(bytes);
    bool loads = form & BulkForm::FROM_GLOBAL;
    copy.set(form, unit_width(map, loads));
    copy.moves.reduction.type = map.type;
    if (map.interleave != 0 || map.rank != (form & BulkForm::DIMENSIONS) ||
        element_bytes(map.type) == 0 || (copy.moves.reduces && !is_known(copy.moves.reduction)))
        return copy.fail(FaultCode::UNSUPPORTED, map_address);
    int32_t corner[MOST_AXES] = {x, y, z, v, w};
    uint32_t first = uint32_t(x) * element_bytes(map.type);
    if (first % UNIT_BYTES != 0)
        return copy.fail(FaultCode::GLOBAL_ALIGNMENT, map.address + int32_t(first));
    for (uint32_t axis = 0; axis < map.rank && !loads; ++axis)
        if (corner[axis] < 0) // an H200 stores no part of such a box
            return copy.fail(FaultCode::GLOBAL_BOUNDS,
                             map.address +
                                 int64_t(corner[axis]) *
                                     (axis == 0 ? element_bytes(map.type) : map.strides[axis]));
    copy.moves.fill = map.fills_with_nan ? NAN_FILL : 0;
    copy.moves.narrows = loads && map.narrows();
    copy.blocks = blocks;
    Box box{copy, map, corner, place, loads};
    code = box.walk();
    uint32_t size = map.row_bytes();
    for (uint32_t axis = 1; axis < map.rank; ++axis)
        size *= map.taken(axis);
    if (code != FaultCode::NONE)
        return code;
    return loads ? copy.end_with_arrival(object, size) : copy.end_with_group();
}
