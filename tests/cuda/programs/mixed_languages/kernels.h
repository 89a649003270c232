// Functions of kernels.cu for C.
#ifdef __cplusplus
extern "C" {
#endif

void multiply(float *x, float factor, int n);

#ifdef __cplusplus
}
#endif
