// Reads the file of --tracing-config-file: a TracingConfiguration of apiserver.config.k8s.io.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest with upstream's text.
// Source:        k8s.io/apiserver/pkg/server/options/tracing.go, k8s.io/component-base/tracing/api/v1.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"

namespace backplane::tracing {

struct TracingConfig {
  // "host:port", or a name with one of gRPC's schemes: dns:///host:port, unix:///path, unix-abstract:name.
  std::string endpoint = "localhost:4317";
  // The number of sampled traces per million traces without a parent. 0: only traces whose parent is sampled.
  int sampling_rate_per_million = 0;
};

Result<TracingConfig> read_tracing_config(const std::string& path);
Result<TracingConfig> parse_tracing_config(std::string_view text);

// Converts the endpoint to a URL for ClientConfig::server. Errors: kBadRequest for a scheme that this server does not support.
Result<std::string> server_of_endpoint(std::string_view endpoint);

}  // namespace backplane::tracing
