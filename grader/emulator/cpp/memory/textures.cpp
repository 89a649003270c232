// Texture and surface objects: the texels that a texture unit reads for coordinates, and the
// addresses of surface elements.
//
// Coordinates are in lane_data, one word of all lanes each; results replace them.
#include "memory/blends.h"
#include "memory/halves.h"
#include "timing/tracing.h"

constexpr uint32_t CHANNELS = 4;
constexpr double COORDINATE_STEPS = 1 << 21;
// Beyond every texel, in texels.
constexpr double FAR = 1 << 24;

// --- texels --------------------------------------------------------------------------------------

// The lowest value of a signed number is -1, like the value above it.
static float signed_fraction(int32_t value, int32_t largest)
{
    return value < -largest ? -1.0f : float(value) / float(largest);
}

// One channel of a texel as a word: an integer, or the bits of a float32.
static uint32_t read_channel(const Texture &texture, const uint8_t *texel, uint32_t channel)
{
    const uint8_t *place = texel + channel * texture.texel_bytes / texture.channels;
    uint16_t code;
    memcpy(&code, place, texture.texel_bytes / texture.channels == 1 ? 1 : 2);
    switch (texture.texels) {
    case Texels::UNSIGNED_8:
        return *place;
    case Texels::SIGNED_8:
        return int8_t(*place);
    case Texels::UNSIGNED_16:
        return code;
    case Texels::SIGNED_16:
        return int16_t(code);
    case Texels::UNSIGNED_8_FRACTIONS:
        return bits_as<uint32_t>(float(*place) / 255.0f);
    case Texels::SIGNED_8_FRACTIONS:
        return bits_as<uint32_t>(signed_fraction(int8_t(*place), 127));
    case Texels::UNSIGNED_16_FRACTIONS:
        return bits_as<uint32_t>(float(code) / 65535.0f);
    case Texels::SIGNED_16_FRACTIONS:
        return bits_as<uint32_t>(signed_fraction(int16_t(code), 32767));
    case Texels::HALVES:
        return bits_as<uint32_t>(half_to_float(code));
    default:
        return read<uint32_t>(place);
    }
}

// The texel index on an axis after the edge rule; negative: the border.
static int64_t resolve(const Texture &texture, uint32_t axis, int64_t texel)
{
    int64_t extent = texture.extents[axis];
    uint32_t edge = texture.edge;
    if (edge == Edge::BORDER || texture.fetched)
        return texel < extent ? texel : -1;
    if (edge == Edge::CLAMP || !texture.normalized)
        return texel < 0 ? 0 : texel < extent ? texel : extent - 1;
    int64_t period = edge == Edge::WRAP ? extent : 2 * extent;
    int64_t within = ((texel % period) + period) % period;
    return within < extent ? within : period - 1 - within;
}

// One channel of the texel at these indices; zero if the element lacks the channel.
static uint32_t read_texel(const Context &context, const Texture &texture, const int64_t *texels,
                           uint32_t layer, uint32_t channel)
{
    if (channel >= texture.channels)
        return 0;
    uint64_t number = layer;
    for (uint32_t axis = AXES; axis-- > 0;) {
        int64_t texel = resolve(texture, axis, texels[axis]);
        if (texel < 0)
            return 0;
        number = number * (axis ? texture.extents[axis] : texture.row_texels) + texel;
    }
    const uint8_t *host = host_pointer(context.global_host);
    return read_channel(texture, host + texture.first + number * texture.texel_bytes, channel);
}

// --- filters -------------------------------------------------------------------------------------

// The position of a coordinate on an axis in texels; NaN counts as 0. Normalised coordinates have
// 21 fraction bits (seen in thresholds on an H200).
static double position(const Texture &texture, uint32_t axis, float coordinate)
{
    bool repeats = texture.edge == Edge::WRAP || texture.edge == Edge::MIRROR;
    double place = std::isnan(coordinate) ? 0 : coordinate;
    if (texture.normalized && repeats) {
        double period = texture.edge == Edge::WRAP ? 1 : 2;
        place = std::isinf(place) ? 0 : place - period * std::floor(place / period);
    }
    place = place < -FAR ? -FAR : place > FAR ? FAR : place;
    if (texture.normalized)
        place = std::floor(place * COORDINATE_STEPS) / COORDINATE_STEPS * texture.extents[axis];
    return place;
}

