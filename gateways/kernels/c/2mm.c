// D := alpha A B C + beta D
#include "kernel.h"

enum { I = 180, J = 190, K = 210, L = 220 };
static double A[I][K], B[K][J], C[J][L], D[I][L], product[I][J];

static void prepare(void) {
  fill(I, K, A, 1);
  fill(K, J, B, 2);
  fill(J, L, C, 3);
}

static double repeat(int number) {
  const double alpha = 1.5, beta = 1.2;
  fill(I, L, D, number);
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      product[i][j] = 0;
      for (int k = 0; k < K; k++) product[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < I; i++)
    for (int j = 0; j < L; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < J; k++) D[i][j] += product[i][k] * C[k][j];
    }
  return sum_all(I, L, D);
}
