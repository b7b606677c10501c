// What modules translated by wasm2c need while they run.
#pragma once

#include <setjmp.h>

#include "executor.h"
#include "wasm-rt.h"

// Where this thread continues after a trap.
extern _Thread_local sigjmp_buf trapped;
