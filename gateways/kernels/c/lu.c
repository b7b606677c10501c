// A = L U, with both in the place of A
#include "kernel.h"

enum { N = 400 };
static double A[N][N];

static void prepare(void) {}

static double repeat(int number) {
  fill_dominant(N, A, number);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++) A[i][j] -= A[i][k] * A[k][j];
  }
  return sum_all(N, N, A);
}
