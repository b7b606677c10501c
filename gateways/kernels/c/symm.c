// C := alpha A B + beta C, with the lower half of a symmetric A
#include "kernel.h"

enum { M = 200, N = 240 };
static double A[M][M], B[M][N], C[M][N];

static void prepare(void) {
  fill(M, M, A, 1);
  fill(M, N, B, 2);
}

static double repeat(int number) {
  const double alpha = 1.5, beta = 1.2;
  fill(M, N, C, number);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double product = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        product += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * product;
    }
  return sum_all(M, N, C);
}
