#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <optional>
#include <random>
#include <span>

#include "backplane/core/metric_cell.hpp"
#include "base/origin_executor.hpp"
#include "base/yield.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/table_rows.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"
#include "endpoints/websocket.hpp"

namespace backplane::endpoints {
namespace {

// Frames that are encoded for one watch only are sent when they reach this size. Shared frames need no memory of the watch.
constexpr std::size_t kMadeBytes = 128 * 1024;
// A watch encodes this many bytes of objects before it yields to other requests of the loop.
constexpr std::size_t kTurnBytes = 1024 * 1024;
// The maximum timeout, which the clock can represent. Longer timeouts are reduced to it.
constexpr std::int64_t kMaxTimeoutSeconds = 365 * 24 * 3600;

// Measures the time until the initial events of a watch have been sent (upstream: watch_list_duration_seconds).
class InitialEvents {
 public:
  void begin(const RequestInfo& info) {
    begun_ = std::chrono::steady_clock::now();
    labels_ = {info.api_group, info.api_version, info.resource,
               !info.name.empty() ? "resource"
               : !info.ns.empty() ? "namespace"
                                  : "cluster"};
  }
  // The first bookmark marks the end of the initial events.
  void passed(const WatchEvent& event) {
    if (!begun_ || event.type != WatchEvent::Type::kBookmark) return;
    static Metric& durations = Metric::histogram(
        "apiserver_watch_list_duration_seconds",
        "[BETA] Response latency distribution in seconds for watch list requests broken by group, version, resource and scope.",
        {"group", "version", "resource", "scope"}, {0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - *begun_;
    durations.observe({labels_[0], labels_[1], labels_[2], labels_[3]}, took.count());
    begun_.reset();
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> begun_;
  std::array<std::string, 4> labels_;
};

// The metric cells of a watch's events. They are looked up once.
class EventCounts {
 public:
  void begin(const GroupVersionResource& resource) {
    static Metric& totals =
        Metric::counter("apiserver_watch_events_total", "[ALPHA] Number of events sent in watch clients", {"group", "resource", "version"});
    static Metric& sizes = Metric::histogram("apiserver_watch_events_sizes", "[ALPHA] Watch event size distribution in bytes",
                                             {"group", "resource", "version"}, exponential_bounds(1024, 2, 8));
    total_ = MetricCell::of(totals, {resource.group, resource.resource, resource.version});
    sizes_ = MetricCell::of(sizes, {resource.group, resource.resource, resource.version});
  }
  void add(std::span<const SharedBytes> frame) noexcept {
    if (total_ == nullptr || sizes_ == nullptr) return;
    std::size_t bytes = 0;
    for (const SharedBytes& piece : frame) bytes += piece.size();
    total_->add();
    sizes_->observe(static_cast<double>(bytes));
  }

 private:
  MetricCell* total_ = nullptr;
  MetricCell* sizes_ = nullptr;
};

// Encodes the events of one watch.
struct Encoder {
  MediaType media;
  Presentation as;
  TableForm form;
  bool first = true;           // the columns of a table are sent with the first event only
  bool framed = false;         // each event is sent as a WebSocket message
  std::size_t made_bytes = 0;  // bytes of frames for this watch only, since the last write
  std::size_t in_turn = 0;     // bytes of encoded objects, since the last yield
  InitialEvents initial;
  EventCounts counts;

  // True if the watch must yield to other requests of the loop.
  bool turn_over() {
    if (in_turn < kTurnBytes) return false;
    in_turn = 0;
    return true;
  }
  Status append(const WatchEvent& event, std::vector<SharedBytes>& frames);
  void append_error(const Status& status, std::vector<SharedBytes>& frames);

 private:
  Status append_pieces(const WatchEvent& event, std::vector<SharedBytes>& frames);
  SharedBytes table_frame(const WatchEvent& event);
};

Status Encoder::append(const WatchEvent& event, std::vector<SharedBytes>& frames) {
  const std::size_t first_piece = frames.size();
  initial.passed(event);
  const bool made = media.shape != Shape::kObject || (!media.codec->is_text() && event.object->form(*media.codec) == nullptr);
  if (made) in_turn += event.object->json_size();
  Status status = append_pieces(event, frames);
  if (!status.ok()) {
    frames.resize(first_piece);
    return status;
  }
  counts.add(std::span(frames).subspan(first_piece));
  if (framed) {
    frames[first_piece] = frames[first_piece].slice(media.codec->frame_prefix());
    WebSocket::frame(frames, first_piece, media.codec->is_text());
  }
  return {};
}

SharedBytes Encoder::table_frame(const WatchEvent& event) {
  std::string frame(json_frame_head(event.type));
  append_object_table(frame, *event.object, form, first);
  first = false;
  return SharedBytes(frame.append(json_frame_tail()));
}

Status Encoder::append_pieces(const WatchEvent& event, std::vector<SharedBytes>& frames) {
  if (event.type == WatchEvent::Type::kError) {
    return media.codec->frame({status_schema(), false, false}, event.type, *event.object, frames);
  }
  const std::size_t first_piece = frames.size();
  if (media.shape == Shape::kTable) {
    frames.push_back(table_frame(event));
  } else {
    Status status = media.codec->frame(as, event.type, *event.object, frames);
    if (!status.ok()) return status;
  }
  if (media.shape != Shape::kObject) made_bytes += frames[first_piece].size();
  return {};
}

void Encoder::append_error(const Status& status, std::vector<SharedBytes>& frames) {
  std::string json = status.to_json();
  while (json.ends_with('\n')) json.pop_back();
  auto object = std::make_shared<ObjectEntry>();
  object->set_json(SharedBytes(std::move(json)));
  Status written = append({WatchEvent::Type::kError, std::move(object)}, frames);
  (void)written;  // every codec can encode a Status
}

struct WatchPlan {
  ListOptions options;
  std::chrono::nanoseconds timeout{0};
  Encoder encoder;
};

// Returns a random duration in [minimum, 2 * minimum), so that watches that began together do not reconnect together.
std::chrono::nanoseconds default_timeout(std::chrono::seconds minimum) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const double factor = std::uniform_real_distribution<double>(1.0, 2.0)(random);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(std::chrono::nanoseconds(minimum).count()) * factor));
}

Result<WatchPlan> make_plan(const Resource& resource, const RequestContext& context, const Exchange& exchange) {
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) return std::move(media.status());
  const Query& query = context.info.query;
  auto options = list_options(query, context.info.name);
  if (!options.ok()) return std::move(options.status());
  if (media->yaml) return not_acceptable_types(stream_types(context.offers_cbor));
  WatchPlan plan;
  plan.options = std::move(*options);
  plan.options.watch = true;
  if (plan.options.send_initial_events.value_or(false) && plan.options.allow_watch_bookmarks) plan.encoder.initial.begin(context.info);
  plan.timeout = std::chrono::seconds(std::min(plan.options.timeout_seconds.value_or(0), kMaxTimeoutSeconds));
  if (plan.timeout.count() == 0) plan.timeout = default_timeout(resource.scope.min_request_timeout);
  plan.encoder.media = *media;
  plan.encoder.as = media->presentation(resource.schema);
  if (media->shape == Shape::kTable) {
    auto form = table_form(query, *media, *resource.table, resource.schema);
    if (!form.ok()) return std::move(form.status());
    plan.encoder.form = *form;
  }
  return plan;
}

// Ends a watch for external reasons: its timeout, the end of the connection, or the shutdown of the server. The destructor unregisters the
// callbacks.
class Ending {
 public:
  Ending(const Resource& resource, Exchange& exchange, std::shared_ptr<WatchStream> stream, std::chrono::nanoseconds timeout)
      : watches_(resource.watches.get()), stream_(std::move(stream)) {
    Executor* executor = current_executor();
    if (executor != nullptr && timeout.count() != 0) {
      stop_timer_ = executor->after(timeout, [stream = stream_] { stream->cancel(); });
    }
    closed_ = exchange.on_close([stream = stream_] { stream->cancel(); });
    if (watches_ != nullptr) watches_->add(stream_);
    if (exchange.closed()) stream_->cancel();
  }
  ~Ending() {
    if (stop_timer_) stop_timer_();
    if (watches_ != nullptr) watches_->remove(stream_);
  }
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  OpenWatches* watches_;
  CloseSubscription closed_;
  std::shared_ptr<WatchStream> stream_;
  std::function<void()> stop_timer_;
};

// Sends all frames in one write.
Task<Status> send_frames(Exchange& exchange, Encoder& encoder, std::vector<SharedBytes>& frames) {
  std::vector<SharedBytes> ready;
  ready.swap(frames);
  encoder.made_bytes = 0;
  auto writing = exchange.write(std::move(ready));
  Status written = co_await std::move(writing);
  co_return written;
}

// Writes events until the stream ends or the client disconnects.
Task<void> pump(Exchange& exchange, WatchStream& stream, Encoder& encoder) {
  const OriginExecutor origin;
  std::vector<SharedBytes> frames;
  bool more = true;
  while (more) {
    Result<std::vector<WatchEvent>> batch;
    std::exception_ptr bug;
    try {
      batch = co_await stream.next();
    } catch (...) {
      bug = std::current_exception();
    }
    co_await origin;
    if (bug) std::rethrow_exception(bug);
    if (!batch.ok()) {
      encoder.append_error(batch.status(), frames);
      more = false;
    } else {
      if (batch->empty()) break;
      frames.reserve(batch->size());
      for (const WatchEvent& event : *batch) {
        Status made = encoder.append(event, frames);
        if (!made.ok()) {
          encoder.append_error(made, frames);
          more = false;
          break;
        }
        if (encoder.turn_over()) co_await Yield{};
        if (encoder.made_bytes < kMadeBytes) continue;
        Status written = co_await send_frames(exchange, encoder, frames);
        if (!written.ok()) co_return;
      }
    }
    if (frames.empty()) continue;
    Status written = co_await send_frames(exchange, encoder, frames);
    if (!written.ok()) co_return;
  }
}

// Returns true if the history has expired. This error is sent as an ERROR event, which clients expect from a watch cache.
bool sent_in_stream(const Status& status) noexcept { return status.reason() == Reason::kExpired || status.reason() == Reason::kGone; }

// A stream that returns only the error with which the watch was opened.
class Refused final : public WatchStream {
 public:
  explicit Refused(Status why) : why_(std::move(why)) {}
  Task<Result<std::vector<WatchEvent>>> next() override { co_return why_; }
  void cancel() override {}

