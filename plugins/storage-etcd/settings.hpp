// The connection settings of an etcd cluster, from flags.
//
// Thread-safety: values and pure functions.
// Errors:        kBadRequest that names the flag and the problem; files are checked to be readable.
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
  std::string address;  // type and address: "dns:etcd-0.example:2379", "ipv6:[::1]:2379", "unix:/run/etcd.sock"
  std::string shown;    // as in the flag
  bool tls = false;
};

struct Settings {
  std::vector<Endpoint> endpoints;
  // The prefix of every key, without the slash after it: kube-apiserver's --etcd-prefix.
  std::string prefix = std::string(kStorageKeyRoot);
  // PEM files, read again when they change; empty: the system's authorities, no client certificate.
  std::string authorities_file, certificate_file, key_file;
  // The maximum age of the store's size; zero: the size is not requested.
  std::chrono::nanoseconds size_age = std::chrono::seconds(30);
  std::string stored_form = "protobuf";
  // A connection with calls that receives nothing for `keep_alive` sends a PING, and is closed if no response arrives within
  // `keep_alive_timeout`; the values are kube-apiserver's.
  std::chrono::milliseconds keep_alive{30'000}, keep_alive_timeout{10'000};
};

// One of --etcd-servers: http://host:port, https://host:port, unix:///path or unix:/path; a host alone is http.
Result<Endpoint> parse_endpoint(std::string_view url);
// --etcd-prefix with one leading slash and no trailing one.
std::string clean_prefix(std::string_view prefix);
using ReadFlag = std::function<std::optional<std::string>(std::string_view flag)>;
// Reads the flags --etcd-servers, --etcd-prefix, --etcd-cafile, --etcd-certfile, --etcd-keyfile, --etcd-db-metric-poll-interval.
Result<Settings> read_settings(const ReadFlag& flag);
// The server lists of --etcd-servers-overrides as in the flag ("http://a:2379;http://b:2379"), each once.
std::vector<std::string> overriding_servers(const ReadFlag& flag);
// The same settings for other servers, separated by semicolons.
Result<Settings> with_servers(Settings settings, std::string_view servers);

}  // namespace backplane::etcd
