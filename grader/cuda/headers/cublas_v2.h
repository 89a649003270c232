// The functions of cuBLAS on the emulated device (grader/cuda/cpp/libraries/cublas.cpp), with
// names and numbers of NVIDIA's documentation. The header of an installed cuBLAS is preferred.
#ifndef CUBLAS_API_H_  // CUDA samples test this name
#define CUBLAS_API_H_
#include "cuda_runtime_api.h"
#include "library_types.h"

#include <cuda_fp16.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cublasContext *cublasHandle_t;

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum {
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99
} cublasGemmAlgo_t;

// The symbols of the second version of the interface have a suffix.
#define CUBLAS_V2(name, ...)                                                                       \
    cublasStatus_t name(cublasHandle_t handle, __VA_ARGS__) __asm__(#name "_v2");
cublasStatus_t cublasCreate(cublasHandle_t *handle) __asm__("cublasCreate_v2");
cublasStatus_t cublasDestroy(cublasHandle_t handle) __asm__("cublasDestroy_v2");
CUBLAS_V2(cublasGetVersion, int *version)
CUBLAS_V2(cublasSetStream, cudaStream_t stream)
CUBLAS_V2(cublasGetStream, cudaStream_t *stream)
CUBLAS_V2(cublasSetPointerMode, cublasPointerMode_t mode)
CUBLAS_V2(cublasGetPointerMode, cublasPointerMode_t *mode)
CUBLAS_V2(cublasSetWorkspace, void *workspace, size_t bytes)
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b,
                               int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *b,
                               int ldb);

#define CUBLAS_SHAPE cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k
#define CUBLAS_VECTORS(letter, low, T)                                                             \
    CUBLAS_V2(cublas##letter##axpy, int n, const T *alpha, const T *x, int incx, T *y,             \
              int incy)                                                                            \
    CUBLAS_V2(cublas##letter##scal, int n, const T *alpha, T *x, int incx)                         \
    CUBLAS_V2(cublas##letter##dot, int n, const T *x, int incx, const T *y, int incy,              \
              T *result)                                                                           \
    CUBLAS_V2(cublas##letter##nrm2, int n, const T *x, int incx, T *result)                        \
    CUBLAS_V2(cublas##letter##asum, int n, const T *x, int incx, T *result)                        \
    CUBLAS_V2(cublasI##low##amax, int n, const T *x, int incx, int *result)                        \
    CUBLAS_V2(cublasI##low##amin, int n, const T *x, int incx, int *result)                        \
    CUBLAS_V2(cublas##letter##gemv, cublasOperation_t op, int m, int n, const T *alpha,            \
              const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy)            \
    CUBLAS_V2(cublas##letter##gemm, CUBLAS_SHAPE, const T *alpha, const T *a, int lda,             \
              const T *b, int ldb, const T *beta, T *c, int ldc)
#define CUBLAS_BATCHES(letter, T)                                                                  \
    cublasStatus_t cublas##letter##gemmStridedBatched(                                             \
        cublasHandle_t handle, CUBLAS_SHAPE, const T *alpha, const T *a, int lda,                  \
        long long stride_a,                                                                        \
        const T *b, int ldb, long long stride_b, const T *beta, T *c, int ldc, long long stride_c, \
        int count);
CUBLAS_VECTORS(S, s, float)
CUBLAS_VECTORS(D, d, double)
CUBLAS_BATCHES(S, float)
CUBLAS_BATCHES(D, double)
CUBLAS_BATCHES(H, __half)
cublasStatus_t cublasHgemm(cublasHandle_t handle, CUBLAS_SHAPE, const __half *alpha,
                           const __half *a, int lda, const __half *b, int ldb,
                           const __half *beta, __half *c, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t opa, cublasOperation_t opb,
                            int m, int n, int k, const void *alpha, const void *a,
                            cudaDataType type_a, int lda, const void *b, cudaDataType type_b,
                            int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
#undef CUBLAS_V2
#undef CUBLAS_SHAPE
#undef CUBLAS_VECTORS
#undef CUBLAS_BATCHES

#ifdef __cplusplus
}
#endif

#endif
