// Digests that detect changes of large memory, at the speed of memory.
#include "warps/lanes.h"

__extension__ using uint128_t = unsigned __int128;

constexpr uint32_t DIGEST_WORDS = DIGEST_BLOCK_BYTES / sizeof(uint64_t);

// NH of one block: Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC: Fast and Secure Message
// Authentication" (CRYPTO '99), with words of 64 bits.
static void digest_block(const uint8_t *block, const uint64_t *key, uint64_t *low_and_high)
{
    uint128_t sum = 0;
    for (uint32_t n = 0; n < DIGEST_WORDS; n += 2, block += 2 * sizeof(uint64_t)) {
        uint64_t first = read<uint64_t>(block) + key[n];
        uint64_t second = read<uint64_t>(block + sizeof first) + key[n + 1];
        sum += uint128_t(first) * second;
    }
    low_and_high[0] = uint64_t(sum);
    low_and_high[1] = uint64_t(sum >> 64);
}

// One sum per block of bytes; the last block is padded with zeros.
EXPORT void emulator_digest(const uint8_t *data, uint64_t size_bytes, const uint64_t *key,
                            uint64_t *sums)
{
    for (; size_bytes >= DIGEST_BLOCK_BYTES; size_bytes -= DIGEST_BLOCK_BYTES) {
        digest_block(data, key, sums);
        data += DIGEST_BLOCK_BYTES;
        sums += 2;
    }
    if (size_bytes == 0)
        return;
    uint8_t last[DIGEST_BLOCK_BYTES] = {};
    memcpy(last, data, size_bytes);
    digest_block(last, key, sums);
}
