// Nothing: shows what a call costs without a kernel.
#include "kernel.h"

static void prepare(void) {}

static double repeat(int number) { return number + 1; }
