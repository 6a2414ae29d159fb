// The program `backplane-etcd`, which replaces etcd for programs that start an etcd and a kube-apiserver (envtest). It answers etcd's
// health check and stores nothing. A server whose --etcd-servers is the URL of backplane-etcd keeps its embedded store in backplane-etcd's
// --data-dir.
//
// Thread-safety: run_etcd_stand_in(): the main thread. find_etcd_stand_in(): startup; blocks for at most half a second in each system call.
// Errors:        run_etcd_stand_in(): exit code 1 and a line on standard error. find_etcd_stand_in(): nullopt if no backplane-etcd answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// True if the program was started under the name backplane-etcd.
bool is_etcd_stand_in(std::string_view program);
int run_etcd_stand_in(int argc, char** argv);

struct EtcdStandIn {
  std::string data_dir;
  bool unsafe_no_fsync = false;
};
// Sends GET /version to the server. Returns nullopt if `servers` is not a single http URL of a loopback address.
std::optional<EtcdStandIn> find_etcd_stand_in(const std::vector<std::string>& servers);

// The parts of an http URL of a loopback address, such as "http://127.0.0.1:2379". parse_loopback_url() returns nullopt for other URLs.
struct LoopbackUrl {
  std::string address;
  std::uint16_t port = 0;
};
std::optional<LoopbackUrl> parse_loopback_url(std::string_view url);

}  // namespace backplane
