// What all kernels share. A kernel defines prepare(), which fills the arrays that no repeat changes, and repeat(),
// which fills the others, computes once and returns the sum of its result. Each repeat has other input, so that no
// compiler can compute it once for all.
#pragma once

// The exported function: of a module `run`; natively, the compiler's command line gives each kernel its own name.
#ifdef __wasm__
#define KERNEL __attribute__((export_name("run"))) run
#endif

static void prepare(void);
static double repeat(int number);

// Returns the sum of the checksums of all repeats.
double KERNEL(int repeats) {
  double checksum = 0;
  prepare();
  for (int number = 0; number < repeats; number++) checksum += repeat(number);
  return checksum;
}

// An element of an input array, between 0 and 1.31: not a sum of few powers of two, so that results are rounded.
static inline double element(unsigned row, unsigned column, unsigned seed) {
  return (double)(int)((7 * row + 13 * column + seed) & 127) * (1.0 / 97);
}

static inline void fill(int rows, int columns, double array[rows][columns], int seed) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) array[i][j] = element(i, j, seed);
}

// A matrix that can be factorised and inverted: symmetric, and its diagonal is larger than the sum of its row.
static inline void fill_dominant(int size, double array[size][size], int seed) {
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) array[i][j] = element(i + j, 0, seed) + (i == j ? 2 * size : 0);
}

static inline double sum(int count, const double array[count]) {
  double total = 0;
  for (int i = 0; i < count; i++) total += array[i];
  return total;
}

static inline double sum_all(int rows, int columns, const double array[rows][columns]) {
  double total = 0;
  for (int i = 0; i < rows; i++) total += sum(columns, array[i]);
  return total;
}
