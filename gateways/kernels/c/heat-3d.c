// Heat in a cube, from one array to the other and back
#include "kernel.h"

enum { STEPS = 100, N = 40 };
static double A[N][N][N], B[N][N][N];

static void prepare(void) {}

static inline void step(const double from[N][N][N], double to[N][N][N]) {
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      for (int k = 1; k < N - 1; k++)
        to[i][j][k] = 0.125 * (from[i + 1][j][k] - 2 * from[i][j][k] + from[i - 1][j][k]) +
                      0.125 * (from[i][j + 1][k] - 2 * from[i][j][k] + from[i][j - 1][k]) +
                      0.125 * (from[i][j][k + 1] - 2 * from[i][j][k] + from[i][j][k - 1]) + from[i][j][k];
}

static double repeat(int number) {
  for (int i = 0; i < N; i++) {
    fill(N, N, A[i], number + i);
    fill(N, N, B[i], number + i);
  }
  for (int t = 0; t < STEPS; t++) {
    step(A, B);
    step(B, A);
  }
  double total = 0;
  for (int i = 0; i < N; i++) total += sum_all(N, N, A[i]);
  return total;
}
