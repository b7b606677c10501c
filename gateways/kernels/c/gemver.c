// A := A + u1 transposed(v1) + u2 transposed(v2), x := x + beta transposed(A) y + z, w := alpha A x
#include "kernel.h"

enum { N = 400 };
static double A[N][N], u1[1][N], v1[1][N], u2[1][N], v2[1][N], w[N], x[1][N], y[1][N], z[1][N];

static void prepare(void) {
  // Later repeats continue with the A of the one before.
  fill(N, N, A, 1);
  fill(1, N, v1, 3);
  fill(1, N, u2, 4);
  fill(1, N, v2, 5);
  fill(1, N, y, 6);
  fill(1, N, z, 7);
}

static double repeat(int number) {
  const double alpha = 1.5, beta = 1.2;
  fill(1, N, x, number);
  fill(1, N, u1, number + 1);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] += u1[0][i] * v1[0][j] + u2[0][i] * v2[0][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) x[0][i] += beta * A[j][i] * y[0][j];
  for (int i = 0; i < N; i++) x[0][i] += z[0][i];
  for (int i = 0; i < N; i++) {
    w[i] = 0;
    for (int j = 0; j < N; j++) w[i] += alpha * A[i][j] * x[0][j];
  }
  return sum(N, w);
}
