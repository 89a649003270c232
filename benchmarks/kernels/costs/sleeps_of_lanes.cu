// Warps of which the lanes of the mask `which` ask for another time than the others. y: cycles of a turn.
// run: --size turns=20 --size which=1 --size most=8000 --size least=100 --output y=float32:4224
// run: --size turns=20 --size which=1 --size most=100 --size least=8000 --output y=float32:4224
// run: --size turns=20 --size which=2147483648 --size most=8000 --size least=100 --output y=float32:4224
// run: --size turns=20 --size which=2147483648 --size most=100 --size least=8000 --output y=float32:4224
// run: --size turns=20 --size which=65536 --size most=8000 --size least=100 --output y=float32:4224
// run: --size turns=20 --size which=65536 --size most=100 --size least=8000 --output y=float32:4224
// run: --size turns=20 --size which=65535 --size most=8000 --size least=100 --output y=float32:4224
// run: --size turns=20 --size which=65535 --size most=100 --size least=8000 --output y=float32:4224
// launch: sleeps_of_lanes<<<132, 32>>>(y, turns, which, most, least)

__global__ void sleeps_of_lanes(float* y, int turns, unsigned which, int most, int least)
{
    int own = which >> threadIdx.x & 1 ? most : least;
    long long start = clock64();
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        __nanosleep(own);
    y[blockIdx.x * blockDim.x + threadIdx.x] = float(clock64() - start) / turns;
}
