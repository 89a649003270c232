// Device code with thrust and cuda/std; sorting, searching and scanning by one thread, complex numbers, pairs, spans, bits.
// levels: 3
// counters: ignored
// in: a int32[1024] = random
// in: b float32[256] = normal
// inout: w int32[1024] = random
// out: y int32[512]
// out: z float32[512]
// launch: run<<<2, 32>>>(y, z, w, a, b)
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <thrust/binary_search.h>
#include <thrust/complex.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/pair.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>
__global__ void run(int* y, float* z, int* w, const int* a, const float* b)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    int* const own = w + 16 * i;
    thrust::sort(thrust::seq, own, own + 16, thrust::greater<int>());
    y[i] = thrust::lower_bound(thrust::seq, own, own + 16, a[i], thrust::greater<int>()) - own;
    y[64 + i] = thrust::reduce(thrust::seq, a + 16 * i, a + 16 * i + 16, 0, thrust::maximum<int>());
    thrust::inclusive_scan(thrust::seq, own, own + 8, own);
    y[128 + i] = thrust::unique(thrust::seq, own + 8, own + 16) - own;
    const cuda::std::span<const int> view(a + 16 * i, 16);
    int bits = 0;
    for (const int each : view.subspan(3, 9)) bits += cuda::std::popcount((unsigned)each) + cuda::std::countl_zero((unsigned)each);
    y[192 + i] = bits + cuda::std::rotl(0x1234u, i);
    cuda::std::array<int, 4> four{i, 2, 3, 4};
    cuda::std::optional<int> found;
    for (int each : four) if (each % 3 == 0) found = each;
    y[256 + i] = found.value_or(cuda::std::numeric_limits<int>::max());
    thrust::complex<float> c(b[i], b[64 + i]);
    const thrust::complex<float> r = thrust::exp(c) * thrust::sqrt(c) / (c + 1.5f);
    z[i] = r.real();
    z[64 + i] = r.imag();
    cuda::std::complex<float> d(b[128 + i], b[192 + i]);
    d = d * d / cuda::std::complex<float>(2, i);
    z[128 + i] = d.real();
    z[192 + i] = abs(d);
    const auto both = cuda::std::make_tuple(i, b[i]);
    const thrust::pair<float, int> p(cuda::std::get<1>(both), cuda::std::get<0>(both));
    z[256 + i] = p.first * p.second;
}