 private:
  Status why_;
};

Task<void> stream_chunks(Exchange& exchange, std::shared_ptr<WatchStream> stream, Encoder& encoder) {
  Status started = co_await exchange.start(200, encoder.media.codec->stream_type());
  if (!started.ok()) co_return;
  co_await pump(exchange, *stream, encoder);
  co_await exchange.finish();
}

Task<void> stream_messages(Exchange& exchange, std::shared_ptr<WatchStream> stream, Encoder& encoder) {
  WebSocket socket(exchange);
  encoder.framed = true;
  bool open = co_await socket.open();
  if (!open) co_return;
  socket.listen([stream] { stream->cancel(); });
  std::exception_ptr error;
  try {
    co_await pump(exchange, *stream, encoder);
  } catch (...) {
    error = std::current_exception();
    exchange.abort();
  }
  co_await socket.end();  // waits for the listener, which uses local objects
  if (error) std::rethrow_exception(error);
}

}  // namespace

Task<Status> serve_watch(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto plan = make_plan(resource, context, exchange);
  if (!plan.ok()) co_return std::move(plan.status());
  auto opening = resource.watcher->watch(context, std::move(plan->options));
  auto opened = co_await std::move(opening);
  co_await origin;
  if (!opened.ok()) {
    if (!sent_in_stream(opened.status())) co_return std::move(opened.status());
    std::unique_ptr<WatchStream> refused = std::make_unique<Refused>(std::move(opened.status()));
    opened = std::move(refused);
  }
  std::shared_ptr<WatchStream> stream = std::move(*opened);
  plan->encoder.counts.begin(resource.scope.resource);
  const Ending ending(resource, exchange, stream, plan->timeout);
  add_warning_headers(context, exchange);
  if (is_websocket_request(exchange)) {
    co_await stream_messages(exchange, stream, plan->encoder);
  } else {
    co_await stream_chunks(exchange, stream, plan->encoder);
  }
  co_return Status();
}

}  // namespace backplane::endpoints
