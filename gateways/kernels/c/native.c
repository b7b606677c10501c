// Kernels as native functions, without bounds checks. An instance is a process, as an instance of a module is a memory:
// each call begins with arrays that nobody has touched.
#include "executor.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRING_(text) #text
#define STRING(text) STRING_(text)

const char *const facts =
    "\"engine\":\"none\",\"version\":\"" STRING(COMPILER_VERSION) "\",\"compiler\":\"" STRING(COMPILER) "\"";

// What a child returns, in memory that it shares.
struct result {
  double checksum;
  long long nanoseconds;
};

static long long nanoseconds(struct timeval time) { return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL; }

static const char *call(double (*run)(int repeats), int repeats, struct outcome *outcome) {
  static _Thread_local struct result *result;
  if (!result) result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (result == MAP_FAILED) die("could not map memory", "");
  long long began = now();
  pid_t child = fork();
  if (child == 0) {
    long long made = now();
    result->checksum = run(repeats);
    result->nanoseconds = now() - made;
    _exit(0);
  }
  int status;
  struct rusage used;
  if (child < 0) return "could not start a process";
  if (wait4(child, &status, 0, &used) < 0 || status) return "the process failed";
  *outcome = (struct outcome){.checksum = result->checksum,
                              .nanoseconds = now() - began - result->nanoseconds,
                              .voluntary_switches = used.ru_nvcsw,
                              .involuntary_switches = used.ru_nivcsw,
                              .cpu_nanoseconds = nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime)};
  return NULL;
}

#define KERNEL(name, function)                                               \
  double run_##function(int repeats);                                        \
  static const char *call_##function(int repeats, struct outcome *outcome) { \
    return call(run_##function, repeats, outcome);                           \
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
