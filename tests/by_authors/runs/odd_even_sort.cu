// Odd-even transposition: n passes, which begin at the even and at the odd places in turn.
// launch: for (int pass = 0; pass < n; ++pass) {
// launch:     if (pass % 2 == 0) exchange<0><<<1, ceil_div(n, 2)>>>(keys, n);
// launch:     else exchange<1><<<1, ceil_div(n, 2)>>>(keys, n);
// launch: }

template <int FIRST>
__global__ void exchange(short* keys, int n) {
  int i = 2 * threadIdx.x + FIRST;
  if (i + 1 < n && keys[i] > keys[i + 1]) {
    short kept = keys[i];
    keys[i] = keys[i + 1];
    keys[i + 1] = kept;
  }
}
template __global__ void exchange<0>(short*, int);
template __global__ void exchange<1>(short*, int);
