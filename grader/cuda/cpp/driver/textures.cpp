// Arrays, textures and surfaces. An array is dense memory: x, y, z, then layers.
#include "driver/driver.h"

namespace {

constexpr uint64_t most_textures = 4096;

struct Format {
    CUarray_format format;
    unsigned bytes;
    uint32_t texels, fractions; // as integers or floats, and as fractions of the maximum
};

constexpr Format formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 1, wire::Texels::UNSIGNED_8, wire::Texels::UNSIGNED_8_FRACTIONS},
    {CU_AD_FORMAT_SIGNED_INT8, 1, wire::Texels::SIGNED_8, wire::Texels::SIGNED_8_FRACTIONS},
    {CU_AD_FORMAT_UNSIGNED_INT16, 2, wire::Texels::UNSIGNED_16,
     wire::Texels::UNSIGNED_16_FRACTIONS},
    {CU_AD_FORMAT_SIGNED_INT16, 2, wire::Texels::SIGNED_16, wire::Texels::SIGNED_16_FRACTIONS},
    {CU_AD_FORMAT_UNSIGNED_INT32, 4, wire::Texels::WORDS, wire::Texels::WORDS},
    {CU_AD_FORMAT_SIGNED_INT32, 4, wire::Texels::WORDS, wire::Texels::WORDS},
    {CU_AD_FORMAT_HALF, 2, wire::Texels::HALVES, wire::Texels::HALVES},
    {CU_AD_FORMAT_FLOAT, 4, wire::Texels::WORDS, wire::Texels::WORDS},
};

const Format *find_format(CUarray_format format)
{
    for (auto &each : formats)
        if (each.format == format)
            return &each;
    return nullptr;
}

CUresult create(Call &call, CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR &description,
                CUmipmappedArray whole)
{
    unsigned channels = description.NumChannels;
    REQUIRE(find_format(description.Format), bad_value);
    REQUIRE(description.Width && (channels == 1 || channels == 2 || channels == 4), bad_value);
    REQUIRE(description.Height || !description.Depth || description.Flags & CUDA_ARRAY3D_LAYERED,
            bad_value);
    CUarray made = make<CUarray_st>(description, CUdeviceptr(0), call.context, whole);
    CUresult status = allocate(call.context, made->bytes(), Kind::array, 0, &made->address);
    if (status)
        destroy(made);
    else
        *array = made;
    return status;
}

CUDA_ARRAY3D_DESCRIPTOR deepen(const CUDA_ARRAY_DESCRIPTOR &from)
{
    return {from.Width, from.Height, 0, from.Format, from.NumChannels, 0};
}

CUresult drop(CUarray array)
{
    if (state().allocations.count(array->address))
        release(array->address);
    destroy(array);
    return CUDA_SUCCESS;
}

void drop_levels(const CUmipmappedArray_st &whole)
{
    for (CUarray array : whole.levels)
        drop(array);
}

// --- objects ------------------------------------------------------------------------------------

CUresult describe_format(CUarray_format format, unsigned channels, bool fractions,
                         wire::Texture *texture)
{
    const Format *found = find_format(format);
    REQUIRE(found && (channels == 1 || channels == 2 || channels == 4), bad_value);
    texture->channels = channels;
    texture->texel_bytes = channels * found->bytes;
    texture->texels = fractions ? found->fractions : found->texels;
    return CUDA_SUCCESS;
}

uint32_t extent(size_t texels) { return static_cast<uint32_t>(std::max<size_t>(texels, 1)); }

CUresult describe_array(CUarray array, bool fractions, wire::Texture *texture)
{
    REQUIRE(is_live(array), bad_handle);
    auto &from = array->description;
    bool layered = from.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    texture->first = array->address;
    texture->layered = layered;
    texture->layers = layered ? extent(from.Depth) : 1;
    texture->extents[0] = extent(from.Width);
    texture->extents[1] = extent(from.Height);
    texture->extents[2] = layered ? 1 : extent(from.Depth);
    texture->dimensions = from.Depth && !layered ? 3 : from.Height ? 2 : 1;
    return describe_format(from.Format, from.NumChannels, fractions, texture);
}

CUresult describe_memory(CUdeviceptr first, size_t width, size_t height, CUarray_format format,
                         unsigned channels, bool fractions, wire::Texture *texture)
{
    TRY(describe_format(format, channels, fractions, texture));
    texture->first = first;
    texture->layers = texture->extents[2] = 1;
    texture->extents[0] = extent(width);
    texture->extents[1] = extent(height);
    texture->dimensions = height ? 2 : 1;
    return find_allocation(first) ? CUDA_SUCCESS : bad_value;
}

