// y := alpha A x + beta B x
#include "kernel.h"

enum { N = 250 };
static double A[N][N], B[N][N], x[1][N], y[N];

static void prepare(void) {
  fill(N, N, A, 1);
  fill(N, N, B, 2);
}

static double repeat(int number) {
  const double alpha = 1.5, beta = 1.2;
  fill(1, N, x, number);
  for (int i = 0; i < N; i++) {
    double product = 0;
    y[i] = 0;
    for (int j = 0; j < N; j++) {
      product += A[i][j] * x[0][j];
      y[i] += B[i][j] * x[0][j];
    }
    y[i] = alpha * product + beta * y[i];
  }
  return sum(N, y);
}
