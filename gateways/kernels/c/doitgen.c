// A[r][q] := A[r][q] C: a step of a multiresolution analysis
#include "kernel.h"

enum { Q = 50, R = 40, P = 60 };
static double A[R][Q][P], C[P][P], product[P];

static void prepare(void) { fill(P, P, C, 1); }

static double repeat(int number) {
  double total = 0;
  for (int r = 0; r < R; r++) fill(Q, P, A[r], number + r);
  for (int r = 0; r < R; r++)
    for (int q = 0; q < Q; q++) {
      for (int p = 0; p < P; p++) {
        product[p] = 0;
        for (int s = 0; s < P; s++) product[p] += A[r][q][s] * C[s][p];
      }
      for (int p = 0; p < P; p++) A[r][q][p] = product[p];
    }
  for (int r = 0; r < R; r++) total += sum_all(Q, P, A[r]);
  return total;
}
