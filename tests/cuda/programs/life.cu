// Conway's game of life on a torus; a glider returns after many generations.
#include "check.h"
#include <cstring>
#include <utility>

const int SIDE = 24;

__global__ void generation(const char *from, char *to)
{
    int x = threadIdx.x, y = blockIdx.x, count = 0;
    for (int dy = SIDE - 1; dy <= SIDE + 1; ++dy)
        for (int dx = SIDE - 1; dx <= SIDE + 1; ++dx)
            count += from[(y + dy) % SIDE * SIDE + (x + dx) % SIDE];
    char alive = from[y * SIDE + x];
    count -= alive;
    to[y * SIDE + x] = count == 3 || (alive && count == 2);
}

int main()
{
    char board[SIDE][SIDE] = {};
    board[1][2] = board[2][3] = board[3][1] = board[3][2] = board[3][3] = 1;
    board[12][10] = board[12][11] = board[12][12] = 1;
    char *a, *b;
    CHECK(cudaMalloc(&a, sizeof(board)));
    CHECK(cudaMalloc(&b, sizeof(board)));
    CHECK(cudaMemcpy(a, board, sizeof(board), cudaMemcpyHostToDevice));
    for (int g = 0; g <= 20; ++g) {
        if (g % 10 == 0) {
            CHECK(cudaMemcpy(board, a, sizeof(board), cudaMemcpyDeviceToHost));
            printf("generation %d\n", g);
            for (auto &row : board) {
                if (!memchr(row, 1, SIDE))
                    continue;
                for (char cell : row)
                    putchar(cell ? '#' : '.');
                putchar('\n');
            }
        }
        generation<<<SIDE, SIDE>>>(a, b);
        std::swap(a, b);
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
