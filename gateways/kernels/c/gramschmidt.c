// A = Q R with orthonormal columns of Q. More rows than columns, so that the columns can be independent.
#include "kernel.h"

enum { ROWS = 240, COLUMNS = 200 };
static double A[ROWS][COLUMNS], Q[ROWS][COLUMNS], R[COLUMNS][COLUMNS];

static void prepare(void) {}

static double repeat(int number) {
  fill(ROWS, COLUMNS, A, number);
  for (int k = 0; k < COLUMNS; k++) A[k][k] += 10;
  for (int k = 0; k < COLUMNS; k++) {
    double square = 0;
    for (int i = 0; i < ROWS; i++) square += A[i][k] * A[i][k];
    R[k][k] = __builtin_sqrt(square);
    for (int i = 0; i < ROWS; i++) Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < COLUMNS; j++) {
      R[k][j] = 0;
      for (int i = 0; i < ROWS; i++) R[k][j] += Q[i][k] * A[i][j];
      for (int i = 0; i < ROWS; i++) A[i][j] -= Q[i][k] * R[k][j];
    }
  }
  return sum_all(ROWS, COLUMNS, Q) + sum_all(COLUMNS, COLUMNS, R);
}
