// Reads numbers from stdin and arguments, prints to stdout and stderr, exits with their remainder.
// args: 7 "two words"
// stdin: 3 5 -8 100
#include "check.h"
#include <vector>

__global__ void square(long *x, int n)
{
    if (threadIdx.x < n)
        x[threadIdx.x] *= x[threadIdx.x];
}

int main(int argc, char **argv)
{
    std::vector<long> x;
    for (long value; scanf("%ld", &value) == 1;)
        x.push_back(value);
    long *device;
    CHECK(cudaMalloc(&device, x.size() * sizeof(long)));
    CHECK(cudaMemcpy(device, x.data(), x.size() * sizeof(long), cudaMemcpyHostToDevice));
    square<<<1, 32>>>(device, x.size());
    CHECK(cudaMemcpy(x.data(), device, x.size() * sizeof(long), cudaMemcpyDeviceToHost));
    long sum = 0;
    for (long value : x)
        sum += value;
    printf("%d arguments, last '%s', sum %ld\n", argc - 1, argv[argc - 1], sum);
    fprintf(stderr, "this line belongs to stderr\n");
    CHECK(cudaFree(device));
    return sum % atoi(argv[1]);
}
