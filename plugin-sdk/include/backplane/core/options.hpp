// The option objects of the verbs: metav1.GetOptions, ListOptions, CreateOptions, …
//
// Thread-safety: values.
// Errors:        parsing is worded as upstream's conversion and validation word it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/selectors.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// No aggregates, so that `{}` may stand for any of them inside a co_await expression (see GroupVersionResource).
struct GetOptions {
  GetOptions() = default;
  std::string resource_version;  // empty: newest
};

enum class ResourceVersionMatch : unsigned char { kUnset, kExact, kNotOlderThan };

struct ListOptions {
  ListOptions() = default;
  LabelSelector labels;
  FieldSelector fields;
  std::string resource_version;
  ResourceVersionMatch match = ResourceVersionMatch::kUnset;
  std::int64_t limit = 0;
  std::string continue_token;
  bool watch = false;
  bool allow_watch_bookmarks = false;
  std::optional<bool> send_initial_events;
  std::optional<std::int64_t> timeout_seconds;
};

struct Preconditions {
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
};

struct DeleteOptions {
  DeleteOptions() = default;
  std::optional<std::int64_t> grace_period_seconds;
  Preconditions preconditions;
  std::optional<bool> orphan_dependents;
  std::optional<std::string> propagation_policy;  // Orphan | Background | Foreground
  bool dry_run = false;
  // Removes an object whose stored bytes cannot be read, past preconditions, finalizers, admission and hooks; refused for one that can
  // (upstream's ignoreStoreReadErrorWithClusterBreakingPotential; feature gate AllowUnsafeMalformedObjectDeletion).
  bool ignore_read_error = false;
};

// What is done with unknown and repeated fields: dropped silently, reported in a Warning, refused (fieldValidation).
enum class FieldValidation : unsigned char { kIgnore, kWarn, kStrict };

struct WriteOptions {  // create, update, patch
  WriteOptions() = default;
  bool dry_run = false;
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;
  std::optional<bool> force;  // apply only
};

}  // namespace BACKPLANE_API
