// The metric apiserver_request_body_size_bytes, and the series of the metric field_validation_request_duration_seconds.
//
// Thread-safety: any thread. The metric cell of each verb is looked up once.
// Lifetime:      a member of the handler of one resource. Must be used on threads of the handler's server.
// Errors:        none.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backplane/core/meta.hpp"
#include "backplane/core/metric_cell.hpp"
#include "backplane/core/query.hpp"

namespace backplane::endpoints {

enum class BodyVerb : std::uint8_t { kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };

class BodySizes {
 public:
  void count(const GroupVersionResource& resource, BodyVerb verb, std::size_t bytes);

 private:
  std::array<std::atomic<MetricCell*>, 5> cells_{};
};

// Creates the metric series for the value of ?fieldValidation=. As in upstream, the series has no observations.
class ValidationModes {
 public:
  void show(const Query& query);

 private:
  std::atomic<unsigned> shown_{0};  // one bit for each mode
};

}  // namespace backplane::endpoints
