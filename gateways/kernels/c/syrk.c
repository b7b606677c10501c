// C := alpha A transposed(A) + beta C, of which the lower half
#include "kernel.h"

enum { M = 200, N = 240 };
static double A[N][M], C[N][N];

static void prepare(void) { fill(N, M, A, 1); }

static double repeat(int number) {
  const double alpha = 1.5, beta = 1.2;
  fill(N, N, C, number);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++) C[i][j] += alpha * A[i][k] * A[j][k];
  }
  return sum_all(N, N, C);
}
