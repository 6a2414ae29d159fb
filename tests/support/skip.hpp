// Skips tests that need a program that is not installed.
//
// If the environment variable BACKPLANE_REQUIRE (a comma-separated list: "etcd,go") contains the program, the test fails instead.  ctest
// lists skipped tests at the end of a run.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace backplane::test_support {

// True if BACKPLANE_REQUIRE lists `program`.
inline bool is_required(std::string_view program) {
  const char* list = std::getenv("BACKPLANE_REQUIRE");
  const std::string wanted = "," + std::string(program) + ",";
  return list != nullptr && ("," + std::string(list) + ",").find(wanted) != std::string::npos;
}

}  // namespace backplane::test_support

// Ends the current test function. The test is skipped, or it fails if `program` is required.
#define BACKPLANE_SKIP_WITHOUT(program, reason)                                                                                 \
  do {                                                                                                                          \
    if (::backplane::test_support::is_required(program)) FAIL() << "BACKPLANE_REQUIRE lists " << (program) << ": " << (reason); \
    GTEST_SKIP() << (reason);                                                                                                   \
  } while (false)
