// A check for fuzz targets, which is active in every build.
#pragma once

#include <cstdio>
#include <cstdlib>

// If `condition` is false, prints it and aborts the process.
#define FUZZ_REQUIRE(condition)                                                                  \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      std::fprintf(stderr, "%s:%d: requirement violated: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                              \
    }                                                                                            \
  } while (false)