CUresult describe_resource(const CUDA_RESOURCE_DESC &from, bool fractions, wire::Texture *texture)
{
    if (from.resType == CU_RESOURCE_TYPE_ARRAY)
        return describe_array(from.res.array.hArray, fractions, texture);
    if (from.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        CUmipmappedArray whole = from.res.mipmap.hMipmappedArray;
        REQUIRE(is_live(whole), bad_handle);
        return describe_array(whole->levels[0], fractions, texture);
    }
    if (from.resType == CU_RESOURCE_TYPE_LINEAR) {
        auto &line = from.res.linear;
        TRY(describe_memory(line.devPtr, 0, 0, line.format, line.numChannels, fractions, texture));
        texture->extents[0] = extent(line.sizeInBytes / texture->texel_bytes);
        texture->fetched = 1;
        return CUDA_SUCCESS;
    }
    REQUIRE(from.resType == CU_RESOURCE_TYPE_PITCH2D, bad_value);
    auto &rows = from.res.pitch2D;
    TRY(describe_memory(rows.devPtr, rows.width, rows.height, rows.format, rows.numChannels,
                        fractions, texture));
    REQUIRE(rows.pitchInBytes % texture->texel_bytes == 0, bad_value);
    texture->row_texels = static_cast<uint32_t>(rows.pitchInBytes / texture->texel_bytes);
    return texture->row_texels >= texture->extents[0] ? CUDA_SUCCESS : bad_value;
}

void sample(const CUDA_TEXTURE_DESC &from, wire::Texture *texture)
{
    texture->edge = from.addressMode[0];
    texture->linear = from.filterMode == CU_TR_FILTER_MODE_LINEAR;
    texture->normalized = (from.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
}

// The session counts a texture's first texel from the start of the window.
CUresult add_object(wire::Texture texture, unsigned long long *handle)
{
    texture.first -= state().window;
    if (!texture.row_texels) // without gaps
        texture.row_texels = texture.extents[0];
    auto &used = state().textures;
    used.resize(most_textures + 1);
    uint64_t number = 1;
    while (number <= most_textures && used[number])
        ++number;
    REQUIRE(number <= most_textures, CUDA_ERROR_OUT_OF_MEMORY);
    used[number] = true;
    send(wire::TextureObject{number, texture});
    *handle = number;
    return CUDA_SUCCESS;
}

CUresult remove_object(unsigned long long handle)
{
    auto &used = state().textures;
    REQUIRE(handle && handle < used.size() && used[handle], bad_value);
    used[handle] = false;
    finish_all(); // kernels may use it
    send(wire::TextureObject{handle, {}});
    return CUDA_SUCCESS;
}

} // namespace

size_t CUarray_st::texel_bytes() const
{
    const Format *format = find_format(description.Format);
    return format ? description.NumChannels * format->bytes : 0;
}

// --- arrays -------------------------------------------------------------------------------------

API cuMipmappedArrayCreate(CUmipmappedArray *whole, const CUDA_ARRAY3D_DESCRIPTOR *description,
                           unsigned levels)
{
    ENTER(healthy);
    REQUIRE(whole && description && levels, bad_value);
    CUmipmappedArray made = make<CUmipmappedArray_st>();
    CUDA_ARRAY3D_DESCRIPTOR level = *description;
    for (unsigned i = 0; i < levels; ++i) {
        CUarray array = nullptr;
        TRY(create(call, &array, level, made));
        made->levels.push_back(array);
        level.Width = std::max<size_t>(level.Width / 2, 1);
        level.Height = level.Height ? std::max<size_t>(level.Height / 2, 1) : 0;
        if (!(level.Flags & CUDA_ARRAY3D_LAYERED))
            level.Depth = level.Depth ? std::max<size_t>(level.Depth / 2, 1) : 0;
    }
    *whole = made;
    return CUDA_SUCCESS;
}

// --- textures and surfaces ----------------------------------------------------------------------

API cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                      const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *)
{
    ENTER(healthy);
    REQUIRE(object && resource && texture, bad_value);
    REQUIRE(!(texture->flags & CU_TRSF_SEAMLESS_CUBEMAP), CUDA_ERROR_NOT_SUPPORTED);
    wire::Texture record = {};
    bool fractions = !(texture->flags & CU_TRSF_READ_AS_INTEGER);
    TRY(describe_resource(*resource, fractions, &record));
    sample(*texture, &record);
    return add_object(record, object);
}

API cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
    ENTER(healthy);
    REQUIRE(object && resource && resource->resType == CU_RESOURCE_TYPE_ARRAY, bad_value);
    wire::Texture record = {};
    TRY(describe_array(resource->res.array.hArray, false, &record));
    record.surface = 1;
    return add_object(record, object);
}
