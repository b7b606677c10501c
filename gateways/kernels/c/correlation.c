// The correlations between the columns of a table
#include "kernel.h"

enum { COLUMNS = 240, ROWS = 260 };
static double data[ROWS][COLUMNS], mean[COLUMNS], deviation[COLUMNS], correlation[COLUMNS][COLUMNS];

static void prepare(void) {}

static void normalise(void) {
  for (int j = 0; j < COLUMNS; j++) {
    mean[j] = 0;
    for (int i = 0; i < ROWS; i++) mean[j] += data[i][j];
    mean[j] /= ROWS;
    deviation[j] = 0;
    for (int i = 0; i < ROWS; i++) deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    deviation[j] = __builtin_sqrt(deviation[j] / ROWS);
    // Of a constant column.
    if (deviation[j] <= 0.1) deviation[j] = 1;
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      data[i][j] = (data[i][j] - mean[j]) / (__builtin_sqrt((double)ROWS) * deviation[j]);
}

static double repeat(int number) {
  fill(ROWS, COLUMNS, data, number);
  normalise();
  for (int i = 0; i < COLUMNS; i++) {
    correlation[i][i] = 1;
    for (int j = i + 1; j < COLUMNS; j++) {
      correlation[i][j] = 0;
      for (int k = 0; k < ROWS; k++) correlation[i][j] += data[k][i] * data[k][j];
      correlation[j][i] = correlation[i][j];
    }
  }
  return sum_all(COLUMNS, COLUMNS, correlation);
}
