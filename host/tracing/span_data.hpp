// The data of a recorded span.
//
// Thread-safety: a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backplane/points/tracing.hpp"
#include "tracing/trace_context.hpp"

namespace backplane::tracing {

using AttributeValue = std::variant<std::string, std::int64_t, bool>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

// The limits of the numbers of attributes and of events of one span; OpenTelemetry's defaults.
inline constexpr std::size_t kMostAttributes = 128, kMostEvents = 128;

struct SpanEvent {
  std::string name;
  std::int64_t at = 0;  // nanoseconds since 1970
  Attributes attributes;
};

struct SpanData {
  SpanContext self;
  SpanKey parent{};            // all zeros: the span has no parent
  bool remote_parent = false;  // `parent` is a span of another process
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  std::int64_t begin = 0, end = 0;  // nanoseconds since 1970; end 0: the span is open
  Attributes attributes;
  std::vector<SpanEvent> events;
  std::optional<SpanContext> link;
  bool failed = false;
  std::string description;  // the error, if `failed` is set
  std::uint32_t dropped_attributes = 0, dropped_events = 0;
};

inline AttributeValue owned(const TraceValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  return std::get<bool>(value);
}

}  // namespace backplane::tracing
