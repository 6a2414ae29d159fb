// The options of connections to pods: parsed from a query, validated, and printed as the query for kubelets.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest with Go's message for values that cannot be parsed; 422 for values that are not allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/connect.hpp"

namespace backplane::core {

// Encodes pairs of keys and values, sorted by key and escaped, like Go's url.Values.Encode().
std::string encode_query(Query pairs);
// A path escaped like URL.EscapedPath(): characters that are valid in a path are unchanged.
std::string escape_path(std::string_view path);

// ---- pods/log
struct LogOptions {
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  bool skip_tls_verify = false;
  std::optional<std::int64_t> since_seconds, tail_lines, limit_bytes;
  std::optional<std::string> since_time;  // RFC 3339, UTC
  std::optional<std::string> stream;
};
Result<LogOptions> read_log_options(const Query& query);
// `streams`: the gate PodLogsQuerySplitStreams. If it is on, sets options.stream to its default "All".
Status check_log_options(LogOptions& options, std::string_view pod, bool streams);
std::string kubelet_query(const LogOptions& options, bool streams);
std::vector<ConnectParameter> log_parameters();

// ---- exec, attach, portforward: objects of their kinds
Object read_exec_options(const Query& query);
Object read_attach_options(const Query& query);
Result<Object> read_port_forward_options(const Query& query);
std::vector<ConnectParameter> exec_parameters();
std::vector<ConnectParameter> attach_parameters();
std::vector<ConnectParameter> port_forward_parameters();
// Formats the options of exec, attach or portforward as the kubelet's query.
std::string kubelet_query(const Object& options);

}  // namespace backplane::core
