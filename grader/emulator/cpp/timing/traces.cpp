// Expands traces of warps (tracing.h) to the input of the simulation: instructions in order, and
// the request of each access.
//
// A request has its wavefronts in the data stage (the largest number of distinct words in one of 32
// banks, per phase of 32 lanes up to 4 bytes, 16 lanes of 8 and 8 lanes of 16 bytes; also for
// global memory, which shares the banks: an H100 takes 34 cycles for a load of 32 rows at a
// distance of a power of two, and 18 for two such loads of 16 rows and 2 columns), its wavefronts
// in the tag stage (tag_wavefronts), and its 32-byte sectors. A store also has its covered words,
// an atomic the number of lanes per word.
#include "timing/timing.h"

namespace timing {

constexpr int64_t WORD_BYTES = BANK_BYTES;
constexpr uint32_t TAG_BANKS = 4, INDEX_MASK = 0xFFFF;

// The lanes of an access: first word, and the byte in this word.
struct LaneWords {
    uint32_t mask;
    int64_t width; // bytes per lane
    int64_t first[WARP_LANES];
    uint32_t byte[WARP_LANES];
};

// One bit per byte of a line.
__extension__ using LineBytes = unsigned __int128;

// --- words of a trace ----------------------------------------------------------------------------

// Whether a record is a basic block's; otherwise it is an access's.
static bool is_block(uint32_t word) { return word >> 30 == TraceWord::BLOCK >> 30; }

constexpr uint32_t PASSES_MASK = (1 << TraceWord::ELSEWHERE_SHIFT) - 1;

static uint32_t space_of(uint32_t word) { return word >> TraceWord::SPACE_SHIFT & 3; }

// Whether the record has an address for each lane.
static bool has_addresses(uint32_t word)
{
    return space_of(word) == TraceWord::GLOBAL || space_of(word) == TraceWord::LOCAL;
}

// The length of a record in words.
static int64_t length_of(uint32_t word)
{
    if (is_block(word))
        return 1;
    return has_addresses(word) ? 3 + WARP_LANES : 3;
}

// Whether a whole record starts at the position: a warp's last record may be truncated.
static bool has_record(const Trace &trace, int64_t position, int64_t end)
{
    return position < end && position + length_of(trace.words[position]) <= end;
}

// --- what an access asks for ---------------------------------------------------------------------

// The place of a line among an access's lines, or their end. Searches backwards because
// neighbouring lanes share lines.
static int64_t find_line(const Line *lines, int64_t start, int64_t end, int64_t number)
{
    for (int64_t place = end - 1; place >= start; --place)
        if (lines[place].number == number)
            return place;
    return end;
}

// The words whose bytes are all covered.
static uint32_t whole_words(LineBytes covered)
{
    uint32_t words = 0;
    for (int64_t word = 0; word < BANKS; ++word, covered >>= WORD_BYTES)
        words |= uint32_t((covered & 0xF) == 0xF) << word;
    return words;
}

// Appends the lines that the lanes touch; returns the number of lines so far.
static int64_t add_lines(Line *lines, int64_t start, const LaneWords &lanes)
{
    LineBytes covered[WARP_LANES]; // accessed bytes of each line
    LineBytes bytes = (LineBytes(1) << lanes.width) - 1;
    int64_t used = start;
    for (uint32_t lane : Lanes{lanes.mask}) {
        int64_t number = lanes.first[lane] / BANKS, word = lanes.first[lane] % BANKS;
        int64_t place = find_line(lines, start, used, number);
        if (place == used) {
            lines[used++].number = number;
            covered[place - start] = 0;
        }
        lines[place].touched |= 1 << (word / SECTOR_WORDS);
        covered[place - start] |= bytes << (WORD_BYTES * word + lanes.byte[lane]);
    }
    for (int64_t place = start; place < used; ++place) {
        lines[place].words = whole_words(covered[place - start]);
        lines[place].whole = covered_sectors(lines[place].words);
    }
    return used;
}

// Turns of the L2 slice for each line of an atomic: one for the distinct words of a sector, and one
// for each further lane at a word.
static void count_rounds(Line *lines, int64_t start, int64_t end, const LaneWords &lanes)
{
    uint8_t lanes_at[WARP_LANES][BANKS] = {}; // lanes at each word of each line
    for (uint32_t lane : Lanes{lanes.mask}) {
        int64_t place = find_line(lines, start, end, lanes.first[lane] / BANKS);
        ++lanes_at[place - start][lanes.first[lane] % BANKS];
    }
    for (int64_t place = start; place < end; ++place) {
        uint8_t most[LINE_SECTORS] = {};
        for (int64_t word = 0; word < BANKS; ++word) {
            uint8_t count = lanes_at[place - start][word], &of_sector = most[word / SECTOR_WORDS];
            of_sector = count > of_sector ? count : of_sector;
        }
        for (uint8_t rounds : most) {
            lines[place].rounds += rounds;
            lines[place].chain = lines[place].chain > rounds ? lines[place].chain : rounds;
        }
    }
}

// Tag stage cycles: the largest number of lines in one of its banks. The bank is the line's number
// folded to two bits by exclusive or (fitted to te42kyfo/gpu-benches).
static int32_t tag_wavefronts(const Line *lines, int64_t start, int64_t end)
{
    int32_t counts[TAG_BANKS] = {}, most = 1;
    for (int64_t place = start; place < end; ++place) {
        int64_t line = lines[place].number;
        int64_t folded = line ^ line >> 2 ^ line >> 4 ^ line >> 6 ^ line >> 8;
        int32_t count = ++counts[folded & (TAG_BANKS - 1)];
        most = count > most ? count : most;
    }
    return most;
}

// Data stage cycles for a group of lanes: the largest number of distinct words in a bank.
static int32_t phase_wavefronts(const LaneWords &lanes, uint32_t mask, int64_t words_per_lane)
{
    int64_t distinct[BANKS][WARP_LANES]; // the words of each bank
    int32_t counts[BANKS] = {}, most = 0;
    for (uint32_t lane : Lanes{lanes.mask & mask})
        for (int64_t index = 0; index < words_per_lane; ++index) {
            int64_t word = lanes.first[lane] + index;
            int64_t *others = distinct[word % BANKS];
            int32_t &count = counts[word % BANKS];
            if (is_among(others, count, word))
                continue;
            others[count++] = word;
            most = count > most ? count : most;
        }
    return most;
}

// Data stage cycles, summed over the phases.
static int32_t data_wavefronts(const LaneWords &lanes)
{
    int64_t phases = max(int64_t(1), lanes.width / WORD_BYTES), size = WARP_LANES / phases;
    int32_t total = 0;
    for (int64_t phase = 0; phase < phases; ++phase)
        total += phase_wavefronts(lanes, lanes_of_part(phase, size), phases);
    return total > 1 ? total : 1;
}

// --- walking along the traces --------------------------------------------------------------------

// The words of an access to global or local memory.
static LaneWords lane_words(const Trace &trace, const uint32_t *record)
{
    LaneWords lanes{record[1], trace.widths[record[0] & INDEX_MASK], {}, {}};
    bool local = space_of(record[0]) == TraceWord::LOCAL;
    for (uint32_t lane = 0; lane < WARP_LANES; ++lane) {
        int64_t word = int64_t(record[3 + lane]) / WORD_BYTES;
        lanes.first[lane] = local ? (LOCAL_LINES + word) * BANKS + lane : word;
        lanes.byte[lane] = record[3 + lane] % WORD_BYTES;
    }
    return lanes;
}

// Appends the lines of an access to local memory, which is interleaved: a line has one word of each
// lane. Returns the number of lines so far.
static int64_t add_local_lines(Line *lines, int64_t used, LaneWords lanes)
{
    int64_t words = max(int64_t(1), lanes.width / WORD_BYTES);
    lanes.width = lanes.width < WORD_BYTES ? lanes.width : WORD_BYTES;
    for (int64_t word = 0; word < words; ++word) {
        used = add_lines(lines, used, lanes);
        for (uint32_t lane = 0; lane < WARP_LANES; ++lane)
            lanes.first[lane] += BANKS;
    }
    return used;
}

// Appends the lines of a bulk copy, which are traced with masks of their sectors.
static int64_t add_copied_lines(Line *lines, int64_t used, const uint32_t *record)
{
    for (uint32_t lane : Lanes{record[1]}) {
        uint32_t traced = record[3 + lane], mask = traced & ((1 << LINE_SECTORS) - 1);
        Line &line = lines[used++];
        line.number = traced / LINE_BYTES;
        line.touched = line.whole = int8_t(mask);
        for (uint32_t sector : Lanes{mask})
            line.words |= lanes_of_part(sector, SECTOR_WORDS);
    }
    return used;
}

// Fills access `a` from its record and appends its lines; returns the number of lines so far.
static int64_t add_access(const Trace &trace, const uint32_t *record, int64_t a, int64_t used)
{
    Access &access = trace.accesses[a];
    access.space = space_of(record[0]);
    access.lanes = __builtin_popcount(record[1]);
    access.first = used;
    access.wavefronts = max(int64_t(1), record[2]);
    access.tags = access.space == TraceWord::CONSTANT ? record[1] : 0;
    if (access.space == TraceWord::SHARED && record[2] >> TraceWord::ELSEWHERE_SHIFT != 0) {
        access.wavefronts = record[2] & PASSES_MASK;
        access.tags = record[2] >> TraceWord::ELSEWHERE_SHIFT;
    }
    if (has_addresses(record[0]) && trace.widths[record[0] & INDEX_MASK] == LINE_BYTES) {
        used = add_copied_lines(trace.lines, used, record);
    } else if (has_addresses(record[0])) {
        bool local = access.space == TraceWord::LOCAL;
        LaneWords lanes = lane_words(trace, record);
        used = local ? add_local_lines(trace.lines, used, lanes)
                     : add_lines(trace.lines, used, lanes);
        if (trace.atomics[record[0] & INDEX_MASK])
            count_rounds(trace.lines, access.first, used, lanes);
        access.tags = tag_wavefronts(trace.lines, access.first, used);
        if (lanes.width != SECTOR_BYTES) // a texture has its cycles
            access.wavefronts = local ? max(int64_t(1), lanes.width / WORD_BYTES)
                                      : data_wavefronts(lanes);
    }
    access.end = used;
    return used;
}

// Appends the instructions of a basic block to the steps; returns the number of steps so far.
static int64_t add_block(const Trace &trace, uint32_t block, int64_t n)
{
    for (int64_t index = 0; index < trace.sizes[block]; ++index)
        trace.steps[n + index] = {int32_t(trace.starts[block] + index), -1};
    return n + trace.sizes[block];
}

// The largest possible number of lines of an access.
static int64_t most_lines(const Trace &trace, uint32_t word)
{
    bool local = space_of(word) == TraceWord::LOCAL;
    int64_t words = local ? max(int64_t(1), trace.widths[word & INDEX_MASK] / WORD_BYTES) : 1;
    return has_addresses(word) ? WARP_LANES * words : 0;
}

// Counts instructions, accesses and the largest possible number of lines.
EXPORT void emulator_measure_traces(Trace &trace)
{
    trace.step_count = trace.access_count = trace.line_count = 0;
    for (int64_t warp = 0; warp < trace.warp_count; ++warp)
        for (int64_t at = trace.ends[warp]; has_record(trace, at, trace.ends[warp + 1]);) {
            uint32_t word = trace.words[at];
            if (is_block(word)) {
                trace.step_count += trace.sizes[word & INDEX_MASK];
            } else {
                ++trace.access_count;
                trace.line_count += most_lines(trace, word);
            }
            at += length_of(word);
        }
}

// Fills steps, accesses and lines in arrays of the measured sizes, initially zero; corrects the
// number of lines.
EXPORT void emulator_expand_traces(Trace &trace)
{
    int64_t n = 0, a = 0, used = 0; // steps, accesses, lines
    for (int64_t warp = 0; warp < trace.warp_count; ++warp) {
        int64_t place = n; // of the last step with an access
        for (int64_t at = trace.ends[warp]; has_record(trace, at, trace.ends[warp + 1]);) {
            const uint32_t *record = trace.words + at;
            uint32_t index = record[0] & INDEX_MASK;
            if (is_block(record[0])) {
                place = n;
                n = add_block(trace, index, n);
            } else {
                while (place < n && trace.steps[place].code != int32_t(index))
                    ++place;
                if (place < n && trace.steps[place].access < 0)
                    trace.steps[place].access = a;
                else if (place < n)
                    ++trace.accesses[trace.steps[place].access].more;
                used = add_access(trace, record, a++, used);
            }
            at += length_of(record[0]);
        }
        trace.first[warp + 1] = n;
    }
    trace.line_count = used;
}

} // namespace timing
