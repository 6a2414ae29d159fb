// How an etcd cluster is reached, as flags say it.
//
// Thread-safety: values and pure functions.
// Errors:        kBadRequest that names the flag and what is wrong with it; that files can be read is seen to here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::etcd {

struct Endpoint {
  std::string address;  // what it is, and where: "dns:etcd-0.example:2379", "ipv6:[::1]:2379", "unix:/run/etcd.sock"
  std::string shown;    // as it was given
  bool tls = false;
};

struct Settings {
  std::vector<Endpoint> endpoints;
  // What every key begins with, without the slash after it: kube-apiserver's --etcd-prefix.
  std::string prefix = "/registry";
  // PEM files, read anew for each connection; empty: the system's authorities, no client certificate.
  std::string authorities_file, certificate_file, key_file;
  // How old the size of the store may be when it is asked for; zero: it is not known.
  std::chrono::nanoseconds size_age = std::chrono::seconds(30);
  std::string stored_form = "protobuf";
  // A connection that says nothing for so long while an answer is waited for, or while it has nothing but watches, is asked whether it is
  // alive, and given up when it does not answer: kube-apiserver's times.
  std::chrono::milliseconds keep_alive{30'000}, keep_alive_idle{30'000}, keep_alive_timeout{10'000};
  // Asked more often than etcd's --grpc-keepalive-min-time (five seconds), a server ends the connection.
  std::chrono::milliseconds keep_alive_apart{5'500};
  // A connection whose streams have come to this number is made anew: HTTP/2 has no more than 2^31 of them.
  std::int32_t last_stream = 2'000'000'000;
};

// One of --etcd-servers: http://host:port, https://host:port, unix:///path or unix:/path; a host alone is http.
Result<Endpoint> parse_endpoint(std::string_view url);
// --etcd-prefix as keys begin: one slash before, none behind.
std::string clean_prefix(std::string_view prefix);
using ReadFlag = std::function<std::optional<std::string>(std::string_view flag)>;
// Of the flags --etcd-servers, --etcd-prefix, --etcd-cafile, --etcd-certfile, --etcd-keyfile, --etcd-db-metric-poll-interval.
Result<Settings> read_settings(const ReadFlag& flag);
// Those of --etcd-servers-overrides: the servers of each, as they were given ("http://a:2379;http://b:2379"), once.
std::vector<std::string> overriding_servers(const ReadFlag& flag);
// The same settings for other servers, separated by semicolons.
Result<Settings> with_servers(Settings settings, std::string_view servers);

}  // namespace backplane::etcd
