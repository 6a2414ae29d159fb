// Attributes of the trace spans of the store's operations, which have the same names as the spans of kube-apiserver's storage.
//
// Thread-safety: on the executor of the request.
#pragma once

#include <string_view>

#include "backplane/points/tracing.hpp"
#include "backplane/rest/resource_config.hpp"
#include "tracing/request_fields.hpp"

namespace backplane::registry {

// The resource and its group, as upstream's schema.GroupResource prints them: "configmaps", "deployments.apps".
inline std::string resource_text(const ResourceConfig& config) {
  return config.kind.group.empty() ? config.resource : config.resource + "." + config.kind.group;
}

// Sets the attributes of a write.
inline void describe_write(TraceSpan& span, const RequestContext& context, const ResourceConfig& config, std::string_view key) {
  if (!span.recorded()) return;
  span.set("audit-id", tracing::shown_audit_id(context));
  span.set("key", key);
  span.set("type", std::string_view(config.kind.kind));
  span.set("group", std::string_view(config.kind.group));
  span.set("resource", std::string_view(config.resource));
}

// Sets the attributes of a list or a watch.
inline void describe_read(TraceSpan& span, const RequestContext& context, const ResourceConfig& config) {
  if (!span.recorded()) return;
  span.set("audit-id", tracing::shown_audit_id(context));
  const std::string type = resource_text(config);
  span.set("type", std::string_view(type));
}

// Adds the step for the end of a transaction: `done` if it has succeeded, otherwise the error.
template <class T>
void step_of_commit(TraceSpan& span, const Result<T>& committed, const char* done) {
  if (committed.ok()) {
    span.step(done);
  } else {
    span.step("Txn call failed", "err", std::string_view(committed.status().message()));
  }
}

}  // namespace backplane::registry
