// Functions that are not inlined, by pointers, virtual ones, lambdas, structures by value and by reference, templates, overloads.
// in: a int32[256] = random
// in: f float32[256] = normal
// out: y int32[1024]
// out: g float32[512]
// launch: pointers<<<2, 128>>>(y, a)
// launch: objects<<<2, 128>>>(g, f)
// launch: values<<<2, 128>>>(y, g, a, f)
typedef int (*Binary)(int, int);
__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int divided(int a, int b) { return a / (b | 1); }
__device__ Binary const table[4] = {plus, minus, times, divided};
__global__ void pointers(int *y, const int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Binary f = table[a[i] & 3];
    y[i] = f(a[i], i);
    y[256 + i] = table[blockIdx.x + 1](a[i], 7);
}
struct Shape {
    float w;
    __device__ Shape(float w) : w(w) {}
    __device__ virtual float area() const = 0;
    __device__ virtual float scaled(float s) const { return s * area(); }
};
struct Square : Shape {
    __device__ Square(float w) : Shape(w) {}
    __device__ float area() const override { return w * w; }
};
struct Circle : Shape {
    __device__ Circle(float w) : Shape(w) {}
    __device__ float area() const override { return 3.14159274f * w * w; }
    __device__ float scaled(float s) const override { return s * s * area(); }
};
__global__ void objects(float *g, const float *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Square square(f[i]);
    Circle circle(f[i]);
    const Shape *shape = f[i] > 0 ? static_cast<const Shape *>(&square) : &circle;
    g[i] = shape->area() + shape->scaled(2.0f);
}
struct Particle { double x, y; float m; int kind; char name[6]; short s; };
__device__ __noinline__ Particle moved(Particle p, const double2 &by) {
    p.x += by.x;
    p.y -= by.y;
    p.name[p.kind & 3] += 1;
    return p;
}
template <typename F> __device__ float apply(F f, float x, int n) {
    for (int i = 0; i < n; ++i) x = f(x);
    return x;
}
__device__ __noinline__ long long twice(long long x) { return 2 * x; }
__device__ __noinline__ double twice(double x) { return 2 * x; }
__global__ void values(int *y, float *g, const int *a, const float *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Particle p = {f[i], 1.0 / (i + 1), 3.0f, a[i], "abcde", (short)i};
    p = moved(p, make_double2(0.5, 0.25));
    float scale = f[(i + 1) & 255];
    g[256 + i] = apply([=](float x) { return x * scale + 1.0f; }, (float)(p.x + p.y), i & 7) + p.m;
    y[512 + i] = p.name[0] + 256 * p.name[1] + 65536 * p.name[2] + p.s + (int)twice((long long)a[i]) + (int)twice((double)i);
    auto pick = [&](int k) { return k & 1 ? a[i] : a[255 - i]; };
    y[768 + i] = pick(i) ^ pick(i + 1);
}
