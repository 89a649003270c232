// libcurand: host generators. Each type of pseudorandom generator gives the numbers of Philox
// 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"), in another
// order than NVIDIA's.
#include <curand.h>

#include "libraries/library.h"

#include <cmath>
#include <random>

struct curandGenerator_st {
    using result_type = uint32_t;

    CUstream stream = nullptr;
    bool host = false;
    uint64_t seed = 0, counter = 0;
    uint32_t block[4] = {};

    static constexpr uint32_t min() { return 0; }
    static constexpr uint32_t max() { return UINT32_MAX; }

    uint32_t operator()()
    {
        if (counter % 4 == 0)
            fill(counter / 4);
        return block[counter++ % 4];
    }

    void fill(uint64_t number)
    {
        uint32_t x[4] = {uint32_t(number), uint32_t(number >> 32), 0, 0};
        uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
        for (int round = 0; round < 10; ++round) {
            uint64_t a = uint64_t(0xD2511F53) * x[0], b = uint64_t(0xCD9E8D57) * x[2];
            uint32_t next[4] = {uint32_t(b >> 32) ^ x[1] ^ key[0], uint32_t(b),
                                uint32_t(a >> 32) ^ x[3] ^ key[1], uint32_t(a)};
            for (int n = 0; n < 4; ++n)
                x[n] = next[n];
            key[0] += 0x9E3779B9;
            key[1] += 0xBB67AE85;
        }
        for (int n = 0; n < 4; ++n)
            block[n] = x[n];
    }

    // In (0, 1].
    double uniform()
    {
        double high = (*this)(), low = (*this)() >> 11;
        return (high * 0x1p21 + low + 1) * 0x1p-53;
    }

    double normal()
    {
        double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * M_PI * uniform());
    }
};

namespace {

// Fills `output` with values of `next`.
template <class T, class Next>
curandStatus_t generate(const char *name, curandGenerator_t generator, T *output, size_t count,
                        Next next)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    auto fill = [=](T *to) {
        for (size_t n = 0; n < count; ++n)
            to[n] = static_cast<T>(next(*generator));
    };
    if (generator->host) {
        fill(output);
        return CURAND_STATUS_SUCCESS;
    }
    auto view = static_cast<T *>(find_memory(name, output, count * sizeof(T), true));
    if (!view)
        return CURAND_STATUS_LAUNCH_FAILURE;
    auto bytes = static_cast<double>(count * sizeof(T));
    grader_library_call(generator->stream, name, wire::Arithmetic::SINGLE, 0, bytes);
    CUresult error = run_in_stream(generator->stream, [=] { fill(view); });
    return error ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool host)
{
    if (type >= CURAND_RNG_QUASI_DEFAULT) {
        std::fprintf(stderr, "grader: quasirandom generators are not supported\n");
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = new curandGenerator_st;
    (*generator)->host = host;
    return CURAND_STATUS_SUCCESS;
}

} // namespace

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    if (generator && !generator->host)
        cuStreamSynchronize(generator->stream);
    delete generator;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    *version = 10400;
    return CURAND_STATUS_SUCCESS;
}

#define SETTER(name, parameter, ...)                                                               \
    curandStatus_t name(curandGenerator_t generator, parameter)                                    \
    {                                                                                              \
        if (!generator)                                                                            \
            return CURAND_STATUS_NOT_INITIALIZED;                                                  \
        __VA_ARGS__;                                                                               \
        return CURAND_STATUS_SUCCESS;                                                              \
    }

SETTER(curandSetStream, cudaStream_t stream, generator->stream = stream)
SETTER(curandSetPseudoRandomGeneratorSeed, unsigned long long seed, generator->seed = seed,
       generator->counter = 0)
SETTER(curandSetGeneratorOffset, unsigned long long offset, generator->counter = offset,
       generator->fill(offset / 4))
SETTER(curandSetGeneratorOrdering, curandOrdering_t, )

curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }

#define GENERATE(name, T, next, ...)                                                               \
    curandStatus_t name(curandGenerator_t generator, T *output, size_t count, ##__VA_ARGS__)       \
    {                                                                                              \
        return generate(#name, generator, output, count,                                           \
                        [=](curandGenerator_st &random) { return next; });                         \
    }

GENERATE(curandGenerate, unsigned, random())
GENERATE(curandGenerateUniform, float, (random() + 1.0) * 0x1p-32)
GENERATE(curandGenerateUniformDouble, double, random.uniform())
GENERATE(curandGenerateNormal, float, double(mean) + double(deviation) * random.normal(),
         float mean, float deviation)
GENERATE(curandGenerateNormalDouble, double, mean + deviation * random.normal(), double mean,
         double deviation)
GENERATE(curandGenerateLogNormal, float,
         std::exp(double(mean) + double(deviation) * random.normal()), float mean, float deviation)
GENERATE(curandGenerateLogNormalDouble, double, std::exp(mean + deviation * random.normal()),
         double mean, double deviation)
GENERATE(curandGeneratePoisson, unsigned, std::poisson_distribution<unsigned>(lambda)(random),
         double lambda)
