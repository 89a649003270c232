// Names and texts of errors of the runtime, and the last error of a thread.
#include "check.h"
#include <thread>

int main()
{
    for (int code : {0,   1,   2,   3,   4,   9,   11,  12,  13,  16,  17,  18,  20,  21,
                     22,  26,  35,  36,  46,  52,  98,  100, 101, 200, 201, 209, 214, 217, 218,
                     219, 220, 300, 301, 400, 401, 500, 600, 700, 701, 702, 704, 705, 708, 709,
                     710, 712, 713, 714, 715, 716, 717, 718, 719, 720, 800, 801, 802, 900, 901,
                     902, 904, 906, 907, 908, 909, 910, 999, 12345})
        printf("%d %s: %s\n", code, cudaGetErrorName((cudaError_t)code),
               cudaGetErrorString((cudaError_t)code));
    printf("at first: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaSetDevice(1234);
    printf("peek: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    printf("a successful call: %s\n", cudaGetErrorName(cudaSetDevice(0)));
    printf("peek: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    std::thread([] { printf("other thread: %s\n", cudaGetErrorName(cudaPeekAtLastError())); }).join();
    printf("get: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("get: %s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
