// Metric families as the bytes that Prometheus reads: text, and protobuf messages that their lengths delimit.
//
// Thread-safety: pure functions.
// Errors:        an Accept header that names nothing known gives text, as upstream.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

struct Exposition {
  bool delimited = false;                     // protobuf
  std::string_view escaping = "underscores";  // of the Accept header; no name here needs escaping
};
Exposition choose_exposition(std::string_view accept);
std::string content_type_of(const Exposition& form);
// The bytes, in pieces.
std::vector<std::string> exposed(const std::vector<prometheus::MetricFamily>& families, const Exposition& form);

}  // namespace backplane
