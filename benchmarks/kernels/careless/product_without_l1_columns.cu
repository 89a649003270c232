// A matrix product whose loads leave nothing in the L1 (how 1), or go first (2), or are the last use (3).
// run: --size n=512 --size how=1 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size how=0 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size how=1 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size how=2 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// run: --size n=1024 --size how=3 --input a=normal:n,n --input b=normal:n,n --output c=float32:n,n
// launch: product_without_l1<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n, how)

#define PRODUCT(load)                                                                              \
    for (int k = 0; k < n; k++) {                                                                  \
        float left, right;                                                                         \
        asm(load " %0, [%1];" : "=f"(left) : "l"(a + row * n + k));                                \
        asm(load " %0, [%1];" : "=f"(right) : "l"(b + k * n + col));                               \
        sum += left * right;                                                                       \
    }

__global__ void product_without_l1(float* c, const float* a, const float* b, int n, int how)
{
    int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    switch (how) {
        case 0: PRODUCT("ld.global.f32"); break;
        case 1: PRODUCT("ld.global.L1::no_allocate.f32"); break;
        case 2: PRODUCT("ld.global.L1::evict_first.f32"); break;
        case 3: PRODUCT("ld.global.lu.f32"); break;
    }
    c[row * n + col] = sum;
}
