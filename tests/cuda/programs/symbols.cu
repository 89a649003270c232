// Copies to and from __device__ and __constant__ variables, with offsets and addresses.
#include "check.h"

__device__ int table[16] = {1, 2, 3};
__device__ double scalar = 2.5;
__constant__ float weights[8];
__constant__ int offset = 100;
static __device__ struct {
    char letter;
    short number;
} record = {'a', 5};

__global__ void use(float *result)
{
    int i = threadIdx.x;
    table[i] += offset;
    result[i] = weights[i % 8] * scalar + record.number;
    if (i == 0)
        record.letter += 1;
}

int main()
{
    float host_weights[8], result[16], *device;
    for (int i = 0; i < 8; ++i)
        host_weights[i] = i + 0.5f;
    CHECK(cudaMemcpyToSymbol(weights, host_weights, sizeof(host_weights)));
    int values[4] = {50, 60, 70, 80};
    CHECK(cudaMemcpyToSymbol(table, values, sizeof(values), 4 * sizeof(int)));
    CHECK(cudaMalloc(&device, sizeof(result)));
    use<<<1, 16>>>(device);
    CHECK(cudaMemcpy(result, device, sizeof(result), cudaMemcpyDeviceToHost));
    printf("result %g %g %g\n", result[0], result[7], result[8]);

    int read[16];
    CHECK(cudaMemcpyFromSymbol(read, table, sizeof(read)));
    for (int i = 0; i < 16; ++i)
        printf("%d ", read[i]);
    printf("\n");

    double *address;
    size_t bytes;
    CHECK(cudaGetSymbolAddress((void **)&address, scalar));
    CHECK(cudaGetSymbolSize(&bytes, record));
    double number = -1;
    CHECK(cudaMemcpy(address, &number, sizeof(number), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbolAsync(offset, &read[1], sizeof(int), 0, cudaMemcpyHostToDevice, 0));
    use<<<1, 16>>>(device);
    CHECK(cudaMemcpyFromSymbolAsync(read, table, 8, 12, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaMemcpy(result, device, sizeof(result), cudaMemcpyDeviceToHost));
    printf("result %g %g, table[3] %d, record of %zu bytes\n", result[0], result[7], read[0], bytes);

    char letter;
    CHECK(cudaMemcpyFromSymbol(&letter, record, 1));
    printf("letter %c\n", letter);
    printf("beyond: %s\n", cudaGetErrorName(cudaMemcpyToSymbol(offset, values, 8)));
    printf("no symbol: %s\n", cudaGetErrorName(cudaMemcpyToSymbol(&number, values, 8)));
    CHECK(cudaFree(device));
    return 0;
}
