// The trace of one request, which the handler chain makes. For a sampled request it records spans; for every other request it records marks
// with coarse times, which are cheaper and sufficient for the log of slow requests.
//
// Thread-safety: as RequestContext.
// Lifetime:      a part of the request's coroutine frame; borrows the exchange.
// Errors:        none; marks and spans that exceed the limits are dropped.
#pragma once

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backplane/points/tracing.hpp"
#include "tracing/span_data.hpp"

namespace backplane::tracing {

// A step or a span, for the log of slow requests.
struct LogItem {
  std::string name;
  std::string fields;      // "key:value,key:value"
  std::int64_t begin = 0;  // nanoseconds since 1970
  std::int64_t end = 0;    // for a step: equal to `begin`; for an open span: 0
  RequestTrace::SpanId id = RequestTrace::kNoSpan;
  RequestTrace::SpanId parent = RequestTrace::kServerSpan;
  bool span = false;
};

class RequestMarks final : public RequestTrace {
 public:
  explicit RequestMarks(const Exchange& exchange) noexcept : exchange_(exchange) {}

  SpanId begin(SpanId parent, const char* name, SpanKind kind) override;
  void end(SpanId span) noexcept override;
  void step(SpanId span, const char* name) override;
  void step(SpanId span, const char* name, std::string_view key, TraceValue value) override;
  void set(SpanId span, std::string_view key, TraceValue value) override;
  void fail(SpanId span, std::string_view description) override;
  void propagate(SpanId span, Headers& headers) const override;

  // Sets the trace of a request that is not recorded; propagate() sends it to other servers.
  void join(SpanContext self) { joined_ = std::make_unique<SpanContext>(std::move(self)); }
  // Begins to record spans. `server`: the span of the request.
  void record(SpanData server);
  // Ends open spans and returns all recorded spans, the request's span first. Nothing is recorded afterwards.
  std::vector<SpanData> take_spans();

  // The steps and spans so far, sorted by `begin`.
  std::vector<LogItem> log_items() const;

 private:
  static constexpr std::size_t kMostMarks = 24;
  static constexpr std::size_t kInlineMarks = 4;  // enough for a read; small, because every open watch has this memory in its frame
  static constexpr std::size_t kMostSpans = 1000;
  struct Mark {
    const char* name;
    std::int64_t begin, end;  // times of coarse_now(); end 0: the span is open
    SpanId parent;
    bool span;
  };
  struct Detail {
    SpanId span;
    std::string text;
  };

  // SpanId N is mark N - 1.
  SpanId mark(SpanId parent, const char* name, bool span);
  SpanData* recorded_span(SpanId span);
  void detail(SpanId span, std::string_view key, const TraceValue& value);
  std::optional<SpanContext> context_of(SpanId span) const;
  std::vector<LogItem> items_of_spans() const;
  std::vector<LogItem> items_of_marks() const;

  const Exchange& exchange_;
  boost::container::small_vector<Mark, kInlineMarks> marks_;
  std::vector<Detail> details_;
  std::unique_ptr<SpanContext> joined_;
  std::vector<SpanData> spans_;
};

// The trace of a request that the handler chain processes; null for other contexts.
inline RequestMarks* marks_of(const RequestContext& context) noexcept { return static_cast<RequestMarks*>(context.trace); }

}  // namespace backplane::tracing
