#include "tracing/request_trace.hpp"

#include <algorithm>

#include "base/coarse_clock.hpp"

namespace backplane::tracing {
namespace {

std::int64_t since_1970(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::int64_t system_time() { return since_1970(std::chrono::system_clock::now()); }
std::int64_t coarse_time() noexcept { return coarse_now().time_since_epoch().count(); }

std::string text_of(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  return std::get<bool>(value) ? "true" : "false";
}

void append_field(std::string& out, std::string_view key, const AttributeValue& value) {
  out.append(out.empty() ? "" : ",").append(key).append(":").append(text_of(value));
}

std::string fields_of(const Attributes& attributes) {
  std::string out;
  for (const auto& [key, value] : attributes) append_field(out, key, value);
  return out;
}

}  // namespace

RequestTrace::SpanId RequestMarks::mark(SpanId parent, const char* name, bool span) {
  if (marks_.size() == kMostMarks) return kNoSpan;
  marks_.push_back(Mark{name, coarse_time(), 0, parent, span});
  return static_cast<SpanId>(marks_.size());
}

SpanData* RequestMarks::recorded_span(SpanId span) { return span < spans_.size() ? &spans_[span] : nullptr; }

RequestTrace::SpanId RequestMarks::begin(SpanId parent, const char* name, SpanKind kind) {
  // The log omits the spans of client calls, because each takes as long as the span that contains it.
  if (!recorded_) return kind == SpanKind::kClient ? kNoSpan : mark(parent, name, true);
  const SpanData* const outer = recorded_span(parent);
  if (outer == nullptr || spans_.size() == kMostSpans) return kNoSpan;
  SpanData span;
  span.self = outer->self;
  span.self.span = new_span_key();
  span.parent = outer->self.span;
  span.name = name;
  span.kind = kind;
  span.begin = system_time();
  spans_.push_back(std::move(span));
  return static_cast<SpanId>(spans_.size() - 1);
}

void RequestMarks::end(SpanId span) noexcept {
  if (recorded_) {
    if (SpanData* const data = recorded_span(span)) data->end = system_time();
  } else if (span != kServerSpan && span <= marks_.size()) {
    // The span of the handler stays open in the log, because it ends with the request.
    if (marks_[span - 1].parent != kServerSpan) marks_[span - 1].end = coarse_time();
  }
}

void RequestMarks::step(SpanId span, const char* name) {
  if (!recorded_) {
    mark(span, name, false);
    return;
  }
  SpanData* const data = recorded_span(span);
  if (data == nullptr) return;
  if (data->events.size() < kMostEvents) {
    data->events.push_back({name, system_time(), {}});
  } else {
    ++data->dropped_events;
  }
}

void RequestMarks::step(SpanId span, const char* name, std::string_view key, TraceValue value) {
  step(span, name);
  SpanData* const data = recorded_ ? recorded_span(span) : nullptr;
  if (data != nullptr && data->dropped_events == 0) data->events.back().attributes.emplace_back(key, owned(value));
}

void RequestMarks::set(SpanId span, std::string_view key, TraceValue value) {
  if (!recorded_) {
    detail(span, key, value);
    return;
  }
  SpanData* const data = recorded_span(span);
  if (data == nullptr) return;
  if (data->attributes.size() < kMostAttributes) {
    data->attributes.emplace_back(key, owned(value));
  } else {
    ++data->dropped_attributes;
  }
}

void RequestMarks::detail(SpanId span, std::string_view key, const TraceValue& value) {
  if (span == kServerSpan || span > marks_.size()) return;
  auto found = std::find_if(details_.begin(), details_.end(), [&](const Detail& each) { return each.span == span; });
  if (found == details_.end()) found = details_.insert(details_.end(), Detail{span, {}});
  append_field(found->text, key, owned(value));
}

void RequestMarks::fail(SpanId span, std::string_view description) {
  SpanData* const data = recorded_ ? recorded_span(span) : nullptr;
  if (data == nullptr) return;
  data->failed = true;
  data->description = description;
}

std::optional<SpanContext> RequestMarks::context_of(SpanId span) const {
  if (recorded_ && !spans_.empty()) return spans_[span < spans_.size() ? span : kServerSpan].self;
  if (joined_ != nullptr) return *joined_;
  // The server does not trace: the client's headers are forwarded.
  const std::string_view traceparent = exchange_.header("traceparent");
  if (traceparent.empty()) return std::nullopt;
  return parse_trace_headers(traceparent, exchange_.header("tracestate"));
}

void RequestMarks::propagate(SpanId span, Headers& headers) const {
  if (const auto context = context_of(span)) {
    headers.emplace_back("Traceparent", to_traceparent(*context));
    if (!context->state.empty()) headers.emplace_back("Tracestate", context->state);
  }
  if (const std::string_view baggage = exchange_.header("baggage"); !baggage.empty()) headers.emplace_back("Baggage", baggage);
}

void RequestMarks::record(SpanData server) {
  recorded_ = true;
  spans_.push_back(std::move(server));
}

std::vector<SpanData> RequestMarks::take_spans() {
  const std::int64_t now = system_time();
  for (SpanData& span : spans_) {
    if (span.end == 0) span.end = now;
  }
  recorded_ = false;
  return std::exchange(spans_, {});
}

std::vector<LogItem> RequestMarks::log_items() const { return recorded_ ? items_of_spans() : items_of_marks(); }

std::vector<LogItem> RequestMarks::items_of_spans() const {
  std::vector<LogItem> items;
  const auto add_events = [&items](const SpanData& span, SpanId id) {
    for (const SpanEvent& event : span.events) {
      items.push_back({event.name, fields_of(event.attributes), event.at, event.at, kNoSpan, id, false});
    }
  };
  add_events(spans_.front(), kServerSpan);
  for (SpanId id = 1; id < spans_.size(); ++id) {
    const SpanData& span = spans_[id];
    const auto outer = std::find_if(spans_.begin(), spans_.end(), [&](const SpanData& each) { return each.self.span == span.parent; });
    const auto parent = static_cast<SpanId>(outer - spans_.begin());
    items.push_back({span.name, fields_of(span.attributes), span.begin, span.end, id, parent, true});
    add_events(span, id);
  }
  std::stable_sort(items.begin(), items.end(), [](const LogItem& a, const LogItem& b) { return a.begin < b.begin; });
  return items;
}

std::vector<LogItem> RequestMarks::items_of_marks() const {
  std::vector<LogItem> items;
  const std::int64_t offset = system_time() - coarse_time();
  for (SpanId id = 1; id <= marks_.size(); ++id) {
    const Mark& mark = marks_[id - 1];
    const std::int64_t begin = mark.begin + offset;
    LogItem item{mark.name, {}, begin, begin, mark.span ? id : kNoSpan, mark.parent, mark.span};
    if (mark.span) item.end = mark.end != 0 ? mark.end + offset : 0;
    for (const Detail& each : details_) {
      if (each.span == id) item.fields = each.text;
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace backplane::tracing
