// The executor of modules translated by wasm2c: their memories and traps. Guard reserves all that an address and its
// offset can reach, makes the memory's pages accessible, and ends a call by the signal of another page. Explicit and
// Clamp map the memory's pages alone. None maps all that can be reached, accessible.
#include "runtime.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define STRING_(text) #text
#define STRING(text) STRING_(text)

// What is reachable: the sum of the largest address, the largest offset and the widest access, in pages.
static const size_t PAGE = 65536, REACHABLE = (8UL << 30) + 65536;
enum { GUARD, EXPLICIT, CLAMP, NONE, STRATEGIES };
static const char *const names[STRATEGIES] = {"Guard", "Explicit", "Clamp", "None"};
static int strategy;
_Thread_local sigjmp_buf trapped;

const char *const facts = "\"engine\":\"wasm2c\",\"version\":\"" STRING(WASM2C_VERSION) "\",\"compiler\":\"" STRING(
    COMPILER) " " STRING(COMPILER_VERSION) "\",\"compileMode\":\"Aot\"";

#define CALL(strategy, function) call_##strategy##function
#define KERNEL(name, function)                                          \
  const char *CALL(Guard, function)(int repeats, struct outcome *);     \
  const char *CALL(Explicit, function)(int repeats, struct outcome *);  \
  const char *CALL(Clamp, function)(int repeats, struct outcome *);     \
  const char *CALL(None, function)(int repeats, struct outcome *);
#include "table.h"
#undef KERNEL

#define KERNEL(name, function)    \
  {{name, CALL(Guard, function)}, \
   {name, CALL(Explicit, function)}, \
   {name, CALL(Clamp, function)}, \
   {name, CALL(None, function)}},
static const struct kernel kernels[][STRATEGIES] = {
#include "table.h"
};
#undef KERNEL
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

// On a guard page: nothing else in this process touches inaccessible memory.
static void handle(int signal) {
  (void)signal;
  siglongjmp(trapped, 1);
}

const struct kernel *kernels_with(const char *bounds_checks) {
  static struct kernel chosen[KERNELS + 1];
  while (strategy < STRATEGIES && bounds_checks && strcmp(names[strategy], bounds_checks)) strategy++;
  if (strategy == STRATEGIES) die("--bounds-checks takes Guard, Explicit, Clamp or None, and not ", bounds_checks);
  for (int i = 0; i < KERNELS; i++) chosen[i] = kernels[i][strategy];
  // A signal may come again while the last one is handled: its handler never returns.
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_NODEFER};
  if (strategy == GUARD && sigaction(SIGSEGV, &action, NULL)) die("could not handle signals", "");
  return chosen;
}

void wasm_rt_trap(wasm_rt_trap_t cause) {
  (void)cause;
  siglongjmp(trapped, 1);
}

bool wasm_rt_is_initialized(void) { return true; }

void wasm_rt_allocate_memory(wasm_rt_memory_t *memory, uint64_t initial_pages, uint64_t max_pages, bool is64) {
  size_t size = initial_pages * PAGE;
  size_t mapped = strategy == GUARD || strategy == NONE ? REACHABLE : size;
  int access = strategy == GUARD ? PROT_NONE : PROT_READ | PROT_WRITE;
  void *data = mmap(NULL, mapped, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED || (strategy == GUARD && mprotect(data, size, PROT_READ | PROT_WRITE)))
    die("could not map a memory", "");
  *memory = (wasm_rt_memory_t){.data = data, .size = size, .pages = initial_pages};
  memory->max_pages = max_pages;
  memory->is64 = is64;
}

void wasm_rt_free_memory(wasm_rt_memory_t *memory) {
  munmap(memory->data, strategy == GUARD || strategy == NONE ? REACHABLE : memory->size);
}

void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t elements, uint32_t max_elements) {
  *table = (wasm_rt_funcref_table_t){.data = calloc(elements, sizeof(wasm_rt_funcref_t)), .size = elements};
  table->max_size = max_elements;
}

void wasm_rt_free_funcref_table(wasm_rt_funcref_table_t *table) { free(table->data); }
