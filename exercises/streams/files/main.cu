// The program: ./program GROUPS SAMPLES SEED
// It makes the signals, lets you smooth them, and prints a line for each group.
#include "streams.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static float signal_at(size_t index, uint32_t seed)
{
    uint32_t bits = (uint32_t)index * 2654435761u + seed * 40503u;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    return (bits >> 22) / 64.0f - 8.0f + index % GROUP / 32.0f;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: %s GROUPS SAMPLES SEED\n", argv[0]);
        return 2;
    }
    int groups = atoi(argv[1]), samples = atoi(argv[2]);
    uint32_t seed = (uint32_t)atoi(argv[3]);
    size_t length = (size_t)samples * GROUP, count = groups * length;
    float *in = allocate_signals(count), *out = allocate_signals(count);
    if (!in || !out) {
        fprintf(stderr, "allocate_signals returned no memory\n");
        return 1;
    }
    for (size_t i = 0; i < count; ++i) {
        in[i] = signal_at(i, seed);
        out[i] = -1000.0f;
    }
    smooth_all(out, in, groups, samples, 0.5f);
    for (int g = 0; g < groups; ++g) {
        const float *group = out + g * length;
        double weighted = 0.0;
        for (size_t i = 0; i < length; ++i)
            weighted += group[i] * (double)(i * 40503 % 1024) / 1024.0;
        printf("group %d: %.3f %.4f %.4f\n", g, weighted, group[0], group[length - 1]);
    }
    for (size_t i = 0; i < count; ++i)
        if (in[i] != signal_at(i, seed)) {
            printf("the input has changed\n");
            break;
        }
    release_signals(in);
    release_signals(out);
    return 0;
}
