// A system of Yule-Walker equations, by Durbin's recursion
#include "kernel.h"

enum { N = 400 };
static double r[N], y[N], z[N];

static void prepare(void) {}

static double repeat(int number) {
  for (int i = 0; i < N; i++) r[i] = element(i, 0, number) / (4 * N);
  double alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (int k = 1; k < N; k++) {
    double product = 0;
    beta *= 1 - alpha * alpha;
    for (int i = 0; i < k; i++) product += r[k - i - 1] * y[i];
    alpha = -(r[k] + product) / beta;
    for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++) y[i] = z[i];
    y[k] = alpha;
  }
  return sum(N, y);
}