static Spot nearest(double place) { return {int64_t(std::floor(place)), 0}; }

static Spot between(double place)
{
    int64_t fixed = std::floor((place - 0.5) * ONE + 0.5);
    return {fixed >> FRACTION_BITS, uint32_t(fixed & (ONE - 1))};
}

// A weighted sum of integers in 256ths, as a fraction of the largest 16-bit integer.
static uint32_t finish_fraction(const Texture &texture, int64_t sum)
{
    bool narrow = texture.texels == Texels::UNSIGNED_8_FRACTIONS;
    int64_t scaled = narrow ? sum * 257 : sum; // 8 bits to 16 bits
    int64_t rounded = (scaled + ONE / 2) >> FRACTION_BITS;
    bool is_signed = texture.texels == Texels::SIGNED_16_FRACTIONS;
    int32_t largest = is_signed ? 0x7FFF : 0xFFFF;
    return bits_as<uint32_t>(signed_fraction(int32_t(rounded), largest));
}

// The filter's place beside a clamping edge, where both texels are the same.
static Spot clamp(const Texture &texture, uint32_t axis, Spot spot)
{
    bool repeats = texture.normalized && texture.edge != Edge::CLAMP;
    bool clamps = texture.edge != Edge::BORDER && !repeats;
    int64_t last = int64_t(texture.extents[axis]) - 1;
    if (!clamps || (spot.texel >= 0 && spot.texel < last))
        return spot;
    return {spot.texel < 0 ? 0 : last, 0};
}

// One channel at the filter's place: the weighted sum of the texels around it. The two slices of a
// volume are added separately.
static uint32_t blend(const Context &context, const Texture &texture, const Spot *at,
                      uint32_t layer, uint32_t channel)
{
    bool volume = texture.dimensions == AXES, half = texture.texels == Texels::HALVES;
    bool fraction = texture.texels >= Texels::UNSIGNED_8_FRACTIONS;
    Texture added = texture; // reads the integers of fractions
    if (fraction)
        added.texels -= Texels::UNSIGNED_8_FRACTIONS;
    uint32_t guard = half ? GUARD_BITS : GUARD_BITS + BELOW_HALF;
    Spot spots[AXES];
    for (uint32_t axis = 0; axis < AXES; ++axis)
        spots[axis] = clamp(texture, axis, at[axis]);
    int64_t whole_sum = 0;
    Sum sum = {};
    for (uint32_t number = 0; number <= volume; ++number) {
        Slice slice = cut_slice(spots, number);
        for (uint32_t corner = 0; corner < CORNERS; ++corner) {
            int64_t texels[AXES] = {spots[0].texel + (corner & 1), spots[1].texel + (corner >> 1),
                                    spots[2].texel + number};
            if (slice.shares[corner] != 0 || slice.meant[corner])
                slice.texels[corner] = read_texel(context, added, texels, layer, channel);
            whole_sum += int64_t(int32_t(slice.texels[corner])) * slice.shares[corner];
        }
        Sum part = add_texels(slice, guard);
        sum = number ? join(sum, part) : part;
    }
    if (fraction)
        return finish_fraction(texture, whole_sum);
    double value = value_of(sum, guard);
    return half ? finish_half(value) : finish_float(value);
}

// The corners of a gather in the order of its results: counter-clockwise from the lower left.
constexpr uint32_t GATHERED[CHANNELS] = {2, 3, 1, 0};

static uint32_t gather(const Context &context, const Texture &texture, const Spot *spots,
                       uint32_t layer, uint32_t corner, uint32_t channel)
{
    int64_t texels[AXES] = {spots[0].texel + (GATHERED[corner] & 1),
                            spots[1].texel + (GATHERED[corner] >> 1), 0};
    return read_texel(context, texture, texels, layer, channel);
}

