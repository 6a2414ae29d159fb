// Measures how the CPU time and the memory of a server grow with a quantity, for example the number of objects.  Each quantity is doubled
// several times, each time on a fresh server.  The exponent of the growth is the slope of a line through the logarithms.
//
// Thread-safety: one run at a time.
// Errors:        std::runtime_error that names what failed; the servers are stopped.
#pragma once

#include <string>
#include <vector>

namespace bench {

struct GrowthSettings {
  std::string server;      // the path of the server's binary
  std::string plugin_dir;  // empty: the server's default
  std::string plugin;      // the file of the plugin growth-0000; empty: growth.so next to this program
  double scale = 1;
  std::vector<std::string> only;  // the quantities to measure; empty: all
};

// Prints a line of JSON for each measurement and a table at the end.  Returns the exit code: 0 if no exponent is above 1.1.
int run_growth(const GrowthSettings& settings);

}  // namespace bench
