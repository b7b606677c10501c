// Heat in a plane by alternating directions, implicitly
#include "kernel.h"

enum { STEPS = 100, N = 200 };
static double u[N][N], v[N][N], p[N][N], q[N][N];

static void prepare(void) {}

// Sweeps over the lines of `to`, which are rows or columns of the plane; coefficients of this direction: a, b and a;
// of the other: d.
static inline void sweep(int columns, double a, double b, double d, double from[N][N], double to[N][N]) {
#define AT(array, line, place) *(columns ? &array[place][line] : &array[line][place])
  for (int i = 1; i < N - 1; i++) {
    AT(to, i, 0) = 1;
    p[i][0] = 0;
    q[i][0] = 1;
    for (int j = 1; j < N - 1; j++) {
      p[i][j] = -a / (a * p[i][j - 1] + b);
      q[i][j] = (-d * AT(from, i - 1, j) + (1 + 2 * d) * AT(from, i, j) - d * AT(from, i + 1, j) - a * q[i][j - 1]) /
                (a * p[i][j - 1] + b);
    }
    AT(to, i, N - 1) = 1;
    for (int j = N - 2; j >= 1; j--) AT(to, i, j) = p[i][j] * AT(to, i, j + 1) + q[i][j];
  }
}

static double repeat(int number) {
  const double first = 2.0 * N * N / STEPS, second = 1.0 * N * N / STEPS;
  fill(N, N, u, number);
  for (int t = 0; t < STEPS; t++) {
    sweep(1, -first / 2, 1 + first, -second / 2, u, v);
    sweep(0, -second / 2, 1 + second, -first / 2, v, u);
  }
  return sum_all(N, N, u);
}
