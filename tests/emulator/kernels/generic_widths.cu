// Generic loads and stores of 1 to 16 bytes, signed and unsigned.
// in: a uint8[512] = random
// out: y uint8[512]
// launch: run<<<1, 32>>>(y, a)
struct Row { signed char c; short s; int i; long long l; };
__device__ __noinline__ void move(Row* to, const Row* from)
{
    to->c = from->c >> 1;
    to->s = from->s >> 1;
    to->i = from->i + from->c;
    to->l = from->l - from->s;
}
__device__ __noinline__ void move4(uint4* to, const uint4* from) { *to = *from; }
__global__ void run(Row* y, const Row* a)
{
    __shared__ Row s[32];
    const int i = threadIdx.x;
    move4((uint4*)&s[i], (const uint4*)&a[i]);
    move4((uint4*)&y[i], (uint4*)&s[i]);
    move(i & 1 ? &s[i] : &y[i], i & 2 ? &a[i] : &s[i]);
    if (i & 1) move4((uint4*)&y[i], (uint4*)&s[i]);
}
