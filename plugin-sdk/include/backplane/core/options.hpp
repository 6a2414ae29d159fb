// Options of the verbs: metav1.GetOptions, ListOptions, DeleteOptions, and the common part of CreateOptions, UpdateOptions and
// PatchOptions.
//
// Thread-safety: values.
// Errors:        none here. The endpoints parse query and body, and report errors with the text of upstream's conversion and validation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/selectors.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Options of get. The structs in this file have constructors, so that `{}` can be written inside a co_await expression (see
// GroupVersionResource).
struct GetOptions {
  GetOptions() = default;
  // The minimum revision of the result.
  std::string resource_version;  // empty: the newest revision; "0": any cached state; otherwise at least this revision
};

// resourceVersionMatch of a list (metav1.ResourceVersionMatch).
enum class ResourceVersionMatch : unsigned char { kUnset, kExact, kNotOlderThan };

// Options of list, watch and deletecollection. Field documentation: metav1.ListOptions.
struct ListOptions {
  ListOptions() = default;
  // Only objects that match both selectors are returned.
  LabelSelector labels;
  FieldSelector fields;
  // Empty, "0" or a revision. The meaning depends on `match` and `watch`, as in the Kubernetes API documentation.
  std::string resource_version;
  ResourceVersionMatch match = ResourceVersionMatch::kUnset;
  // The maximum number of items in one response; 0: no limit.
  std::int64_t limit = 0;
  // The value of metadata.continue of the previous page; empty for the first page.
  std::string continue_token;
  // True for a watch request (the query parameter watch).
  bool watch = false;
  // Watch only: whether to send BOOKMARK events.
  bool allow_watch_bookmarks = false;
  // Watch only: whether to begin with the existing objects as ADDED events, followed by a bookmark; nullopt if the client has not set it.
  std::optional<bool> send_initial_events;
  // Seconds after which the server ends a list or watch; nullopt: the server's default.
  std::optional<std::int64_t> timeout_seconds;
  // For readers in this process; not part of a request. True: the caller releases every object before it reads the next batch or event.
  // The watch cache stores objects packed from the time it loads them until their first read. A first read with false builds entries that
  // the cache keeps and that take a fifth more memory. With true, a list and the initial events of a watch build entries that exist only
  // while the caller refers to them; the cache stays packed, and the next read builds the entries again. Set it for one pass over all
  // objects. A reader that keeps the objects needs more memory with true than with false.
  bool transient_objects = false;
};

// A write is refused with 409 unless the stored object has these values. A value that is nullopt is not compared.
struct Preconditions {
  // metadata.uid and metadata.resourceVersion that the stored object must have.
  std::optional<std::string> uid;
  std::optional<std::string> resource_version;
};

// metav1.DeleteOptions. For a member that is not set, the default of the kind's strategy applies.
struct DeleteOptions {
  DeleteOptions() = default;
  // 0: immediately; nullopt: the kind's default.
  std::optional<std::int64_t> grace_period_seconds;
  // Conditions on the object to be deleted.
  Preconditions preconditions;
  // Deprecated upstream in favour of propagation_policy. A request that sets both is refused with 422.
  std::optional<bool> orphan_dependents;
  std::optional<std::string> propagation_policy;  // Orphan | Background | Foreground
  // Run all checks and write nothing.
  bool dry_run = false;
  // Remove an object whose stored bytes cannot be read; skips preconditions, finalizers, admission and hooks. A request for a readable
  // object is refused. Upstream: ignoreStoreReadErrorWithClusterBreakingPotential, feature gate AllowUnsafeMalformedObjectDeletion.
  bool ignore_read_error = false;
};

// Handling of unknown and duplicate fields (query parameter fieldValidation): drop them silently, report them in a Warning header, or
// refuse the request with 400.
enum class FieldValidation : unsigned char { kIgnore, kWarn, kStrict };

struct WriteOptions {  // options of create, update and patch
  WriteOptions() = default;
  // Run all checks and write nothing.
  bool dry_run = false;
  // The manager's name for metadata.managedFields; empty: the server derives it from the User-Agent header.
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;
  // True: if other managers own the fields, an apply takes over the ownership instead of failing with 409.
  std::optional<bool> force;  // apply only
};

}  // namespace BACKPLANE_API
