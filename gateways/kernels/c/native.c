// Kernels as native functions: no instance, no bounds checks.
#include "executor.h"

#include <stddef.h>

#define STRING_(text) #text
#define STRING(text) STRING_(text)

const int threads_allowed = 1;
const char *const facts =
    "\"engine\":\"native\",\"version\":\"" STRING(COMPILER_VERSION) "\",\"compiler\":\"" STRING(COMPILER) "\"";

#define KERNEL(name, function)                                              \
  double run_##function(int repeats);                                       \
  static const char *call_##function(int repeats, struct outcome *outcome) { \
    *outcome = (struct outcome){run_##function(repeats), 0};                \
    return NULL;                                                            \
  }
#include "table.h"
#undef KERNEL

#define KERNEL(name, function) {name, call_##function},
static const struct kernel kernels[] = {
#include "table.h"
    {NULL, NULL}};

const struct kernel *kernels_with(const char *bounds_checks) {
  if (bounds_checks) die("native kernels have no bounds checks: ", bounds_checks);
  return kernels;
}
