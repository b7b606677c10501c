// C := alpha A B + beta C
#include "kernel.h"

enum { I = 200, J = 220, K = 240 };
static double A[I][K], B[K][J], C[I][J];

static void prepare(void) {
  fill(I, K, A, 1);
  fill(K, J, B, 2);
}

static double repeat(int number) {
  const double alpha = 1.5, beta = 1.2;
  fill(I, J, C, number);
  for (int i = 0; i < I; i++) {
    for (int j = 0; j < J; j++) C[i][j] *= beta;
    for (int k = 0; k < K; k++)
      for (int j = 0; j < J; j++) C[i][j] += alpha * A[i][k] * B[k][j];
  }
  return sum_all(I, J, C);
}
