// Means of neighbours in a plane, from one array to the other and back
#include "kernel.h"

enum { STEPS = 100, N = 250 };
static double A[N][N], B[N][N];

static void prepare(void) {}

static inline void step(const double from[N][N], double to[N][N]) {
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      to[i][j] = 0.2 * (from[i][j] + from[i][j - 1] + from[i][j + 1] + from[i + 1][j] + from[i - 1][j]);
}

static double repeat(int number) {
  fill(N, N, A, number);
  fill(N, N, B, number + 1);
  for (int t = 0; t < STEPS; t++) {
    step(A, B);
    step(B, A);
  }
  return sum_all(N, N, A);
}
