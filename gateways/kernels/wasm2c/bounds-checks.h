// The bounds checks of code from wasm2c, compiled in with -DGUARD, -DEXPLICIT, -DCLAMP or -DNONE. Included in that code
// behind its own macros, some of which are replaced here; the others are the same for all four.
#undef MEMCHECK
#undef MEM_ADDR_MEMOP

#if defined(EXPLICIT)
#define MEMCHECK(mem, address, type) \
  if (UNLIKELY((address) + sizeof(type) > (mem)->size)) TRAP(OOB);
#else
#define MEMCHECK(mem, address, type)
#endif

#if defined(CLAMP)
// Unsafe for the guest: what is outside is read from, and written to, the end of the memory.
#define MEM_ADDR_MEMOP(mem, address, bytes) \
  &(mem)->data[(address) < (mem)->size - (bytes) ? (address) : (mem)->size - (bytes)]
#else
#define MEM_ADDR_MEMOP(mem, address, bytes) &(mem)->data[address]
#endif

// A load of an unused number must still trap. The original moves each loaded number through an integer register, which
// doubles the time of some kernels.
#if defined(__x86_64__)
#undef FORCE_READ_FLOAT
#define FORCE_READ_FLOAT(number) __asm__("" ::"x"(number));
#elif defined(__aarch64__)
#undef FORCE_READ_FLOAT
#define FORCE_READ_FLOAT(number) __asm__("" ::"w"(number));
#endif
