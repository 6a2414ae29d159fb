// A server in a child process, for tests of plugins: `backplane --throwaway`, with a store in memory and the plugins under test.
//
// Thread-safety: one thread at a time; the const methods from any thread.
// Lifetime:      the destructor stops the server and removes its files; the server also ends when this process ends.
// Errors:        start(): kInternalError with the server's log if it does not serve in time.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "base/child_process.hpp"

namespace backplane {

struct ChildServerOptions {
  std::string program;                        // the executable
  std::string built_in_plugins;               // the directory of the in-tree plugins
  std::vector<std::string> plugins = {};      // .so files; the server loads copies with the same names
  std::vector<std::string> flags = {};        // further flags
  std::vector<std::string> environment = {};  // SpawnOptions::environment
  std::chrono::milliseconds start_limit{60'000};
};

class ChildServer {
 public:
  // Starts a server. Returns when the server accepts requests.
  static Result<std::unique_ptr<ChildServer>> start(ChildServerOptions options);
  ~ChildServer();
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;

  // The path of the administrator's kubeconfig.
  const std::string& kubeconfig() const noexcept { return kubeconfig_; }
  // The directory of the plugins' copies.
  std::string plugin_directory() const { return directory_ + "/plugins"; }
  pid_t process() const noexcept { return pid_; }
  std::string log() const;
  // Whether the server has ended.
  bool ended();
  // Sends SIGTERM, and SIGKILL 90 seconds later if the server still runs. Returns the exit code of wait_for_exit(). A later call returns
  // the same code.
  int stop();

 private:
  ChildServer() = default;
  Status prepare(const ChildServerOptions& options);
  Status run(const ChildServerOptions& options);
  Status read_kubeconfig(int output, std::chrono::milliseconds limit);

  std::string directory_, kubeconfig_;
  pid_t pid_ = -1;
  int code_ = 0;
};

}  // namespace backplane
