// float32 with .ftz: results that are just below the smallest normal number, nearer to it than half a unit of 24 bits.
// in: a float32[64] = {1.17549435e-38, -1.17549435e-38, 2.3509887e-38, 1.1754945e-38}
// in: b float32[64] = {-1.17549435e-38, -5.9604645e-8, -2.9802322e-8, -1.4901161e-8, -1.1920929e-7, 5.9604645e-8, 0.99999994}
// out: y float32[64]
// out: z float32[64]
// out: r float32[64]
// launch: run<<<1, 64>>>(y, z, r, a, b)
__global__ void run(float *y, float *z, float *r, const float *a, const float *b) {
    int i = threadIdx.x;
    asm("fma.rn.ftz.f32 %0, %1, %2, %1;" : "=f"(y[i]) : "f"(a[i]), "f"(b[i]));
    asm("fma.rp.ftz.f32 %0, %1, %2, %1;" : "=f"(z[i]) : "f"(a[i]), "f"(b[i]));
    asm("fma.rm.ftz.f32 %0, %1, %2, %1;" : "=f"(r[i]) : "f"(a[i]), "f"(b[i]));
}
