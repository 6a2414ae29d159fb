// An etcd of a test: one server in a directory, on a port of its own.
//
// Thread-safety: one thread.
// Lifetime:      the process ends with the object.
// Errors:        start() fails the test when etcd does not come up.
#pragma once

#include <sys/types.h>

#include <string>

namespace backplane {

class EtcdProcess {
 public:
  // Whether the machine has etcd.
  static bool installed();
  explicit EtcdProcess(std::string directory);
  ~EtcdProcess();
  EtcdProcess(const EtcdProcess&) = delete;
  EtcdProcess& operator=(const EtcdProcess&) = delete;

  void start();
  void kill();   // SIGKILL
  void pause();  // it answers nobody, and keeps its connections
  void go_on();
  const std::string& url() const noexcept { return url_; }

 private:
  void wait_until_it_answers() const;
  std::string directory_, url_, peer_url_;
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace backplane
