// Nothing, in a module with a megabyte of initial data: shows what an instance costs that has its own.
#include "kernel.h"

enum { N = 1 << 17 };
// Volatile, so that no compiler leaves it out.
static volatile double table[N] = {[0 ... N - 1] = 1.5};

static void prepare(void) {}

static double repeat(int number) { return table[number] += 1; }
