// All places of a pattern in a text: their number, and for each place whether it is one.
// run: --size n=1048576 --size length=5 --input text=small_integers:n:int8 --input pattern=small_integers:5:int8 --output found=uint8:n --output matches=index:1:int32
// run: --size n=16777216 --size length=5 --input text=small_integers:n:int8 --input pattern=small_integers:5:int8 --output found=uint8:n --output matches=index:1:int32
#define LONGEST 16
// launch: find<<<ceil_div(n, 128), 128>>>(text, n, pattern, length, found, matches)

__global__ void find(const char* text, int n, const char* pattern, int length, bool* found,
                     int* matches) {
  __shared__ char wanted[LONGEST];
  __shared__ char part[128 + LONGEST];
  int start = blockIdx.x * blockDim.x, i = start + threadIdx.x;
  if (threadIdx.x < length) wanted[threadIdx.x] = pattern[threadIdx.x];
  for (int j = threadIdx.x; j < 128 + length - 1; j += blockDim.x)
    part[j] = start + j < n ? text[start + j] : '\0';
  __syncthreads();
  if (i >= n) return;
  bool same = i + length <= n;
  for (int j = 0; same && j < length; ++j) same = part[threadIdx.x + j] == wanted[j];
  found[i] = same;
  if (same) atomicAdd(matches, 1);
}
