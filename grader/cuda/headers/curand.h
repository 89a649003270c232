// NVIDIA's package of the compiler does not contain this header. Here each function returns an
// error, and the version is 0: PyCUDA then compiles, without the generators of cuRAND.
#pragma once

typedef enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_NOT_INITIALIZED = 101
} curandStatus_t;

typedef enum curandDirectionVectorSet {
    CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101,
    CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 = 102,
    CURAND_DIRECTION_VECTORS_64_JOEKUO6 = 103,
    CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6 = 104
} curandDirectionVectorSet_t;

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

static inline curandStatus_t curandGetVersion(int *version)
{
    *version = 0;
    return CURAND_STATUS_NOT_INITIALIZED;
}

static inline curandStatus_t
curandGetDirectionVectors32(curandDirectionVectors32_t **vectors, curandDirectionVectorSet_t set)
{
    (void)vectors, (void)set;
    return CURAND_STATUS_NOT_INITIALIZED;
}

static inline curandStatus_t
curandGetDirectionVectors64(curandDirectionVectors64_t **vectors, curandDirectionVectorSet_t set)
{
    (void)vectors, (void)set;
    return CURAND_STATUS_NOT_INITIALIZED;
}

static inline curandStatus_t curandGetScrambleConstants32(unsigned int **constants)
{
    (void)constants;
    return CURAND_STATUS_NOT_INITIALIZED;
}

static inline curandStatus_t curandGetScrambleConstants64(unsigned long long **constants)
{
    (void)constants;
    return CURAND_STATUS_NOT_INITIALIZED;
}
