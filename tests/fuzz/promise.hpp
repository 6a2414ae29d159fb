// Promises that targets hold their subjects to.
#pragma once

#include <cstdio>
#include <cstdlib>

// Ends the process with what was promised when it does not hold; in every build.
#define FUZZ_PROMISE(condition)                                                            \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      std::fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                        \
    }                                                                                      \
  } while (false)
