// L x = b, with a lower triangle L
#include "kernel.h"

enum { N = 400 };
static double L[N][N], b[1][N], x[N];

static void prepare(void) { fill_dominant(N, L, 1); }

static double repeat(int number) {
  fill(1, N, b, number);
  for (int i = 0; i < N; i++) {
    x[i] = b[0][i];
    for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
    x[i] /= L[i][i];
  }
  return sum(N, x);
}
