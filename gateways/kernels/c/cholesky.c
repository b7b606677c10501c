// A = L transposed(L), with L in the place of A's lower half
#include "kernel.h"

enum { N = 400 };
static double A[N][N];

static void prepare(void) {}

static double repeat(int number) {
  fill_dominant(N, A, number);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = __builtin_sqrt(A[i][i]);
  }
  return sum_all(N, N, A);
}
