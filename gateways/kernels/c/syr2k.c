// C := alpha A transposed(B) + alpha B transposed(A) + beta C, of which the lower half
#include "kernel.h"

enum { M = 200, N = 240 };
static double A[N][M], B[N][M], C[N][N];

static void prepare(void) {
  fill(N, M, A, 1);
  fill(N, M, B, 2);
}

static double repeat(int number) {
  const double alpha = 1.5, beta = 1.2;
  fill(N, N, C, number);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) C[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++) C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
  return sum_all(N, N, C);
}
