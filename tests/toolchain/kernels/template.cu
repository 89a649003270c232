// Instances of a template in a namespace, with a struct by value, launch bounds and dynamic shared memory.
// in: in float32[256] = normal
// out: single float32[256]
// out: wide float64[128]
// levels: 3
// launch: ns::reverse<float, 256><<<1, 256, 1024>>>(single, in)
// launch: ns::reverse<double, 128><<<1, 128, 1024>>>(wide, in)
namespace ns {
template <class T, int N> __device__ T twice(T x) { return x + x; }
template <class T, int N> __global__ void __launch_bounds__(N) reverse(T* out, const float* in)
{
    extern __shared__ char raw[];
    T* all = reinterpret_cast<T*>(raw);
    all[threadIdx.x] = twice<T, N>(in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = all[N - 1 - threadIdx.x];
}
template __global__ void reverse<float, 256>(float*, const float*);
template __global__ void reverse<double, 128>(double*, const float*);
}
