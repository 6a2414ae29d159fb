// For tests: an etcd process with a directory and ports, which is a single server or a member of a cluster.
//
// Thread-safety: one thread.
// Lifetime:      the process ends with the object.
// Errors:        start() fails the test if etcd does not start.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace backplane {

class EtcdProcess {
 public:
  struct Setup {
    std::vector<std::string> flags;  // flags in addition to those for the addresses
    bool tls = false;                // true: clients use TLS; `flags` contains the certificates
    std::string name = "test", peer_url, cluster;
    bool wait = true;  // wait until the server is healthy; false for a member of a cluster, which is not healthy alone
  };
  // True if etcd is installed on this machine.
  static bool installed();
  static int free_port();
  explicit EtcdProcess(std::string directory) : EtcdProcess(std::move(directory), Setup()) {}
  EtcdProcess(std::string directory, Setup setup);
  ~EtcdProcess();
  EtcdProcess(const EtcdProcess&) = delete;
  EtcdProcess& operator=(const EtcdProcess&) = delete;

  void start();
  void kill();   // SIGKILL
  void pause();  // the server does not respond, but its connections stay open
  void go_on();
  void wait_until_ready() const;
  const std::string& url() const noexcept { return url_; }
  int port() const noexcept { return port_; }
  // The value of a metric of this etcd, such as `grpc_server_started_total{…}`; 0 if it does not exist.
  double metric(const std::string& series) const;

 private:
  std::string directory_, url_;
  Setup setup_;
  int port_ = 0, health_port_ = 0;
  pid_t pid_ = 0;
};

// The members of one cluster; the constructor returns after a leader is elected.
std::vector<std::unique_ptr<EtcdProcess>> start_etcd_cluster(const std::string& directory, int members);
// The member that is the leader.
EtcdProcess& leader_of(const std::vector<std::unique_ptr<EtcdProcess>>& members);

}  // namespace backplane
