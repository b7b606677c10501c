// x1 := x1 + A y1, x2 := x2 + transposed(A) y2
#include "kernel.h"

enum { N = 400 };
static double A[N][N], x1[1][N], x2[1][N], y1[1][N], y2[1][N];

static void prepare(void) {
  fill(N, N, A, 1);
  fill(1, N, y1, 2);
  fill(1, N, y2, 3);
}

static double repeat(int number) {
  fill(1, N, x1, number);
  fill(1, N, x2, number + 1);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) x1[0][i] += A[i][j] * y1[0][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) x2[0][i] += A[j][i] * y2[0][j];
  return sum(N, x1[0]) + sum(N, x2[0]);
}