// --- instructions --------------------------------------------------------------------------------

// The object of a handle if an instruction with these dimensions may use it; otherwise null. An
// instruction with two axes may read a texture with one axis: ptxas compiles tex1D so, with y = 0;
// the border above then has weight one half.
static const Texture *find(const Context &context, uint32_t handle, uint32_t dimensions,
                           bool layered, bool surface)
{
    if (handle - 1 >= context.texture_count)
        return nullptr;
    const Texture &texture = context.textures[handle - 1];
    bool fits = texture.dimensions == dimensions ||
                (texture.dimensions == 1 && dimensions == 2 && !surface);
    return fits && texture.layered == layered && texture.surface == surface ? &texture : nullptr;
}

// Whether the blend is known. Blends of signed bytes are unknown; integers that stay integers have
// none. Blends of volumes of reals differ from an H200's in the last bit, in 0.1 % of reads.
static bool can_blend(const Texture &texture)
{
    bool fractions = texture.texels >= Texels::UNSIGNED_8_FRACTIONS;
    bool real = texture.texels == Texels::HALVES || texture.texels == Texels::WORDS;
    return real || (fractions && texture.texels != Texels::SIGNED_8_FRACTIONS);
}

// --- cube maps -----------------------------------------------------------------------------------

constexpr uint32_t FACES = 6;

// Replaces a direction by the coordinates on a face; returns the face. The rule is the table of the
// CUDA programming guide ("Cubemap Textures").
static uint32_t choose_face(float *at)
{
    float x = at[0], y = at[1], z = at[2];
    float most = std::fmax(std::fabs(x), std::fmax(std::fabs(y), std::fabs(z)));
    uint32_t axis = std::fabs(z) == most ? 2 : std::fabs(y) == most ? 1 : 0;
    bool minus = at[axis] < 0;
    float s = axis == 0 ? (minus ? z : -z) : axis == 1 || !minus ? x : -x;
    float t = axis != 1 ? -y : minus ? -z : z;
    at[0] = (s / most + 1) / 2;
    at[1] = (t / most + 1) / 2;
    return 2 * axis + minus;
}

// --- the trace -----------------------------------------------------------------------------------

// Cycles of the texture unit for a warp: it reads four texels of at most 4 bytes per cycle, or eight
// of linear memory; larger texels, and the four or eight of a blend, take their part of its 64 bytes
// (H200: 4.0, 8.0 for linear memory; 8.1 to 9.4, 16.5, 33.8 for arrays).
constexpr uint32_t FETCH_CYCLES = 4, READ_CYCLES = 8, NARROW = 4;

// Cycles of the texture unit for a warp that reads a surface (H200: blur_surface in
// benchmarks/textures.cu, 63 cycles of an SM for nine reads and a store; 4 where all lanes
// read the same element).
constexpr uint32_t SURFACE_CYCLES = 6;

static uint32_t cycles_of(const Texture &texture, bool fetch, bool blends)
{
    if (fetch)
        return larger(FETCH_CYCLES, texture.texel_bytes / 2);
    uint32_t slices = blends && texture.dimensions == AXES ? 2 : 1;
    bool wide = texture.texel_bytes > NARROW;
    return slices * larger(READ_CYCLES, texture.texel_bytes * (blends && wide ? 2 : 1));
}

// Arrays of two and three dimensions consist of tiles of 64 bytes by 8 rows, and a sector of 16
// bytes by 2 rows.
constexpr uint64_t TILE_WIDTH = 64, TILE_ROWS = 8, PART = 16, HALF_TILE = TILE_WIDTH * TILE_ROWS / 2;

