// A loop whose body may be so long that an SM has to fetch its instructions again each time: 15,616 of
// them, without the first 2,048 for each step of `skip` up to 6, then 1,024 and 2,048.
// run: --size turns=40 --size skip=0 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=1 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=2 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=3 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=4 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=5 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=6 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=7 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=8 --size threads=32 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=0 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=1 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=2 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=3 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=4 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=5 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=6 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=7 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=8 --size threads=128 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=0 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=1 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=2 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=3 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=4 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=5 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=6 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=7 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=8 --size threads=512 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=0 --size threads=1024 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=2 --size threads=1024 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=4 --size threads=1024 --input x=normal:8 --output y=float32:132*threads
// run: --size turns=40 --size skip=6 --size threads=1024 --input x=normal:8 --output y=float32:132*threads
// launch: straight_lines<<<132, threads>>>(y, x, turns, skip)

#define FOUR a = a * p + q; b = b * p + q; c = c * p + q; d = d * p + q;
#define TIMES_4(X) X X X X
#define TIMES_64(X) TIMES_4(TIMES_4(TIMES_4(X)))

__global__ void straight_lines(float* y, const float* x, int turns, int skip)
{
    float p = x[0], q = x[1], a = x[2], b = x[3], c = x[4], d = x[5];
#pragma unroll 1
    for (int k = 0; k < turns; k++)
        switch (skip) {
        case 0: TIMES_4(TIMES_64(FOUR FOUR))
        case 1: TIMES_4(TIMES_64(FOUR FOUR))
        case 2: TIMES_4(TIMES_64(FOUR FOUR))
        case 3: TIMES_4(TIMES_64(FOUR FOUR))
        case 4: TIMES_4(TIMES_64(FOUR FOUR))
        case 5: TIMES_4(TIMES_64(FOUR FOUR))
        case 6: TIMES_4(TIMES_64(FOUR))
        case 7: TIMES_4(TIMES_64(FOUR FOUR))
        default: TIMES_64(FOUR)
        }
    y[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}
