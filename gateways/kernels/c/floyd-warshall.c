// The shortest paths between all nodes of a graph
#include "kernel.h"

enum { N = 500 };
static int path[N][N];

static void prepare(void) {}

static double repeat(int number) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) path[i][j] = i == j ? 0 : 1 + ((i * 31 + j * 17 + (i ^ j) + number) & 1023);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        int over = path[i][k] + path[k][j];
        path[i][j] = path[i][j] < over ? path[i][j] : over;
      }
  int total = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) total += path[i][j];
  return total;
}