// The address of byte x of row y. The rows of linear memory have no tiles.
static uint32_t tiled_address(const Texture &texture, uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t width = uint64_t(texture.row_texels) * texture.texel_bytes;
    uint64_t start = z * texture.extents[1] * width;
    bool tiled = !texture.fetched && texture.extents[1] > 1 && width % TILE_WIDTH == 0;
    uint64_t place = y * width + x;
    if (tiled)
        place = (y / TILE_ROWS * (width / TILE_WIDTH) + x / TILE_WIDTH) * 2 * HALF_TILE +
                x % TILE_WIDTH / (2 * PART) * HALF_TILE + y % TILE_ROWS / 2 * TILE_WIDTH +
                x % (2 * PART) / PART * SECTOR_BYTES + y % 2 * PART + x % PART;
    return uint32_t(texture.first + start + place);
}

// The address of a texel's sector.
static uint32_t sector_of(const Texture &texture, const int64_t *texels, uint32_t layer)
{
    uint64_t x = uint64_t(texels[0]) * texture.texel_bytes;
    return tiled_address(texture, x, texels[1], layer + texels[2]) & ~(SECTOR_BYTES - 1);
}

static void trace_texels(Context &context, Warp &warp, uint32_t instruction, uint32_t mask,
                         const uint32_t *sectors, uint32_t cycles)
{
    memcpy(context.lane_addresses, sectors, sizeof context.lane_addresses);
    trace_access(context, warp, Access{Space::GLOBAL, true, false, SECTOR_BYTES, 0}, cycles,
                 instruction, mask);
}

static void trace_elements(Context &context, Warp &warp, uint32_t instruction, uint32_t mask,
                           uint32_t *places, uint32_t width, bool load)
{
    if (!load) {
        Access store{Space::GLOBAL, false, false, uint8_t(width), 0};
        memcpy(context.lane_addresses, places, sizeof context.lane_addresses);
        return trace_access(context, warp, store, 0, instruction, mask);
    }
    for (uint32_t lane : Lanes{mask})
        places[lane] &= ~(SECTOR_BYTES - 1);
    trace_texels(context, warp, instruction, mask, places, larger(SURFACE_CYCLES, width));
}

// Reads a texture; the first coordinate of a layered texture is the layer. `channels`: mask of the
// requested results, which are stored consecutively. Returns a FaultCode.
EXPORT uint32_t emulator_read_texture(Context *context, Warp *warp, uint32_t instruction,
                                      uint32_t mask, uint32_t handle, uint32_t form,
                                      uint32_t channels)
{
    if (mask == 0)
        return FaultCode::NONE;
    bool layered = form & TextureForm::ARRAY, fetch = form & TextureForm::FETCH;
    bool gathers = form & TextureForm::GATHER, cube = form & TextureForm::CUBE;
    uint32_t axes = form & TextureForm::DIMENSIONS;
    const Texture *found = cube ? find(*context, handle, 2, true, false)
                                : find(*context, handle, axes, layered, false);
    if (found == nullptr || found->fetched != (fetch && !layered && found->dimensions == 1) ||
        (gathers && found->dimensions != 2) || (found->linear && !can_blend(*found)) ||
        (gathers && found->texels == Texels::SIGNED_8_FRACTIONS) ||
        (cube && (found->layers % FACES != 0 || !found->normalized)))
        return report_fault(*context, FaultCode::UNSUPPORTED, instruction, lowest_lane(mask));
    const Texture &texture = *found;
    uint32_t results[CHANNELS][WARP_LANES], sectors[WARP_LANES] = {}, inside = 0;
    bool traced = warp->trace < warp->trace_end;
    for (uint32_t lane : Lanes{mask}) {
        const uint32_t *words = context->lane_data + lane;
        uint32_t layer = layered ? words[0] : 0, count = 0;
        float at[AXES] = {};
        for (uint32_t axis = 0; axis < axes; ++axis)
            at[axis] = bits_as<float>(words[(axis + layered) * WARP_LANES]);
        if (cube)
            layer = smaller(layer, texture.layers / FACES - 1) * FACES + choose_face(at);
        layer = smaller(layer, texture.layers - 1);
        Spot spots[AXES] = {};
        for (uint32_t axis = 0; axis < (cube ? 2 : axes); ++axis) {
            double place = fetch ? 0 : position(texture, axis, at[axis]);
            spots[axis] = fetch                       ? Spot{bits_as<int32_t>(at[axis]), 0}
                          : texture.linear || gathers ? between(place)
                                                      : nearest(place);
        }
        if (traced) {
            int64_t texels[AXES];
            bool border = false;
            for (uint32_t axis = 0; axis < AXES; ++axis) {
                texels[axis] = resolve(texture, axis, spots[axis].texel);
                border |= texels[axis] < 0;
            }
            sectors[lane] = border ? 0 : sector_of(texture, texels, layer);
            inside |= border ? 0 : bit(lane);
        }
        for (uint32_t channel = 0; channel < CHANNELS; ++channel) {
            if (!has(channels, channel))
                continue;
            int64_t texels[AXES] = {spots[0].texel, spots[1].texel, spots[2].texel};
            uint32_t component = form >> TextureForm::COMPONENT_SHIFT;
            results[count++][lane] = gathers ? gather(*context, texture, spots, layer, channel,
                                                      component)
                                     : texture.linear && !fetch && channel < texture.channels
                                         ? blend(*context, texture, spots, layer, channel)
                                         : read_texel(*context, texture, texels, layer, channel);
        }
    }
    memcpy(context->lane_data, results, sizeof results);
    if (traced)
        trace_texels(*context, *warp, instruction, inside, sectors,
                     cycles_of(texture, fetch, texture.linear || gathers));
    return FaultCode::NONE;
}

