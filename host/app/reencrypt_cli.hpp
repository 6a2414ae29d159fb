// `backplane store reencrypt`: writes the objects of encrypted resources of a running server with the current key.
//
// Thread-safety: the main thread; progress on standard error, the result on standard output.
// Errors:        the exit code: 0 done, 1 some objects or all could not be written.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace backplane {

struct ReencryptOptions {
  std::string kubeconfig;
  std::string progress_file = "backplane-reencrypt.json";
  std::vector<std::string> resources;
  int workers = 16;
  int page = 500;
};

CLI::App* add_reencrypt_command(CLI::App& app, ReencryptOptions& options);
int run_reencrypt(const ReencryptOptions& options);

}  // namespace backplane
