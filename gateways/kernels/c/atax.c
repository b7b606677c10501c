// y := transposed(A) (A x)
#include "kernel.h"

enum { ROWS = 390, COLUMNS = 410 };
static double A[ROWS][COLUMNS], x[1][COLUMNS], y[COLUMNS];

static void prepare(void) { fill(ROWS, COLUMNS, A, 1); }

static double repeat(int number) {
  fill(1, COLUMNS, x, number);
  for (int j = 0; j < COLUMNS; j++) y[j] = 0;
  for (int i = 0; i < ROWS; i++) {
    double product = 0;
    for (int j = 0; j < COLUMNS; j++) product += A[i][j] * x[0][j];
    for (int j = 0; j < COLUMNS; j++) y[j] += A[i][j] * product;
  }
  return sum(COLUMNS, y);
}
