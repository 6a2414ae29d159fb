// The exponents by which time and memory grow: each quantity is doubled several times, on a fresh server each time, and a line is fitted
// through the logarithms.
//
// Thread-safety: one run at a time.
// Errors:        std::runtime_error with what failed; the servers that were started are stopped.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct GrowthSettings {
  std::string server;      // the binary
  std::string plugin_dir;  // empty: its default
  std::string plugin;      // a plugin file named growth-0000; empty: next to this program
  double scale = 1;
  std::vector<std::string> only;  // empty: every quantity
};

// Prints a line of JSON for each measurement and a table at the end.  The exit code: 0 when no exponent is above 1.1.
int run_growth(const GrowthSettings& settings);

}  // namespace bench
