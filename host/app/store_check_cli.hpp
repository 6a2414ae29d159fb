// `backplane store check` and `backplane store stat`.
//
// Thread-safety: the main thread; progress on standard error, the result on standard output.
// Errors:        the exit code: 0 done, 1 damage was found, or it could not be done.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/store_choice.hpp"

namespace backplane {

struct CheckOptions {
  StoreChoice store;
  std::string output = "text";
};

CLI::App* add_check_command(CLI::App& app, CheckOptions& options);
CLI::App* add_stat_command(CLI::App& app, CheckOptions& options);
int run_check(const CheckOptions& options);
int run_stat(const CheckOptions& options);

}  // namespace backplane
