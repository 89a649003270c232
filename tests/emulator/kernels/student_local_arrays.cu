// Arrays of a thread with dynamic indices: sorting, a stack, a matrix, double and bytes, pointers to them handed on.
// in: a int32[512] = random
// in: d float64[256] = normal
// out: y int32[512]
// out: z float64[256]
// out: w int32[256]
// launch: sort<<<1, 64>>>(y, a)
// launch: solve<<<1, 16>>>(z, d)
// launch: stack<<<2, 128>>>(w, a)
__device__ void insertion_sort(int *v, int n) {
    for (int i = 1; i < n; ++i) {
        int x = v[i], j = i - 1;
        while (j >= 0 && v[j] > x) v[j + 1] = v[j], --j;
        v[j + 1] = x;
    }
}
__global__ void sort(int *y, const int *a) {
    int v[8];
    for (int i = 0; i < 8; ++i) v[i] = a[threadIdx.x * 8 + i];
    insertion_sort(v, 8);
    for (int i = 0; i < 8; ++i) y[threadIdx.x * 8 + i] = v[i];
}
__global__ void solve(double *z, const double *d) {
    double m[4][5];
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 5; ++c) m[r][c] = d[(threadIdx.x * 13 + r * 5 + c) & 255];
    for (int c = 0; c < 4; ++c) {
        int p = c;
        for (int r = c + 1; r < 4; ++r)
            if (fabs(m[r][c]) > fabs(m[p][c])) p = r;
        for (int k = 0; k < 5; ++k) {
            double kept = m[c][k];
            m[c][k] = m[p][k];
            m[p][k] = kept;
        }
        for (int r = 0; r < 4; ++r)
            if (r != c) {
                double q = m[r][c] / m[c][c];
                for (int k = c; k < 5; ++k) m[r][k] -= q * m[c][k];
            }
    }
    for (int r = 0; r < 16; ++r) z[threadIdx.x * 16 + r] = r < 4 ? m[r][4] / m[r][r] : sqrt(fabs(m[r & 3][4]));
}
__global__ void stack(int *w, const int *a) {
    unsigned char s[64];
    short t[16];
    int top = 0, i = blockIdx.x * blockDim.x + threadIdx.x, r = 0;
    for (int k = 0; k < 16; ++k) t[k] = (short)(a[i] >> k);
    for (int k = 0; k < 32; ++k) {
        if (a[i] >> k & 1) s[top++] = k;
        else if (top) r = r * 3 + s[--top] + t[(k + i) & 15];
    }
    w[i] = r;
}
