// How an etcd cluster is reached, as flags say it.
//
// Thread-safety: values and pure functions.
// Errors:        kBadRequest that names the flag and what is wrong with it; files are read here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/status.hpp"

namespace backplane::etcd {

struct Endpoint {
  std::string address;  // as gRPC names it: "dns:etcd-0.example:2379", "ipv6:[::1]:2379", "unix:/run/etcd.sock"
  std::string shown;    // as it was given
  bool tls = false;
};

struct Settings {
  std::vector<Endpoint> endpoints;
  // What every key begins with, without the slash after it: kube-apiserver's --etcd-prefix.
  std::string prefix = "/registry";
  // PEM; empty: the system's authorities, no client certificate.
  std::string authorities, certificate, key;
  std::string stored_form = "protobuf";
};

// One of --etcd-servers: http://host:port, https://host:port, unix:///path; a host alone is http.
Result<Endpoint> parse_endpoint(std::string_view url);
// --etcd-prefix as keys begin: one slash before, none behind.
std::string clean_prefix(std::string_view prefix);
// Of the flags --etcd-servers, --etcd-prefix, --etcd-cafile, --etcd-certfile, --etcd-keyfile.
Result<Settings> read_settings(const std::function<std::optional<std::string>(std::string_view flag)>& flag);

}  // namespace backplane::etcd
