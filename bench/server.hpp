// A separate server process with a fresh data directory and a free port.  The destructor stops the process and removes the directory.
//
// Thread-safety: one thread.
// Errors:        std::runtime_error if the server does not become ready; the message contains the end of the server's output.
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
  // Waits until the server has used almost no CPU for about a second, but not longer than a limit.
  void wait_idle() const;

 private:
  bool is_ready();

  std::string folder_;
  int pid_ = 0;
  std::unique_ptr<Endpoint> endpoint_;
};

// Creates a folder for temporary files; the caller removes it.
std::string make_folder();

}  // namespace bench
