// apiserver_request_body_size_bytes, and the series of field_validation_request_duration_seconds.
//
// Thread-safety: any thread; a verb of a resource is looked up once.
// Lifetime:      belongs to the handler of one resource, on a thread of whose server it is used.
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

// Shows the series of a request's ?fieldValidation=. As upstream's it has no observations.
class ValidationModes {
 public:
  void show(const Query& query);

 private:
  std::atomic<unsigned> shown_{0};  // a bit for each mode
};

}  // namespace backplane::endpoints
