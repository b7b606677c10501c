// Maxwell's equations in a plane by finite differences in time
#include "kernel.h"

enum { STEPS = 100, X = 200, Y = 240 };
static double ex[X][Y], ey[X][Y], hz[X][Y];

static void prepare(void) {}

static double repeat(int number) {
  fill(X, Y, ex, number);
  fill(X, Y, ey, number + 1);
  fill(X, Y, hz, number + 2);
  for (int t = 0; t < STEPS; t++) {
    for (int j = 0; j < Y; j++) ey[0][j] = t;
    for (int i = 1; i < X; i++)
      for (int j = 0; j < Y; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < X; i++)
      for (int j = 1; j < Y; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < X - 1; i++)
      for (int j = 0; j < Y - 1; j++) hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
  return sum_all(X, Y, hz);
}
