// Compares the reference of the exercise "spmv" with cusparseSpMV (float, CSR), for a matrix like those of the oracle:
// log-normal lengths of rows, cut off, and columns near the diagonal. cuSPARSE analyses the matrix before it is timed.
//
// nvcc: -lcusparse

#include <algorithm>
#include <random>

#include <cusparse.h>

#include "../../solutions/spmv.cu"
#include "harness.cuh"

#define SPARSE(call)                                                      \
    do {                                                                  \
        if (int code = call) std::printf("code %d\n", code), std::exit(2); \
    } while (0)

int main()
{
    const int rows = 524288, cols = 524288, band = 64;
    std::mt19937 random(1);
    std::lognormal_distribution<double> weight(0, 1);
    const double longest = 16, mean = 1.6303;  // in medians; the mean after the cut
    std::vector<int> first(rows + 1);
    for (int row = 0; row < rows; row++) first[row + 1] = first[row] + int(std::min(weight(random), longest) * 32 / mean + 0.5);
    const int count = first[rows];
    std::vector<int> column(count);
    std::vector<float> value(count), x(cols), expected(rows);
    for (float& each : x) each = int(random() % 17) - 8;
    for (int row = 0, k = 0; row < rows; row++)
        for (; k < first[row + 1]; k++) {
            const long long diagonal = (long long)k * cols / count;
            column[k] = int((diagonal + random() % (2 * band) + cols - band) % cols);
            value[k] = int(random() % 17) - 8;
            expected[row] += value[k] * x[column[k]];  // exact: small integers
        }
    int *d_first = to_device(first), *d_column = to_device(column);
    float *d_value = to_device(value), *d_x = to_device(x), *d_y = to_device(expected);

    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vector, product;
    const float one = 1, zero = 0;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto index = CUSPARSE_INDEX_32I;
    SPARSE(cusparseCreate(&handle));
    SPARSE(cusparseCreateCsr(
        &matrix, rows, cols, count, d_first, d_column, d_value, index, index, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&vector, cols, d_x, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&product, rows, d_y, CUDA_R_32F));
    int wrong = 0;
    for (auto algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
        size_t bytes = 0;
        SPARSE(cusparseSpMV_bufferSize(
            handle, plain, &one, matrix, vector, &zero, product, CUDA_R_32F, algorithm, &bytes));
        void* buffer = to_device(std::vector<char>(bytes + 1));
        SPARSE(cusparseSpMV_preprocess(
            handle, plain, &one, matrix, vector, &zero, product, CUDA_R_32F, algorithm, buffer));
        const char* name = algorithm == CUSPARSE_SPMV_CSR_ALG1 ? "cuSPARSE ALG1" : "cuSPARSE ALG2";
        const auto library = [&] {
            SPARSE(cusparseSpMV(
                handle, plain, &one, matrix, vector, &zero, product, CUDA_R_32F, algorithm, buffer));
        };
        const auto reference = [&] {
            spmv<<<(rows + ROWS - 1) / ROWS, THREADS>>>(d_y, d_first, d_column, d_value, d_x, rows);
        };
        wrong |= compare({"spmv", name, 8.0 * count + 4.0 * cols + 8.0 * rows, reference, library}, d_y, expected);
    }
    return wrong;
}
