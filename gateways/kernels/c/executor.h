// What an executor offers to its main(): the kernels, and how one is called.
#pragma once

struct outcome {
  double checksum;
  // Spent making and dropping the instance, outside of the kernel.
  long long nanoseconds;
  // What the process used that was the instance, if one was: its switches to wait and for others, and its CPU time.
  long voluntary_switches, involuntary_switches;
  long long cpu_nanoseconds;
};

struct kernel {
  const char *name;
  // Returns NULL, or why the call has no outcome. Threads may call it at the same time.
  const char *(*call)(int repeats, struct outcome *outcome);
};

// The kernels with the given bounds checks, which are NULL if the command line names none. The last one has no name.
// Ends the program if it does not have them.
const struct kernel *kernels_with(const char *bounds_checks);

// Facts of the engine for /engine: members of a JSON object.
extern const char *const facts;

// Ends the program with a message on standard error.
_Noreturn void die(const char *message, const char *about);
long long now(void);
