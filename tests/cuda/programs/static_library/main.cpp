// A program of the host compiler that calls a library with device code.
#include "filter.h"
#include <cstdio>
#include <vector>

int main()
{
    std::vector<float> x(200), y(200);
    for (int i = 0; i < 200; ++i)
        x[i] = i % 10 == 0 ? 10 : 0;
    smooth(x.data(), y.data(), 200, 7);
    for (int i = 95; i < 106; ++i)
        printf("%.4f ", y[i]);
    printf("\n");
    return 0;
}
