// An executor: reads calls from standard input and answers on standard output.
//
//   executor [--threads N] [--bounds-checks X] FOLDER
//
// A call is `ID NAME REPEATS`, its answer `ID CHECKSUM NANOSECONDS` with the checksum's 64 bits in hexadecimal, or
// `ID ! MESSAGE`. Where an instance is a process, its switches and CPU time follow. The first line of the output is
// `ready` with facts. The kernels are compiled in: the folder, in which other executors find modules, is not read.
#include "executor.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 4 };
static const struct kernel *kernels;

void die(const char *message, const char *about) {
  fprintf(stderr, "executor: %s%s\n", message, about);
  exit(2);
}

long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void answer(const char *line) {
  char id[24], name[40];
  int repeats;
  struct outcome outcome = {0};
  if (sscanf(line, "%23s %39s %d", id, name, &repeats) != 3) die("not a call: ", line);
  const struct kernel *kernel = kernels;
  while (kernel->name && strcmp(kernel->name, name)) kernel++;
  if (!kernel->name) {
    printf("%s ! there is no kernel '%s'\n", id, name);
    return;
  }
  const char *error = kernel->call(repeats, &outcome);
  if (error) {
    printf("%s ! %s\n", id, error);
    return;
  }
  uint64_t bits;
  memcpy(&bits, &outcome.checksum, sizeof bits);
  char process[80] = "";
  if (outcome.cpu_nanoseconds)
    snprintf(process, sizeof process, " %ld %ld %lld", outcome.voluntary_switches, outcome.involuntary_switches,
             outcome.cpu_nanoseconds);
  // In one piece: other threads print, too.
  printf("%s %016" PRIx64 " %lld%s\n", id, bits, outcome.nanoseconds, process);
}

// Each thread takes the next line as soon as it is free.
static void *serve(void *unused) {
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, stdin) > 0) answer(line);
  free(line);
  return unused;
}

int main(int count, char **arguments) {
  const char *bounds_checks = NULL;
  int threads = 1;
  for (int i = 1; i < count; i++) {
    if (!strcmp(arguments[i], "--threads") && i + 1 < count)
      threads = atoi(arguments[++i]);
    else if (!strcmp(arguments[i], "--bounds-checks") && i + 1 < count)
      bounds_checks = arguments[++i];
    else if (arguments[i][0] == '-')
      die("there is no option ", arguments[i]);
  }
  if (threads < 1 || threads > MOST_THREADS) die("--threads takes 1 to 4", "");
  kernels = kernels_with(bounds_checks);
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  printf("ready {%s}\n", facts);
  for (int i = 1; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve, NULL)) die("could not start a thread", "");
  }
  serve(NULL);
  // The others end with the process: the last answer may still be theirs.
  pthread_exit(NULL);
}
