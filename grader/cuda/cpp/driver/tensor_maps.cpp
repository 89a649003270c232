// Tensor maps: emulator/layouts/tensor_maps.py describes their 128 bytes.
#include "driver/driver.h"

namespace {

// The size of an element, by CUtensorMapDataType, and the type in the map.
struct Element {
    unsigned bytes, type;
    bool as_tfloat32;
};

constexpr Element elements[] = {
    {1, wire::ElementType::U8, false},  {2, wire::ElementType::U16, false},
    {4, wire::ElementType::U32, false}, {4, wire::ElementType::S32, false},
    {8, wire::ElementType::U64, false}, {8, wire::ElementType::S64, false},
    {2, wire::ElementType::F16, false}, {4, wire::ElementType::F32, false},
    {8, wire::ElementType::F64, false}, {2, wire::ElementType::BF16, false},
    {4, wire::ElementType::F32, false}, // denormals become zero
    {4, wire::ElementType::F32, true},  {4, wire::ElementType::F32, true},
};

constexpr size_t kind = 2, strides_at = 3, high_strides = 7, extents_at = 8, steps_at = 13,
                 box_byte = 55, size_at = 16, alignment_at = 18;

bool is_valid(unsigned rank, const Element &element, const void *address, const cuuint64_t *extents,
              const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *steps,
              CUtensorMapSwizzle swizzle)
{
    if (reinterpret_cast<uintptr_t>(address) % 16 || !extents || !box || !steps)
        return false;
    for (unsigned i = 0; i < rank; ++i)
        if (!extents[i] || extents[i] > (uint64_t(1) << 32) || !box[i] || box[i] > 256 ||
            !steps[i] || steps[i] > 8)
            return false;
    for (unsigned i = 0; i + 1 < rank; ++i)
        if (strides[i] % 16 || strides[i] >= uint64_t(1) << 40)
            return false;
    size_t row = size_t(box[0]) * element.bytes;
    return row % 16 == 0 && (!swizzle || row <= size_t(16) << swizzle);
}

} // namespace

API cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                           void *address, const cuuint64_t *extents, const cuuint64_t *strides,
                           const cuuint32_t *box, const cuuint32_t *steps,
                           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill)
{
    REQUIRE(map && static_cast<size_t>(type) < std::size(elements) && rank >= 1 && rank <= 5,
            bad_value);
    REQUIRE(!interleave && swizzle <= CU_TENSOR_MAP_SWIZZLE_128B, CUDA_ERROR_NOT_SUPPORTED);
    const Element &element = elements[type];
    REQUIRE(is_valid(rank, element, address, extents, strides, box, steps, swizzle), bad_value);
    uint32_t words[32] = {};
    memcpy(words, &address, sizeof address);
    words[kind] = (rank - 1) << 4 | element.type << 7 | static_cast<unsigned>(swizzle) << 13 |
                  static_cast<unsigned>(fill) << 15 | unsigned(element.as_tfloat32) << 16;
    for (unsigned i = 0; i + 1 < rank; ++i) {
        words[strides_at + i] = static_cast<uint32_t>(strides[i] >> 4);
        words[high_strides] |= static_cast<uint32_t>(strides[i] >> 36) << 4 * i;
    }
    words[size_at] = element.bytes;
    for (unsigned i = 0; i < rank; ++i) {
        words[extents_at + i] = static_cast<uint32_t>(extents[i] - 1);
        words[steps_at] |= (steps[i] - 1) << 3 * i;
        words[size_at] *= box[i] / steps[i];
    }
    words[alignment_at] = swizzle ? 128u << swizzle : 16;
    memcpy(map, words, sizeof words);
    for (unsigned i = 0; i < rank; ++i)
        reinterpret_cast<unsigned char *>(map)[box_byte + i] = static_cast<unsigned char>(box[i] -
                                                                                          1);
    return CUDA_SUCCESS;
}
