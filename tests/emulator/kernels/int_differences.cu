// Absolute differences with an addend, averages without overflow.
// in: a uint32[1024] = edges
// in: b uint32[1024] = edges2
// in: c uint32[1024] = random
// out: apart uint32[1024]
// out: apart_signed uint32[1024]
// out: average uint32[1024]
// out: average_up int32[1024]
// launch: int_differences<<<4, 256>>>(apart, apart_signed, average, average_up, a, b, c)
__global__ void int_differences(
    unsigned int* apart,
    unsigned int* apart_signed,
    unsigned int* average,
    int* average_up,
    const unsigned int* a,
    const unsigned int* b,
    const unsigned int* c)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    apart[i] = __usad(a[i], b[i], c[i]);
    apart_signed[i] = __sad((int)a[i], (int)b[i], c[i]);
    average[i] = __uhadd(a[i], b[i]);
    average_up[i] = __rhadd((int)a[i], (int)b[i]);
}
