// Checks of fuzz targets, active in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

// Aborts the process with the condition if it is false.
#define FUZZ_REQUIRE(condition)                                                                  \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      std::fprintf(stderr, "%s:%d: requirement violated: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                              \
    }                                                                                            \
  } while (false)
