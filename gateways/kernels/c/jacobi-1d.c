// Means of neighbours on a line, from one array to the other and back
#include "kernel.h"

enum { STEPS = 100, N = 400 };
static double A[1][N], B[1][N];

static void prepare(void) {}

static double repeat(int number) {
  fill(1, N, A, number);
  fill(1, N, B, number + 1);
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++) B[0][i] = 0.33333 * (A[0][i - 1] + A[0][i] + A[0][i + 1]);
    for (int i = 1; i < N - 1; i++) A[0][i] = 0.33333 * (B[0][i - 1] + B[0][i] + B[0][i + 1]);
  }
  return sum(N, A[0]);
}
