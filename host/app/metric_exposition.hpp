// Encodes metric families in the formats that Prometheus reads: text, and length-delimited protobuf messages.
//
// Thread-safety: pure functions.
// Errors:        if the Accept header names no known format, the format is text, as upstream.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

struct Exposition {
  bool delimited = false;                     // protobuf
  std::string_view escaping = "underscores";  // the parameter of the Accept header; no metric name of this server needs escaping
};
Exposition choose_exposition(std::string_view accept);
std::string content_type_of(const Exposition& form);
// The encoded families, in pieces.
std::vector<std::string> exposed(const std::vector<prometheus::MetricFamily>& families, const Exposition& form);

}  // namespace backplane
