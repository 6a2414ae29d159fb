// Reads the connection settings of an etcd cluster from the flags.
//
// Thread-safety: values and pure functions.
// Errors:        kBadRequest that names the flag and the problem; also if a file cannot be read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/points/storage.hpp"

namespace backplane::etcd {

struct Endpoint {
  std::string address;  // the type and the address: "dns:etcd-0.example:2379", "ipv6:[::1]:2379", "unix:/run/etcd.sock"
  std::string shown;    // the URL in the flag
  bool tls = false;
};

struct Settings {
  std::vector<Endpoint> endpoints;
  // The prefix of all keys in etcd (--etcd-prefix), without a slash at the end.
  std::string prefix = std::string(kStorageKeyRoot);
  // PEM files, which are read again when they change. Empty: the system's certificate authorities, and no client certificate.
  std::string authorities_file, certificate_file, key_file;
  // The maximum age of the store's size; zero: the size is not requested.
  std::chrono::nanoseconds size_age = std::chrono::seconds(30);
  std::string stored_form = "protobuf";
  // If a connection with running calls has received nothing for `keep_alive`, the client sends a PING; if no response arrives within
  // `keep_alive_timeout`, it closes the connection. The values are kube-apiserver's.
  std::chrono::milliseconds keep_alive{30'000}, keep_alive_timeout{10'000};
};

// Parses a value of --etcd-servers: http://host:port, https://host:port, unix:///path or unix:/path. Without a scheme, it is http.
Result<Endpoint> parse_endpoint(std::string_view url);
// The value of --etcd-prefix with one slash at the beginning and none at the end.
std::string clean_prefix(std::string_view prefix);
using ReadFlag = std::function<std::optional<std::string>(std::string_view flag)>;
// Reads the flags --etcd-servers, --etcd-prefix, --etcd-cafile, --etcd-certfile, --etcd-keyfile, --etcd-db-metric-poll-interval.
Result<Settings> read_settings(const ReadFlag& flag);
// The distinct server lists in --etcd-servers-overrides, unchanged ("http://a:2379;http://b:2379").
std::vector<std::string> overriding_servers(const ReadFlag& flag);
// `settings` with other servers. `servers`: URLs, separated by semicolons.
Result<Settings> with_servers(Settings settings, std::string_view servers);

}  // namespace backplane::etcd
