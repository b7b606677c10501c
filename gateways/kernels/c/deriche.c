// A recursive filter that finds edges in an image, along its lines and then its columns
#include "kernel.h"

enum { WIDTH = 720, HEIGHT = 480 };
// Powers of e and 2 with the filter's parameter, a quarter: there is no library for them.
#define PARAMETER 0.25
#define EXP_MINUS 0.77880078307140487
#define EXP_MINUS_TWICE 0.60653065971263342
#define EXP_TWICE 1.6487212707001282
#define B1 0.84089641525371454
#define B2 -EXP_MINUS_TWICE
#define A1 ((1 - EXP_MINUS) * (1 - EXP_MINUS) / (1 + 2 * PARAMETER * EXP_MINUS - EXP_TWICE))
#define A2 (A1 * EXP_MINUS * (PARAMETER - 1))
#define A3 (A1 * EXP_MINUS * (PARAMETER + 1))
#define A4 (-A1 * EXP_MINUS_TWICE)
static double image[WIDTH][HEIGHT], output[WIDTH][HEIGHT], forward[WIDTH][HEIGHT], backward[WIDTH][HEIGHT];

static void prepare(void) { fill(WIDTH, HEIGHT, image, 1); }

static inline void along_lines(double first_weight) {
  for (int i = 0; i < WIDTH; i++) {
    double x1 = 0, y1 = 0, y2 = 0;
    for (int j = 0; j < HEIGHT; j++) {
      forward[i][j] = first_weight * image[i][j] + A2 * x1 + B1 * y1 + B2 * y2;
      x1 = image[i][j];
      y2 = y1;
      y1 = forward[i][j];
    }
  }
  for (int i = 0; i < WIDTH; i++) {
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int j = HEIGHT - 1; j >= 0; j--) {
      backward[i][j] = A3 * x1 + A4 * x2 + B1 * y1 + B2 * y2;
      x2 = x1;
      x1 = image[i][j];
      y2 = y1;
      y1 = backward[i][j];
    }
  }
}

static inline void along_columns(void) {
  for (int j = 0; j < HEIGHT; j++) {
    double x1 = 0, y1 = 0, y2 = 0;
    for (int i = 0; i < WIDTH; i++) {
      forward[i][j] = A1 * output[i][j] + A2 * x1 + B1 * y1 + B2 * y2;
      x1 = output[i][j];
      y2 = y1;
      y1 = forward[i][j];
    }
  }
  for (int j = 0; j < HEIGHT; j++) {
    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int i = WIDTH - 1; i >= 0; i--) {
      backward[i][j] = A3 * x1 + A4 * x2 + B1 * y1 + B2 * y2;
      x2 = x1;
      x1 = output[i][j];
      y2 = y1;
      y1 = backward[i][j];
    }
  }
}

static inline void add(void) {
  for (int i = 0; i < WIDTH; i++)
    for (int j = 0; j < HEIGHT; j++) output[i][j] = forward[i][j] + backward[i][j];
}

static double repeat(int number) {
  along_lines(A1 + number);
  add();
  along_columns();
  add();
  return sum_all(WIDTH, HEIGHT, output);
}
