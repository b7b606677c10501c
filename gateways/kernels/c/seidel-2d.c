// Means of neighbours in a plane, in place
#include "kernel.h"

enum { STEPS = 100, N = 400 };
static double A[N][N];

static void prepare(void) {}

static double repeat(int number) {
  fill(N, N, A, number);
  for (int t = 0; t < STEPS; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                   A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9;
  return sum_all(N, N, A);
}
