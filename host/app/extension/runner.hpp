// backplane-runner: a server with the plugins of --plugin alone, as an extension of another API server (--kubeconfig).
//
// Apart from its flags, the server is an ordinary one. RunnerCommand makes these flags:
//   authentication   by TokenReviews of the outer server, request headers and client certificates
//   authorization    by SubjectAccessReviews of the outer server
//   in-tree plugins  those that a runner does not need are disabled
// Thread-safety: startup, one thread.
// Lifetime:      RunnerCommand outlives the options that runner_options() returns.
// Errors:        kBadRequest naming flag or file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/extension/runner_flags.hpp"
#include "app/options.hpp"

namespace backplane {

// Whether the program was started under the runner's name.
bool is_runner(std::string_view program);

class RunnerCommand {
 public:
  // `args`: without the program's name.
  Status parse(std::vector<std::string> args);
  bool wants_help() const { return first_.help; }
  const std::string& version() const { return first_.version; }
  std::string help(std::size_t columns) const;
  // Reads from the outer server, waiting for it, writes the files in the data directory, and returns the options of the server.
  Result<std::unique_ptr<Options>> options();

 private:
  struct Files;
  Status check_plugins(const Options& all);
  Result<Files> write_files(const Options& all);
  std::vector<std::string> more_flags(const Options& all, const Files& files) const;

  std::vector<std::string> args_;
  Options first_;                           // of the first reading, for checks
  RunnerFlags flags_, seen_;                // seen_: bound to the options that are returned
  std::vector<std::string> names_, paths_;  // of the plugins
  std::vector<std::string> outer_groups_;
};

}  // namespace backplane
