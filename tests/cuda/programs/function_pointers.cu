// Device function pointers in tables and symbols, recursion, virtual functions, and a class.
#include "check.h"

typedef float (*Operation)(float, float);

__device__ float add(float a, float b)
{
    return a + b;
}

__device__ float power(float a, float b)
{
    return b < 1 ? 1 : a * power(a, b - 1);
}

__device__ Operation table[] = {add, power};
__device__ Operation chosen = add;

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};

struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};

struct Circle : Shape {
    float radius;
    __device__ Circle(float r) : radius(r) {}
    __device__ float area() const override { return 3 * radius * radius; }
};

__global__ void calculate(Operation operation, float *result)
{
    int i = threadIdx.x;
    result[i] = operation(i, 3) + chosen(100, i) + table[i % 2](2, i);
    Shape *shape = i % 2 ? (Shape *)new Square(i) : new Circle(i);
    result[i] += 1000 * shape->area();
    delete shape;
}

int main()
{
    Operation host_table[2];
    CHECK(cudaMemcpyFromSymbol(host_table, table, sizeof(host_table)));
    float *result, host[8];
    CHECK(cudaMalloc(&result, sizeof(host)));
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    for (Operation operation : host_table) {
        calculate<<<1, 8>>>(operation, result);
        CHECK(cudaMemcpy(host, result, sizeof(host), cudaMemcpyDeviceToHost));
        for (float value : host)
            printf("%g ", value);
        printf("\n");
        CHECK(cudaMemcpyToSymbol(chosen, &host_table[1], sizeof(Operation)));
    }
    CHECK(cudaFree(result));
    return 0;
}
