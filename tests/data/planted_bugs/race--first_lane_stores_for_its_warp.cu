// The first lane stores a value that all lanes of its warp read at once. The store has a predicate,
// not a branch, so that all lanes read together; nothing orders the store before their reads.
// in: float a[32]
// out: float y[32]
// launch: spread<<<1, 32>>>(y, a)
extern "C" __global__ void spread(float* y, const float* a) {
    __shared__ float kept;
    unsigned place = __cvta_generic_to_shared(&kept);
    asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 0; @p st.shared.f32 [%1], %2; }" ::"r"(threadIdx.x), "r"(place), "f"(a[threadIdx.x]) : "memory");  // BUG
    y[threadIdx.x] = kept;  // BUG
}
