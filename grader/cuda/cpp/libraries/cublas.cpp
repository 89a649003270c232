// libcublas: the usual functions on vectors and matrices. This computer computes them; sums differ
// from NVIDIA's by rounding. Matrices are stored by columns.
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include "libraries/library.h"

#include <algorithm>
#include <cmath>
#include <vector>

struct cublasContext {
    CUstream stream = nullptr;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace {

#define REQUIRE(condition, status)                                                                 \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return status;                                                                         \
    } while (false)
#define ENTER(condition)                                                                           \
    REQUIRE(handle, CUBLAS_STATUS_NOT_INITIALIZED);                                                \
    REQUIRE(condition, CUBLAS_STATUS_INVALID_VALUE)
#define VIEW(T, name, pointer, elements, writes)                                                   \
    T *name = static_cast<T *>(find_memory(function, pointer, (elements) * sizeof(T), writes));    \
    REQUIRE(name, CUBLAS_STATUS_EXECUTION_FAILED)

cublasStatus_t status_of(CUresult error)
{
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

// --- numbers ------------------------------------------------------------------------------------

size_t size_of(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

bool is_known(cudaDataType type)
{
    return type == CUDA_R_64F || type == CUDA_R_32F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

template <class T> constexpr cudaDataType type_of = CUDA_R_16F;
template <> constexpr cudaDataType type_of<float> = CUDA_R_32F;
template <> constexpr cudaDataType type_of<double> = CUDA_R_64F;

double read(cudaDataType type, const void *from, size_t index = 0)
{
    if (type == CUDA_R_64F)
        return static_cast<const double *>(from)[index];
    if (type == CUDA_R_32F)
        return static_cast<const float *>(from)[index];
    if (type == CUDA_R_16F)
        return __half2float(static_cast<const __half *>(from)[index]);
    return __bfloat162float(static_cast<const __nv_bfloat16 *>(from)[index]);
}

void write(cudaDataType type, void *to, size_t index, double value)
{
    if (type == CUDA_R_64F)
        static_cast<double *>(to)[index] = value;
    else if (type == CUDA_R_32F)
        static_cast<float *>(to)[index] = static_cast<float>(value);
    else if (type == CUDA_R_16F)
        static_cast<__half *>(to)[index] = __double2half(value);
    else
        static_cast<__nv_bfloat16 *>(to)[index] = __double2bfloat16(value);
}

// A factor: the value of host memory, read at the call, or the place in device memory.
struct Factor {
    cudaDataType type;
    double value;
    const void *place;

    double get() const { return place ? read(type, place) : value; }
};

cublasStatus_t find_factor(const char *function, cublasHandle_t handle, const void *from,
                           cudaDataType type, Factor *factor)
{
    REQUIRE(from, CUBLAS_STATUS_INVALID_VALUE);
    bool host = handle->pointers == CUBLAS_POINTER_MODE_HOST;
    *factor = {type, host ? read(type, from) : 0,
               host ? nullptr : find_memory(function, from, size_of(type), false)};
    return host || factor->place ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

#define FACTOR(name, from, type)                                                                   \
    Factor name;                                                                                   \
    if (cublasStatus_t status = find_factor(function, handle, from, type, &name))                  \
    return status

// --- products of matrices -----------------------------------------------------------------------

struct Operand {
    const void *memory;
    cudaDataType type;
    int ld;
    bool transposed;
    long long stride;

    size_t elements(int rows, int columns, int count) const
    {
        int last = (transposed ? rows : columns) - 1, first = transposed ? columns : rows;
        return static_cast<size_t>(std::llabs(stride) * (count - 1) + (long long)ld * last + first);
    }
};

struct Product {
    int m, n, k, count;
    Operand a, b, c;
    Factor alpha, beta;
    cudaDataType sums;
};

// op(matrix) by columns, without gaps.
template <class T> std::vector<T> pack(const Operand &from, size_t first, int rows, int columns)
{
    std::vector<T> packed(size_t(rows) * size_t(columns));
    size_t along = from.transposed ? size_t(from.ld) : 1, across = from.transposed ? 1 : from.ld;
    for (size_t j = 0; j < size_t(columns); ++j)
        for (size_t i = 0; i < size_t(rows); ++i)
            packed[j * size_t(rows) + i] = static_cast<T>(
                read(from.type, from.memory, first + i * along + j * across));
    return packed;
}

template <class T> void multiply_one(const Product &p, size_t number)
{
    std::vector<T> a = pack<T>(p.a, number * size_t(p.a.stride), p.m, p.k);
    std::vector<T> b = pack<T>(p.b, number * size_t(p.b.stride), p.k, p.n);
    std::vector<T> sums(static_cast<size_t>(p.m));
    double alpha = p.alpha.get(), beta = p.beta.get();
    for (int j = 0; j < p.n; ++j) {
        std::fill(sums.begin(), sums.end(), T(0));
        for (int l = 0; l < p.k; ++l) {
            T factor = b[size_t(j) * size_t(p.k) + size_t(l)];
            const T *column = &a[size_t(l) * size_t(p.m)];
            for (int i = 0; i < p.m; ++i)
                sums[size_t(i)] += column[i] * factor;
        }
        for (int i = 0; i < p.m; ++i) {
            size_t at = number * size_t(p.c.stride) + size_t(j) * size_t(p.c.ld) + size_t(i);
            double old = beta == 0 ? 0 : beta * read(p.c.type, p.c.memory, at);
            double value = alpha * double(sums[size_t(i)]) + old;
            write(p.c.type, const_cast<void *>(p.c.memory), at, value);
        }
    }
}

cublasStatus_t multiply(const char *function, cublasHandle_t handle, Product p)
{
    bool good = p.m >= 0 && p.n >= 0 && p.k >= 0 && p.count >= 0 && p.a.ld > 0 && p.b.ld > 0 &&
                p.c.ld >= std::max(1, p.m) && p.a.ld >= (p.a.transposed ? p.k : p.m) &&
                p.b.ld >= (p.b.transposed ? p.n : p.k);
    ENTER(good);
    REQUIRE(is_known(p.a.type) && is_known(p.b.type) && is_known(p.c.type),
            CUBLAS_STATUS_NOT_SUPPORTED);
    if (!p.m || !p.n || !p.count)
        return CUBLAS_STATUS_SUCCESS;
    double bytes = 0;
    struct {
        Operand *operand;
        int rows, columns;
    } operands[] = {{&p.a, p.m, p.k}, {&p.b, p.k, p.n}, {&p.c, p.m, p.n}};
    for (auto &[operand, rows, columns] : operands) {
        size_t size = rows && columns ? operand->elements(rows, columns, p.count) : 0;
        size *= size_of(operand->type);
        operand->memory = find_memory(function, operand->memory, size, operand == &p.c);
        REQUIRE(operand->memory, CUBLAS_STATUS_EXECUTION_FAILED);
        bytes += static_cast<double>(size);
    }
    bool tensor = size_of(p.a.type) == 2;
    uint32_t arithmetic = p.sums == CUDA_R_64F ? wire::Arithmetic::DOUBLE
                      : tensor             ? wire::Arithmetic::TENSOR
                                           : wire::Arithmetic::SINGLE;
    grader_library_call(handle->stream, function, arithmetic, 2.0 * p.m * p.n * p.k * p.count,
                        bytes);
    return status_of(run_in_stream(handle->stream, [p] {
        for (size_t number = 0; number < size_t(p.count); ++number)
            p.sums == CUDA_R_64F ? multiply_one<double>(p, number)
                                 : multiply_one<float>(p, number);
    }));
}

// --- vectors ------------------------------------------------------------------------------------

// A vector of BLAS: with a negative step, its first element is the last in memory.
template <class T> struct Vector {
    T *memory;
    long long first, step;

    T &operator[](long long n) const { return memory[first + n * step]; }
};

template <class T>
cublasStatus_t find_vector(const char *function, int n, const T *x, int step, bool writes,
                           Vector<T> *vector)
{
    size_t size = n > 0 ? size_t(n - 1) * size_t(std::abs(step)) + 1 : 0;
    VIEW(T, view, x, size, writes);
    *vector = {view, step < 0 ? (long long)(1 - n) * step : 0, step};
    return CUBLAS_STATUS_SUCCESS;
}

#define VECTOR(name, n, x, step, writes)                                                           \
    Vector<T> name;                                                                                \
    if (cublasStatus_t status = find_vector<T>(function, n, x, step, writes, &name))               \
    return status

// A function that reads or writes `moved` elements with as many multiplications and additions.
template <class T, class Work>
cublasStatus_t run(const char *function, cublasHandle_t handle, double moved, Work work)
{
    uint32_t kind = sizeof(T) == 8 ? wire::Arithmetic::DOUBLE : wire::Arithmetic::SINGLE;
    grader_library_call(handle->stream, function, kind, moved, moved * sizeof(T));
    return status_of(run_in_stream(handle->stream, std::move(work)));
}

// A function with a result, for which the host waits unless it is in device memory.
template <class T, class Result, class Find>
cublasStatus_t reduce(const char *function, cublasHandle_t handle, double moved,
                      Result *result, Find find)
{
    REQUIRE(result, CUBLAS_STATUS_INVALID_VALUE);
    bool host = handle->pointers == CUBLAS_POINTER_MODE_HOST;
    if (!host) {
        VIEW(Result, view, result, 1, true);
        result = view;
    }
    cublasStatus_t status = run<T>(function, handle, moved, [=] { *result = find(); });
    if (status || !host)
        return status;
    return status_of(cuStreamSynchronize(handle->stream));
}

} // namespace

// --- handles ------------------------------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    REQUIRE(handle, CUBLAS_STATUS_INVALID_VALUE);
    REQUIRE(!cudaFree(nullptr), CUBLAS_STATUS_NOT_INITIALIZED); // makes the context
    *handle = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    ENTER(true);
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}

#define SETTING(name, parameter, ...)                                                              \
    cublasStatus_t name(cublasHandle_t handle, parameter)                                          \
    {                                                                                              \
        ENTER(true);                                                                               \
        __VA_ARGS__;                                                                               \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

SETTING(cublasGetVersion, int *version, *version = 130000)
SETTING(cublasSetStream, cudaStream_t stream, handle->stream = stream)
SETTING(cublasGetStream, cudaStream_t *stream, *stream = handle->stream)
SETTING(cublasSetPointerMode, cublasPointerMode_t mode, handle->pointers = mode)
SETTING(cublasGetPointerMode, cublasPointerMode_t *mode, *mode = handle->pointers)
SETTING(cublasSetMathMode, cublasMath_t mode, handle->math = mode)
SETTING(cublasGetMathMode, cublasMath_t *mode, *mode = handle->math)

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *, size_t)
{
    ENTER(true);
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusName(cublasStatus_t status)
{
#define NAME(name)                                                                                 \
    case name:                                                                                     \
        return #name
    switch (status) {
        NAME(CUBLAS_STATUS_SUCCESS);
        NAME(CUBLAS_STATUS_NOT_INITIALIZED);
        NAME(CUBLAS_STATUS_INVALID_VALUE);
        NAME(CUBLAS_STATUS_EXECUTION_FAILED);
        NAME(CUBLAS_STATUS_NOT_SUPPORTED);
    default:
        return "unknown status";
    }
}

const char *cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

// --- copies -------------------------------------------------------------------------------------

static cublasStatus_t copy(int rows, int columns, int bytes, const void *from, int from_pitch,
                           void *to, int to_pitch, cudaMemcpyKind kind)
{
    REQUIRE(rows >= 0 && columns >= 0 && bytes > 0 && from_pitch > 0 && to_pitch > 0,
            CUBLAS_STATUS_INVALID_VALUE);
    auto unit = static_cast<size_t>(bytes);
    cudaError_t error = cudaMemcpy2D(to, size_t(to_pitch) * unit, from, size_t(from_pitch) * unit,
                                     size_t(rows) * unit, size_t(columns), kind);
    return error ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *y, int incy)
{
    return copy(1, n, bytes, x, incx, y, incy, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int incx, void *y, int incy)
{
    return copy(1, n, bytes, x, incx, y, incy, cudaMemcpyDeviceToHost);
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b,
                               int ldb)
{
    return copy(rows, cols, bytes, a, lda, b, ldb, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b,
                               int ldb)
{
    return copy(rows, cols, bytes, a, lda, b, ldb, cudaMemcpyDeviceToHost);
}

// --- functions of each type ---------------------------------------------------------------------

#define EXPORT_ONE(symbol, name, T, PARAMETERS, ...)                                               \
    cublasStatus_t symbol(cublasHandle_t handle, PARAMETERS(T))                                    \
    {                                                                                              \
        ENTER(true);                                                                               \
        return name<T>(#symbol, handle, __VA_ARGS__);                                              \
    }
#define EXPORT(name, PARAMETERS, ...)                                                              \
    EXPORT_ONE(cublasS##name, name, float, PARAMETERS, __VA_ARGS__)                                \
    EXPORT_ONE(cublasD##name, name, double, PARAMETERS, __VA_ARGS__)
#define EXPORT_GEMM(name, PARAMETERS, ...)                                                         \
    EXPORT(name, PARAMETERS, __VA_ARGS__)                                                          \
    EXPORT_ONE(cublasH##name, name, __half, PARAMETERS, __VA_ARGS__)

template <class T>
static cublasStatus_t axpy(const char *function, cublasHandle_t handle, int n, const T *alpha,
                           const T *x, int incx, T *y, int incy)
{
    FACTOR(factor, alpha, type_of<T>);
    VECTOR(from, n, x, incx, false);
    VECTOR(to, n, y, incy, true);
    return run<T>(function, handle, 3.0 * n, [=] {
        T a = static_cast<T>(factor.get());
        for (int i = 0; i < n; ++i)
            to[i] += a * from[i];
    });
}

template <class T>
static cublasStatus_t scal(const char *function, cublasHandle_t handle, int n, const T *alpha, T *x,
                           int incx)
{
    FACTOR(factor, alpha, type_of<T>);
    VECTOR(to, n, x, incx, true);
    return run<T>(function, handle, 2.0 * n, [=] {
        for (int i = 0; i < n; ++i)
            to[i] *= static_cast<T>(factor.get());
    });
}

template <class T>
static cublasStatus_t dot(const char *function, cublasHandle_t handle, int n, const T *x, int incx,
                          const T *y, int incy, T *result)
{
    VECTOR(a, n, x, incx, false);
    VECTOR(b, n, y, incy, false);
    return reduce<T>(function, handle, 2.0 * n, result, [=] {
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += double(a[i]) * double(b[i]);
        return static_cast<T>(sum);
    });
}

// The square root of the sum of squares, or the sum of absolute values.
template <class T>
static cublasStatus_t norm(const char *function, cublasHandle_t handle, int n, const T *x, int incx,
                           T *result, bool squares)
{
    VECTOR(from, n, x, incx, false);
    return reduce<T>(function, handle, n, result, [=] {
        double sum = 0;
        for (int i = 0; i < n; ++i)
            sum += squares ? double(from[i]) * double(from[i]) : std::fabs(double(from[i]));
        return static_cast<T>(squares ? std::sqrt(sum) : sum);
    });
}

// The first index, from 1 on, of the largest or the smallest absolute value; 0 without elements.
template <class T>
static cublasStatus_t extreme(const char *function, cublasHandle_t handle, int n, const T *x,
                              int incx, int *result, bool largest)
{
    VECTOR(from, n, x, incx, false);
    return reduce<T>(function, handle, n, result, [=] {
        int best = 0;
        for (int i = 1; i < n; ++i) {
            T one = std::fabs(from[i]), other = std::fabs(from[best]);
            best = (largest ? one > other : one < other) ? i : best;
        }
        return n > 0 ? best + 1 : 0;
    });
}

template <class T>
static cublasStatus_t gemv(const char *function, cublasHandle_t handle, cublasOperation_t op, int m,
                           int n, const T *alpha, const T *a, int lda, const T *x, int incx,
                           const T *beta, T *y, int incy)
{
    REQUIRE(m >= 0 && n >= 0 && lda >= std::max(1, m), CUBLAS_STATUS_INVALID_VALUE);
    bool across = op == CUBLAS_OP_N;
    int rows = across ? m : n, columns = across ? n : m;
    FACTOR(product, alpha, type_of<T>);
    FACTOR(old, beta, type_of<T>);
    VECTOR(from, columns, x, incx, false);
    VECTOR(to, rows, y, incy, true);
    VIEW(const T, matrix, a, m && n ? size_t(lda) * size_t(n - 1) + size_t(m) : 0, false);
    return run<T>(function, handle, double(m) * n, [=] {
        for (int i = 0; i < rows; ++i) {
            double sum = 0;
            for (int j = 0; j < columns; ++j) {
                size_t at = across ? i + size_t(j) * lda : j + size_t(i) * lda;
                sum += double(matrix[at]) * double(from[j]);
            }
            double kept = old.get() == 0 ? 0 : old.get() * double(to[i]);
            to[i] = static_cast<T>(product.get() * sum + kept);
        }
    });
}

template <class T>
static cublasStatus_t gemmStridedBatched(const char *function, cublasHandle_t handle,
                                         cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                                         int k, const T *alpha, const T *a, int lda, long long to_a,
                                         const T *b, int ldb, long long to_b, const T *beta, T *c,
                                         int ldc, long long to_c, int count)
{
    constexpr cudaDataType type = type_of<T>;
    FACTOR(product, alpha, type);
    FACTOR(old, beta, type);
    Operand operands[] = {{a, type, lda, opa != CUBLAS_OP_N, to_a},
                          {b, type, ldb, opb != CUBLAS_OP_N, to_b},
                          {c, type, ldc, false, to_c}};
    return multiply(function, handle,
                    {m, n, k, count, operands[0], operands[1], operands[2], product, old, type});
}

#define AXPY(T) int n, const T *alpha, const T *x, int incx, T *y, int incy
#define SCAL(T) int n, const T *alpha, T *x, int incx
#define DOT(T) int n, const T *x, int incx, const T *y, int incy, T *result
#define NORM(T) int n, const T *x, int incx, T *result
#define EXTREME(T) int n, const T *x, int incx, int *result
#define GEMV(T)                                                                                    \
    cublasOperation_t op, int m, int n, const T *alpha, const T *a, int lda, const T *x, int incx, \
        const T *beta, T *y, int incy
#define SHAPE(T) cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T *alpha
#define GEMM(T)                                                                                    \
    SHAPE(T), const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc
#define STRIDED(T)                                                                                 \
    SHAPE(T), const T *a, int lda, long long to_a, const T *b, int ldb, long long to_b,            \
        const T *beta, T *c, int ldc, long long to_c, int count

EXPORT(axpy, AXPY, n, alpha, x, incx, y, incy)
EXPORT(scal, SCAL, n, alpha, x, incx)
EXPORT(dot, DOT, n, x, incx, y, incy, result)
EXPORT(gemv, GEMV, op, m, n, alpha, a, lda, x, incx, beta, y, incy)
EXPORT_GEMM(gemmStridedBatched, STRIDED, opa, opb, m, n, k, alpha, a, lda, to_a, b, ldb, to_b, beta,
            c, ldc, to_c, count)

#define EXPORT_REST(letter, low, T)                                                                \
    EXPORT_ONE(cublas##letter##nrm2, norm, T, NORM, n, x, incx, result, true)                      \
    EXPORT_ONE(cublas##letter##asum, norm, T, NORM, n, x, incx, result, false)                     \
    EXPORT_ONE(cublasI##low##amax, extreme, T, EXTREME, n, x, incx, result, true)                  \
    EXPORT_ONE(cublasI##low##amin, extreme, T, EXTREME, n, x, incx, result, false)
#define EXPORT_PRODUCT(letter, T)                                                                  \
    EXPORT_ONE(cublas##letter##gemm, gemmStridedBatched, T, GEMM, opa, opb, m, n, k, alpha, a,     \
               lda, 0, b, ldb, 0, beta, c, ldc, 0, 1)
EXPORT_REST(S, s, float)
EXPORT_REST(D, d, double)
EXPORT_PRODUCT(S, float)
EXPORT_PRODUCT(D, double)
EXPORT_PRODUCT(H, __half)

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType type_a, int lda, const void *b, cudaDataType type_b,
                            int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t)
{
    constexpr const char *function = "cublasGemmEx";
    ENTER(true);
    REQUIRE(compute != CUBLAS_COMPUTE_32I, CUBLAS_STATUS_NOT_SUPPORTED);
    cudaDataType sums = compute < CUBLAS_COMPUTE_32F                                    ? CUDA_R_16F
                        : compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC
                            ? CUDA_R_64F
                            : CUDA_R_32F;
    FACTOR(product, alpha, sums);
    FACTOR(old, beta, sums);
    return multiply(function, handle,
                    {m, n, k, 1, {a, type_a, lda, opa != CUBLAS_OP_N, 0},
                     {b, type_b, ldb, opb != CUBLAS_OP_N, 0}, {c, type_c, ldc, false, 0}, product,
                     old, sums});
}
