// G := (A B) (C D)
#include "kernel.h"

enum { I = 180, J = 190, K = 200, L = 210, M = 220 };
static double A[I][K], B[K][J], C[J][M], D[M][L], E[I][J], F[J][L], G[I][L];

static void prepare(void) {
  fill(K, J, B, 2);
  fill(J, M, C, 3);
  fill(M, L, D, 4);
}

static inline void multiply(int rows, int inner, int columns, const double left[rows][inner],
                            const double right[inner][columns], double product[rows][columns]) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      product[i][j] = 0;
      for (int k = 0; k < inner; k++) product[i][j] += left[i][k] * right[k][j];
    }
}

static double repeat(int number) {
  fill(I, K, A, number);
  multiply(I, K, J, A, B, E);
  multiply(J, M, L, C, D, F);
  multiply(I, J, L, E, F, G);
  return sum_all(I, L, G);
}
