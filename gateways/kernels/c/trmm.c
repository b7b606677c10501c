// B := alpha transposed(A) B, with a lower triangle A whose diagonal is 1
#include "kernel.h"

enum { M = 200, N = 240 };
static double A[M][M], B[M][N];

static void prepare(void) { fill(M, M, A, 1); }

static double repeat(int number) {
  const double alpha = 1.5;
  fill(M, N, B, number);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++) B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= alpha;
    }
  return sum_all(M, N, B);
}
