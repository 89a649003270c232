// Calls of functions by pointers from a table, a different one in each lane, and of virtual functions.
// in: a int32[64] = edges
// out: y int32[64]
// launch: run<<<1, 64>>>(y, a)
__device__ __noinline__ int triple(int x) { return 3 * x; }
__device__ __noinline__ int flip(int x) { return x ^ 77; }
__device__ __noinline__ int half(int x) { return x < 0 ? -(-x / 2) : x / 2; }
typedef int (*Function)(int);
__device__ Function functions[3] = {triple, flip, half};
struct Shape { __device__ virtual int area(int x) const = 0; };
struct Square : Shape { __device__ int area(int x) const override { return x * x; } };
struct Line : Shape { __device__ int area(int x) const override { return x + 1; } };
__global__ void run(int* y, const int* a)
{
    const int i = threadIdx.x;
    Square square;
    Line line;
    const Shape* shape = i % 5 == 0 ? (const Shape*)&square : (const Shape*)&line;
    y[i] = functions[i % 3](a[i]) + shape->area(i);
}
