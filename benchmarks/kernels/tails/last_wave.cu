// Grids of 1.25 to 2.5 waves whose resident blocks end together (how 0: shared memory, 1: barriers), nearly together
// (2: loads from the L2, 3: from DRAM), or one after another (4: arithmetic).
// run: --size blocks=495 --size how=0 --size bytes=73728 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=750 --size how=0 --size bytes=73728 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=660 --size how=1 --size bytes=110592 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=330 --size how=1 --size bytes=110592 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=660 --size how=2 --size bytes=55296 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=1003 --size how=2 --size bytes=55296 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=660 --size how=3 --size bytes=55296 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=1003 --size how=3 --size bytes=55296 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=495 --size how=4 --size bytes=73728 --input x=normal:67108864 --output y=float32:256*blocks
// run: --size blocks=750 --size how=4 --size bytes=73728 --input x=normal:67108864 --output y=float32:256*blocks
// launch: last_wave<<<blocks, 256, bytes>>>(y, x, how)

__global__ void last_wave(float* y, const float* x, int how)
{
    extern __shared__ float tile[];
    int t = threadIdx.x, first = blockIdx.x * 16384 + t;
    float sum = t, other = blockIdx.x;
    tile[t] = sum;
    __syncthreads();
    switch (how) {
        case 0:
            for (int k = 0; k < 1500; k++) {
                tile[(t * 4 + k) & 1023] = sum;
                sum += tile[(t * 4 + k * 7) & 1023];
            }
            break;
        case 1:
            for (int k = 0; k < 400; k++) {
                tile[(t + k) & 1023] = sum;
                __syncthreads();
                sum += tile[(t * 5 + k) & 1023];
                for (int j = 0; j < 8; j++) sum = sum * 1.01f + other;
                __syncthreads();
            }
            break;
        case 2:
            for (int k = 0; k < 300; k++) sum += x[(first + k * 8191) & 0xFFFFF] + x[(first + k * 4099) & 0xFFFFF];
            break;
        case 3:
            for (int k = 0; k < 64; k++) sum += x[first + k * 256];
            break;
        case 4:
            for (int k = 0; k < 6400; k++) {
                sum = sum * 1.01f + 0.1f;
                other = other * 1.01f + 0.1f;
            }
            break;
    }
    y[blockIdx.x * 256 + t] = sum + other;
}
