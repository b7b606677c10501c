// A call of one module: makes an instance, runs it and drops it. Compiled once for each MODULE, by the name that wasm2c
// was given.
#include "runtime.h"

#define PASTE_(a, b, c) a##b##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define STRING_(text) #text
#define STRING(text) STRING_(text)
#include STRING(MODULE.h)

const char *PASTE(call_, MODULE, )(int repeats, struct outcome *outcome) {
  PASTE(w2c_, MODULE, ) instance;
  long long began = now();
  if (sigsetjmp(trapped, 0)) {
    PASTE(wasm2c_, MODULE, _free)(&instance);
    return "trap: out of bounds memory access";
  }
  PASTE(wasm2c_, MODULE, _instantiate)(&instance);
  long long made = now();
  outcome->checksum = PASTE(w2c_, MODULE, _run)(&instance, (uint32_t)repeats);
  long long ran = now();
  PASTE(wasm2c_, MODULE, _free)(&instance);
  outcome->nanoseconds = made - began + now() - ran;
  return NULL;
}
