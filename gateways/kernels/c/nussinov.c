// The most pairs of bases in a folded sequence
#include "kernel.h"

enum { N = 500 };
static int base[N], table[N][N];

static void prepare(void) {}

static inline int larger(int a, int b) { return a < b ? b : a; }

static double repeat(int number) {
  for (int i = 0; i < N; i++) {
    base[i] = ((i * i + 5 * i + number) >> 2) & 3;
    for (int j = 0; j < N; j++) table[i][j] = 0;
  }
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++) {
      table[i][j] = larger(table[i][j], table[i][j - 1]);
      table[i][j] = larger(table[i][j], table[i + 1][j]);
      int pair = i < j - 1 && base[i] + base[j] == 3;
      table[i][j] = larger(table[i][j], table[i + 1][j - 1] + pair);
      for (int k = i + 1; k < j; k++) table[i][j] = larger(table[i][j], table[i][k] + table[k + 1][j]);
    }
  return table[0][N - 1] + table[N / 4][N / 2] + number;
}
