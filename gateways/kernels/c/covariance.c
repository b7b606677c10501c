// The covariances between the columns of a table
#include "kernel.h"

enum { COLUMNS = 240, ROWS = 260 };
static double data[ROWS][COLUMNS], mean[COLUMNS], covariance[COLUMNS][COLUMNS];

static void prepare(void) {}

static double repeat(int number) {
  fill(ROWS, COLUMNS, data, number);
  for (int j = 0; j < COLUMNS; j++) {
    mean[j] = 0;
    for (int i = 0; i < ROWS; i++) mean[j] += data[i][j];
    mean[j] /= ROWS;
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) data[i][j] -= mean[j];
  for (int i = 0; i < COLUMNS; i++)
    for (int j = i; j < COLUMNS; j++) {
      covariance[i][j] = 0;
      for (int k = 0; k < ROWS; k++) covariance[i][j] += data[k][i] * data[k][j];
      covariance[i][j] /= ROWS - 1;
      covariance[j][i] = covariance[i][j];
    }
  return sum_all(COLUMNS, COLUMNS, covariance);
}
