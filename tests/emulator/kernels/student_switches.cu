// Switches with tables, nested and within loops; goto, do-while, break and continue, early return, ternaries; a state machine.
// in: a uint32[256] = random
// out: y uint32[768]
// launch: tables<<<2, 128>>>(y, a)
// launch: machine<<<2, 128>>>(y, a)
// launch: flows<<<2, 128>>>(y, a)
__global__ void tables(unsigned *y, const unsigned *a) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], r = 0;
    switch (x % 12) {
    case 0: r = x + 3; break;
    case 1: r = x * 5;
    case 2: r ^= x >> 3; break;
    case 3: r = __brev(x); break;
    case 4: r = x / 7; break;
    case 5: r = __popc(x); break;
    case 6: r = x % 1000; break;
    case 7: r = ~x; break;
    case 8: r = x << (x & 7); break;
    case 9: return;
    case 10: r = __clz(x); break;
    default: r = 77;
    }
    y[i] = r;
}
__global__ void machine(unsigned *y, const unsigned *a) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], state = 0, steps = 0;
    while (state != 6 && steps < 100) {
        switch (state) {
        case 0: state = x & 1 ? 1 : 2; break;
        case 1: x = 3 * x + 1; state = x & 4 ? 3 : 4; break;
        case 2: x >>= 1; state = x ? 5 : 6; break;
        case 3: x ^= 0x55; state = 2; break;
        case 4: for (int k = 0; k < (x & 3); ++k) x += k; state = 2; break;
        case 5: state = x > 1000 ? 0 : 2; break;
        }
        ++steps;
    }
    y[256 + i] = x + (steps << 16);
}
__global__ void flows(unsigned *y, const unsigned *a) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = a[i], n = 0;
    do {
        if (x % 3 == 0) { x /= 3; continue; }
        if (x % 5 == 0) { x /= 5; goto next; }
        if (x < 10) break;
        x -= 1;
    next:
        n += x & 1 ? 1 : 2;
        for (int k = 0; k < 20; ++k) {
            if (k * k > (int)(x & 255)) break;
            if (k & 1) continue;
            n += k;
        }
    } while (x > 10 && n < 5000);
    y[512 + i] = n;
}
