// Thrust from the host: vectors, sort, reduce, scan, transform, unique and copy_if.
#include <cstdio>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

struct Odd {
    __host__ __device__ bool operator()(int x) const { return x & 1; }
};

struct Mix {
    __host__ __device__ int operator()(int x, int y) const { return 3 * x - y; }
};

int main()
{
    const int n = 3000;
    thrust::host_vector<int> host(n);
    unsigned state = 1;
    for (int i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        host[i] = state >> 22;
    }
    thrust::device_vector<int> x = host, index(n), y(n);
    thrust::sequence(index.begin(), index.end());
    thrust::sort_by_key(x.begin(), x.end(), index.begin());
    printf("smallest %d largest %d\n", (int)x[0], (int)x[n - 1]);
    printf("sum %d, largest %d\n", thrust::reduce(x.begin(), x.end()),
           thrust::reduce(thrust::device, x.begin(), x.end(), 0, thrust::maximum<int>()));
    thrust::transform(x.begin(), x.end(), index.begin(), y.begin(), Mix());
    thrust::inclusive_scan(y.begin(), y.end(), y.begin());
    printf("scan %d %d %d\n", (int)y[0], (int)y[100], (int)y[n - 1]);
    auto end = thrust::unique(x.begin(), x.end());
    printf("distinct %d\n", (int)(end - x.begin()));
    thrust::device_vector<int> odd(n);
    auto odd_end = thrust::copy_if(x.begin(), end, odd.begin(), Odd());
    printf("odd %d\n", (int)(odd_end - odd.begin()));
    thrust::copy(odd.begin(), odd.begin() + 5, host.begin());
    printf("%d %d %d\n", host[0], host[1], host[4]);
    return 0;
}
