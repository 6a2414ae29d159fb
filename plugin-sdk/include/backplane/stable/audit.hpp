// Audit sinks of the stable tier (audit.h).
//
// Thread-safety: the functions of a sink are called on the sink's thread, one at a time. They may wait, and must not call the server.
// Lifetime:      add_audit_sink() stores the sink as long as the plugin exists. Events are valid during the call.
// Errors:        if write() throws an Error with the reason ServiceUnavailable or the code 503, the host calls it again with the same
//                events (audit.h). After any other exception, the events are lost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/stable/audit.h"
#include "backplane/stable/base.hpp"

namespace backplane::stable {

// The members have the meaning of the members of bp_audit_sink with the same names.
struct AuditSink {
  std::string name;
  // Each event is an Event of audit.k8s.io/v1 in JSON, without a newline.
  std::function<void(const std::vector<std::string_view>& events)> write;
  std::function<void()> flush = {};
  std::uint32_t level = BP_AUDIT_METADATA;
  std::uint32_t omit_stages = 0;
  bool omit_managed_fields = false;
  std::uint32_t when_full = BP_AUDIT_DROP;
  std::uint32_t most_events = 0;
  std::uint32_t most_written = 0;
};

namespace detail {

inline int32_t write_audit(void* self, const bp_str* events, size_t count, bp_error* error) {
  return barrier(error, [&] {
    std::vector<std::string_view> views;
    for (size_t i = 0; i < count; ++i) views.push_back(view(events[i]));
    static_cast<AuditSink*>(self)->write(views);
  });
}
inline int32_t flush_audit(void* self, bp_error* error) {
  return barrier(error, [&] {
    if (const auto& flush = static_cast<AuditSink*>(self)->flush) flush();
  });
}

}  // namespace detail

// Registers a sink. Call it in provision().
inline void add_audit_sink(Host& host, AuditSink sink) {
  AuditSink* const kept = host.keep(std::move(sink));
  bp_audit_sink table{};
  table.struct_size = sizeof(table);
  table.name = str(kept->name);
  table.self = kept;
  table.level = kept->level;
  table.omit_stages = kept->omit_stages;
  table.omit_managed_fields = kept->omit_managed_fields ? 1 : 0;
  table.when_full = kept->when_full;
  table.most_events = kept->most_events;
  table.most_written = kept->most_written;
  table.write = detail::write_audit;
  table.flush = detail::flush_audit;
  const auto& audit = host.find<bp_audit_table>(BP_AUDIT_TABLE, 1);
  detail::checked([&](bp_error* error) { return audit.add(host.context(), &table, error); });
}

}  // namespace backplane::stable
