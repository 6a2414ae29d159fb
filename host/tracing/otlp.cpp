#include "tracing/otlp.hpp"

#include <algorithm>

namespace backplane::tracing {
namespace {

// The instrumentation scopes of kube-apiserver's spans, which collectors may use as filters.
constexpr std::string_view kHttpScope = "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp";
constexpr std::string_view kScope = "k8s.io/component-base/tracing";
constexpr std::string_view kResourceSchema = "https://opentelemetry.io/schemas/1.12.0";

enum class WireType : unsigned char { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// A protobuf message that is written field by field. As in proto3, fields with the value 0 are omitted.
class Message {
 public:
  void number(unsigned field, std::uint64_t value) {
    if (value == 0) return;
    tag(field, WireType::kVarint);
    varint(value);
  }
  void fixed64(unsigned field, std::uint64_t value) {
    tag(field, WireType::kFixed64);
    little_endian(value, 8);
  }
  void fixed32(unsigned field, std::uint32_t value) {
    tag(field, WireType::kFixed32);
    little_endian(value, 4);
  }
  void text(unsigned field, std::string_view value) {
    if (!value.empty()) bytes(field, value);
  }
  // A field that is written even if it is empty, for members of a oneof.
  void bytes(unsigned field, std::string_view value) {
    tag(field, WireType::kBytes);
    varint(value.size());
    out_.append(value);
  }
  template <std::size_t N>
  void key(unsigned field, const std::array<std::uint8_t, N>& value) {
    bytes(field, std::string_view(reinterpret_cast<const char*>(value.data()), N));
  }
  void one_of(unsigned field, std::uint64_t value) {
    tag(field, WireType::kVarint);
    varint(value);
  }
  void message(unsigned field, const Message& value) { bytes(field, value.out_); }
  std::string take() { return std::move(out_); }

 private:
  void tag(unsigned field, WireType type) { varint(field << 3U | static_cast<unsigned>(type)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) out_.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
    out_.push_back(static_cast<char>(value));
  }
  void little_endian(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i, value >>= 8U) out_.push_back(static_cast<char>(value & 0xFFU));
  }
  std::string out_;
};

// Encodes an AnyValue.
Message value_message(const AttributeValue& value) {
  Message out;
  if (const auto* text = std::get_if<std::string>(&value)) out.bytes(1, *text);
  if (const auto* flag = std::get_if<bool>(&value)) out.one_of(2, *flag ? 1 : 0);
  if (const auto* number = std::get_if<std::int64_t>(&value)) out.one_of(3, static_cast<std::uint64_t>(*number));
  return out;
}

void add_attributes(Message& out, unsigned field, const Attributes& attributes) {
  for (const auto& [key, value] : attributes) {
    Message pair;
    pair.text(1, key);
    pair.message(2, value_message(value));
    out.message(field, pair);
  }
}

Message event_message(const SpanEvent& event) {
  Message out;
  out.fixed64(1, static_cast<std::uint64_t>(event.at));
  out.text(2, event.name);
  add_attributes(out, 3, event.attributes);
  return out;
}

// The trace flags, and the flags which mean that it is known whether the span belongs to another process (0x100), and that it does (0x200).
std::uint32_t flags_of(bool sampled, bool remote) { return (sampled ? 1U : 0U) | 0x100U | (remote ? 0x200U : 0U); }

Message link_message(const SpanContext& link) {
  Message out;
  out.key(1, link.trace);
  out.key(2, link.span);
  out.text(3, link.state);
  out.fixed32(6, flags_of(link.sampled, true));
  return out;
}

Message status_message(const SpanData& span) {
  constexpr std::uint64_t kError = 2;
  Message out;
  if (!span.failed) return out;
  out.text(2, span.description);
  out.number(3, kError);
  return out;
}

Message span_message(const SpanData& span) {
  Message out;
  out.key(1, span.self.trace);
  out.key(2, span.self.span);
  out.text(3, span.self.state);
  if (span.parent != SpanKey{}) out.key(4, span.parent);
  out.text(5, span.name);
  out.number(6, static_cast<std::uint64_t>(span.kind));
  out.fixed64(7, static_cast<std::uint64_t>(span.begin));
  out.fixed64(8, static_cast<std::uint64_t>(span.end));
  add_attributes(out, 9, span.attributes);
  out.number(10, span.dropped_attributes);
  for (const SpanEvent& event : span.events) out.message(11, event_message(event));
  out.number(12, span.dropped_events);
  if (span.link) out.message(13, link_message(*span.link));
  out.message(15, status_message(span));
  out.fixed32(16, flags_of(span.self.sampled, span.remote_parent));
  return out;
}

// Adds a ScopeSpans with the spans of the scope; adds nothing if there are none.
void add_scope(Message& out, std::string_view name, bool internal, std::span<const SpanData> spans) {
  Message scope, scoped;
  scope.text(1, name);
  scoped.message(1, scope);
  bool any = false;
  for (const SpanData& span : spans) {
    if ((span.kind == SpanKind::kInternal) != internal) continue;
    scoped.message(2, span_message(span));
    any = true;
  }
  if (any) out.message(2, scoped);
}

}  // namespace

std::string encode_export(const Attributes& resource, std::span<const SpanData> spans) {
  Message described, resource_spans, request;
  add_attributes(described, 1, resource);
  resource_spans.message(1, described);
  add_scope(resource_spans, kHttpScope, false, spans);
  add_scope(resource_spans, kScope, true, spans);
  resource_spans.text(3, kResourceSchema);
  request.message(1, resource_spans);
  return request.take();
}

}  // namespace backplane::tracing
