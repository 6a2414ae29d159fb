#include "tracing/slow_request.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <random>

#include "backplane/core/text.hpp"
#include "base/coarse_clock.hpp"
#include "tracing/log.hpp"
#include "tracing/request_fields.hpp"

namespace backplane::tracing {
namespace {

constexpr std::int64_t kMilli = 1'000'000;
constexpr std::int64_t kThreshold = std::chrono::nanoseconds(kSlowRequest).count();

std::string time_text(std::int64_t since_1970, const char* form) {
  const std::time_t seconds = since_1970 / (1000 * kMilli);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  const std::size_t size = std::strftime(text, sizeof text, form, &parts);
  char millis[8];
  std::snprintf(millis, sizeof millis, ".%03d", static_cast<int>(since_1970 / kMilli % 1000));
  return std::string(text, size) + millis;
}

std::string millis_text(std::int64_t time) { return std::to_string(time / kMilli) + "ms"; }

// A duration as Go prints it: in seconds, or in milliseconds if it is less than a second.
std::string duration_text(std::int64_t time) {
  char text[32];
  const bool short_one = time < 1000 * kMilli;
  std::snprintf(text, sizeof text, "%.6g", static_cast<double>(time) / static_cast<double>(short_one ? kMilli : 1000 * kMilli));
  return std::string(text) + (short_one ? "ms" : "s");
}

std::string summary(const LogItem& item, std::int64_t took) {
  std::string out = quoted(item.name) + " ";
  if (!item.fields.empty()) out += item.fields + " ";
  return out + millis_text(took) + " (" + time_text(item.begin, "%H:%M:%S") + ")";
}

class Explanation {
 public:
  Explanation(const std::vector<LogItem>& items, std::string prefix) : items_(items), prefix_(std::move(prefix)) {}

  void children(RequestTrace::SpanId parent, std::int64_t begin, const std::string& indent) {
    const std::int64_t share = share_of(parent);
    std::int64_t last = begin;
    for (const LogItem& item : items_) {
      if (item.parent != parent) continue;
      if (item.span) {
        nested(item, indent);
        if (item.end != 0) last = item.end;
      } else {
        if (item.begin - last >= share) lines_.push_back(prefix_ + indent + "---" + summary(item, item.begin - last));
        last = item.begin;
      }
    }
  }
  std::vector<std::string> take() { return std::move(lines_); }
  void add(const std::string& line) { lines_.push_back(prefix_ + line); }

 private:
  // Adds a span if it is slow, and its children: a span that is not slow may contain slow ones.
  void nested(const LogItem& item, const std::string& indent) {
    const bool slow = item.end != 0 && item.end - item.begin >= kThreshold;
    if (slow) lines_.push_back(prefix_ + indent + "[" + summary(item, item.end - item.begin));
    children(item.id, item.begin, slow ? indent + " " : indent);
    if (slow) lines_.back() += "]";
  }

  // The minimum duration of the steps of `parent` that are shown.
  std::int64_t share_of(RequestTrace::SpanId parent) const {
    std::int64_t count = 0, nested_spans = 0;
    for (const LogItem& item : items_) {
      if (item.parent != parent) continue;
      ++count;
      if (item.span && item.end != 0) ++nested_spans;
    }
    // As upstream: if there are nested spans, a quarter of the threshold is divided; otherwise no step would be shown.
    return nested_spans > 0 ? kThreshold / 4 / (count + 1) : kThreshold / (count + 1);
  }

  const std::vector<LogItem>& items_;
  const std::string prefix_;
  std::vector<std::string> lines_;
};

void append(std::string& out, std::string_view key, std::string_view value) {
  out.append(out.empty() ? "" : ",").append(key).append(":").append(value);
}

// Adds a first step to the handler's span: the time before the handler (authentication, the request gate, authorization).
void add_time_before_handler(std::vector<LogItem>& items, RequestTrace::SpanId root) {
  const auto handler = std::find_if(items.begin(), items.end(), [root](const LogItem& item) { return item.id == root; });
  if (handler == items.end()) return;
  LogItem reached{"Reached the handler", {}, handler->begin, handler->begin, RequestTrace::kNoSpan, root, false};
  items.insert(items.begin(), std::move(reached));
}

std::string fields_of_request(const RequestContext& context) {
  std::string out;
  for_each_request_field(context, [&out](std::string_view key, std::string_view value) { append(out, key, value); });
  return out;
}

}  // namespace

std::vector<std::string> explain(const SlowRequest& request, const std::vector<LogItem>& items, RequestTrace::SpanId root) {
  Explanation explanation(items, "Trace[" + std::to_string(request.number) + "]: ");
  const std::int64_t took = request.end - request.begin;
  std::string head = quoted(request.name) + " ";
  if (!request.fields.empty()) head += request.fields + " ";
  explanation.add(head + "(" + time_text(request.begin, "%d-%b-%Y %H:%M:%S") + ") (total time: " + millis_text(took) + "):");
  explanation.children(root, request.begin, "");
  explanation.add("[" + duration_text(took) + "] [" + duration_text(took) + "] END");
  return explanation.take();
}

void log_if_slow(const RequestContext& context, const char* name, RequestTrace::SpanId root) {
  const auto took = coarse_now() - context.received;
  if (took < kSlowRequest || !tracing_log().should_log(LogLevel::kInfo)) return;
  thread_local std::minstd_rand numbers{std::random_device{}()};
  SlowRequest request{name, fields_of_request(context), 0, 0, static_cast<unsigned>(numbers())};
  request.end = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  request.begin = request.end - std::chrono::nanoseconds(took).count();
  std::vector<LogItem> items = marks_of(context)->log_items();
  add_time_before_handler(items, root);
  for (const std::string& line : explain(request, items, root)) tracing_log().info("{}", line);
}

}  // namespace backplane::tracing
