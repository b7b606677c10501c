// s := transposed(A) r, q := A p: the kernel of the biconjugate gradient method
#include "kernel.h"

enum { ROWS = 410, COLUMNS = 390 };
static double A[ROWS][COLUMNS], p[1][COLUMNS], q[ROWS], r[1][ROWS], s[COLUMNS];

static void prepare(void) { fill(ROWS, COLUMNS, A, 1); }

static double repeat(int number) {
  fill(1, COLUMNS, p, number);
  fill(1, ROWS, r, number + 1);
  for (int j = 0; j < COLUMNS; j++) s[j] = 0;
  for (int i = 0; i < ROWS; i++) {
    q[i] = 0;
    for (int j = 0; j < COLUMNS; j++) {
      s[j] += r[0][i] * A[i][j];
      q[i] += A[i][j] * p[0][j];
    }
  }
  return sum(COLUMNS, s) + sum(ROWS, q);
}
