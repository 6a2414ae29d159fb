// `backplane-etcd`: takes etcd's place for programs that start an etcd and a kube-apiserver (envtest). It answers etcd's health check and
// stores nothing: a server whose --etcd-servers is its URL keeps its embedded store in backplane-etcd's --data-dir.
//
// Thread-safety: run_etcd_stand_in(): the main thread. find_etcd_stand_in(): startup; blocks for at most a second.
// Errors:        run_etcd_stand_in(): exit code 1 and a line on standard error. find_etcd_stand_in(): nothing if there is another server,
// or
//                none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// True if the program was started under the name of the stand-in.
bool is_etcd_stand_in(std::string_view program);
int run_etcd_stand_in(int argc, char** argv);

struct EtcdStandIn {
  std::string data_dir;
  bool unsafe_no_fsync = false;
};
// Asks only a single server on a loopback address, without TLS.
std::optional<EtcdStandIn> find_etcd_stand_in(const std::vector<std::string>& servers);

// The address and port of "http://127.0.0.1:2379"; nothing for other forms.
struct LoopbackUrl {
  std::string address;
  std::uint16_t port = 0;
};
std::optional<LoopbackUrl> parse_loopback_url(std::string_view url);

}  // namespace backplane