// The address of a surface element: byte x of row y in slice z or the layer. Stores the lower words
// of the addresses, and in lane 0 of the next word the mask of lanes inside the surface. Returns a
// FaultCode.
EXPORT uint32_t emulator_locate_surface(Context *context, Warp *warp, uint32_t instruction,
                                        uint32_t mask, uint32_t handle, uint32_t form,
                                        uint32_t width, uint32_t load)
{
    bool layered = form & SurfaceForm::ARRAY;
    uint32_t dimensions = form & SurfaceForm::DIMENSIONS, inside = 0, addresses[WARP_LANES] = {};
    uint32_t tiled[WARP_LANES] = {};
    const Texture *found = find(*context, handle, dimensions, layered, true);
    if (mask != 0 && found == nullptr)
        return report_fault(*context, FaultCode::UNSUPPORTED, instruction, lowest_lane(mask));
    for (uint32_t lane : Lanes{mask}) {
        const Texture &surface = *found;
        const uint32_t extents[] = {surface.extents[0] * surface.texel_bytes, surface.extents[1],
                                    surface.extents[2], surface.layers};
        int64_t address = 0, bytes = 1, places[AXES + 1] = {};
        bool within = true;
        for (uint32_t axis = 0; axis < dimensions + layered; ++axis) {
            int64_t extent = extents[axis < dimensions ? axis : AXES], size = axis ? 1 : width;
            int64_t place = int32_t(context->lane_data[axis * WARP_LANES + lane]);
            bool reaches = place >= 0 && place <= extent - size;
            within &= reaches;
            if (!reaches && !(form & SurfaceForm::TRAP))
                place = place < 0 ? 0 : extent - size;
            places[axis < dimensions ? axis : AXES] = place;
            address += place * bytes;
            bytes *= extent;
        }
        addresses[lane] = uint32_t(surface.first + address);
        tiled[lane] = tiled_address(surface, places[0], places[1], places[2] + places[AXES]);
        if (!within && form & SurfaceForm::TRAP)
            return report_fault(*context, FaultCode::GLOBAL_BOUNDS, instruction, lane,
                                uint64_t(context->global_window) << 32 | addresses[lane]);
        inside |= within || !(form & SurfaceForm::IGNORE) ? bit(lane) : 0;
    }
    if (warp->trace < warp->trace_end)
        trace_elements(*context, *warp, instruction, inside, tiled, width, load);
    memcpy(context->lane_data, addresses, sizeof addresses);
    context->lane_data[WARP_LANES] = inside;
    return FaultCode::NONE;
}
