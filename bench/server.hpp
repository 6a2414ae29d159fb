// A separate server process with a fresh data directory and a free port; it is stopped and removed at the end.
//
// Thread-safety: one thread.
// Errors:        std::runtime_error when it does not become ready; the message has the end of its output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client.hpp"

namespace bench {

class OwnServer {
 public:
  OwnServer(const std::string& binary, const std::vector<std::string>& flags);
  ~OwnServer();
  OwnServer(const OwnServer&) = delete;

  int pid() const { return pid_; }
  const Endpoint& endpoint() const { return *endpoint_; }
  // Waits until it has used almost no CPU for a while.
  void wait_idle() const;

 private:
  bool is_ready();

  std::string folder_;
  int pid_ = 0;
  std::unique_ptr<Endpoint> endpoint_;
};

// A folder for temporary files; its creator removes it.
std::string make_folder();

}  // namespace bench
