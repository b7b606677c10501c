// A x = b by A = L U, L y = b, U x = y
#include "kernel.h"

enum { N = 400 };
static double A[N][N], b[1][N], x[N], y[N];

static void prepare(void) {}

static void factorise(void) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      double w = A[i][j];
      for (int k = 0; k < j; k++) w -= A[i][k] * A[k][j];
      A[i][j] = w / A[j][j];
    }
    for (int j = i; j < N; j++) {
      double w = A[i][j];
      for (int k = 0; k < i; k++) w -= A[i][k] * A[k][j];
      A[i][j] = w;
    }
  }
}

static double repeat(int number) {
  fill_dominant(N, A, number);
  fill(1, N, b, number);
  factorise();
  for (int i = 0; i < N; i++) {
    double w = b[0][i];
    for (int j = 0; j < i; j++) w -= A[i][j] * y[j];
    y[i] = w;
  }
  for (int i = N - 1; i >= 0; i--) {
    double w = y[i];
    for (int j = i + 1; j < N; j++) w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
  return sum(N, x);
}
