// Each thread solves 6 equations by elimination with pivots: its matrix has rows that data choose.
// run: --size n=32768 --input a=normal:42*n --output y=float32:6*n
// run: --size n=262144 --input a=normal:42*n --output y=float32:6*n
// launch: elimination<<<n / 128, 128>>>(y, a, n)

__global__ void elimination(float* y, const float* a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[6][7], solution[6];
    int row[6];
    for (int r = 0; r < 6; r++) {
        row[r] = r;
        for (int c = 0; c < 7; c++) m[r][c] = a[(7 * r + c) * n + i];
    }
    for (int c = 0; c < 6; c++) {
        int pivot = c;
        for (int r = c + 1; r < 6; r++)
            if (fabsf(m[row[r]][c]) > fabsf(m[row[pivot]][c])) pivot = r;
        int kept = row[pivot];
        row[pivot] = row[c];
        row[c] = kept;
        for (int r = c + 1; r < 6; r++) {
            float factor = m[row[r]][c] / m[kept][c];
            for (int k = c; k < 7; k++) m[row[r]][k] -= factor * m[kept][k];
        }
    }
    for (int c = 5; c >= 0; c--) {
        float rest = m[row[c]][6];
        for (int k = c + 1; k < 6; k++) rest -= m[row[c]][k] * solution[k];
        solution[c] = rest / m[row[c]][c];
    }
    for (int c = 0; c < 6; c++) y[c * n + i] = solution[c];
}
