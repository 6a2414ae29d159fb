#include <deque>
#include <mutex>

#include "net/grpc/calls.hpp"
#include "net/grpc/frames.hpp"
#include "net/grpc/status.hpp"

namespace backplane::grpc {
namespace {

constexpr std::size_t kMaxUnsent = 256 * 1024;

// The queue of messages for the request's body.
class Outbox final : public BodySource {
 public:
  // Queues a message. Returns false if the call has ended.
  Task<bool> write(std::string_view message) {
    Promise<bool> room;
    {
      const std::lock_guard lock(mutex_);
      if (ended_ || done_) co_return false;
      append_frame(unsent_, message);
      changed_.set(true);
      if (unsent_.size() < kMaxUnsent) co_return true;
      room_ = room;
    }
    const bool sent = co_await room.future();
    co_return sent;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.set(true);
  }
  // Stops sending. A waiting write() and a waiting next() return.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.set(true);
    room_.set(false);
  }

  Task<Result<std::string>> next() override {
    for (;;) {
      Promise<bool> changed;
      {
        const std::lock_guard lock(mutex_);
        if (!unsent_.empty() && !ended_) {
          room_.set(true);
          co_return std::exchange(unsent_, std::string());
        }
        if (done_ || ended_) co_return std::string();
        changed_ = changed;
      }
      const bool more = co_await changed.future();
      static_cast<void>(more);
    }
  }

 private:
  std::mutex mutex_;
  std::string unsent_;
  bool done_ = false, ended_ = false;
  Promise<bool> changed_, room_;
};

class HttpStream final : public Stream {
 public:
  explicit HttpStream(std::size_t max_message_bytes) : frames_(max_message_bytes) {}
  ~HttpStream() override { cancel(); }

  // Makes the call. It is separate from the stream, which may be destroyed during the call.
  struct Opening {
    std::shared_ptr<Outbox> outbox = std::make_shared<Outbox>();
    std::shared_ptr<CallBreaker> breaker;
    Promise<std::shared_ptr<Result<std::unique_ptr<HttpAnswer>>>> head;
  };
  static Task<void> open(std::shared_ptr<HttpClient> client, HttpCall call, Opening opening) {
    auto head = std::make_shared<Result<std::unique_ptr<HttpAnswer>>>();
    try {
      auto calling = client->call(std::move(call));
      *head = co_await std::move(calling);
    } catch (const std::exception& thrown) {
      *head = internal_error(thrown.what());
    }
    if (!head->ok()) opening.outbox->end();
    opening.head.set(std::move(head));
  }
  const Opening& opening() const noexcept { return opening_; }
  void set_breaker(std::shared_ptr<CallBreaker> breaker) { opening_.breaker = std::move(breaker); }

  Task<bool> write(std::string message) override {
    const auto outbox = opening_.outbox;
    auto writing = outbox->write(message);
    const bool written = co_await std::move(writing);
    co_return written;
  }
  void writes_done() override { opening_.outbox->done(); }
  Task<std::optional<std::string>> read() override;
  const CallStatus& status() const noexcept override { return status_; }
  void cancel() override {
    opening_.breaker->break_off(Status(499, Reason::kNone, "context canceled"));
    opening_.outbox->end();
  }

 private:
  void end(CallStatus status) {
    status_ = std::move(status);
    ended_ = true;
    opening_.outbox->end();
  }
  static CallStatus failure(const Status& failed) {
    return failed.code() == 499 ? CallStatus(Code::kCancelled, failed.message()) : status_of_failure(failed);
  }

  Opening opening_;
  std::unique_ptr<HttpAnswer> answer_;  // set when the response head has been read
  FrameReader frames_;
  CallStatus status_;
  bool ended_ = false;
};

Task<std::optional<std::string>> HttpStream::read() {
  if (!answer_ && !ended_) {
    const auto head = co_await opening_.head.future();
    if (head->ok()) {
      answer_ = std::move(**head);
    } else {
      end(failure(head->status()));
    }
  }
  while (!ended_) {
    if (auto message = frames_.take()) co_return message;
    if (frames_.problem()) {
      opening_.breaker->break_off(internal_error(frames_.problem()->message));
      end(*frames_.problem());
      break;
    }
    auto reading = answer_->read();
    Result<std::string> piece = co_await std::move(reading);
    if (!piece.ok()) {
      end(failure(piece.status()));
    } else if (piece->empty()) {
      end(status_of(fields_of(*answer_)));
    } else if (carries_messages(fields_of(*answer_))) {
      frames_.add(std::move(*piece));
    }
  }
  co_return std::nullopt;
}

}  // namespace

Stream::~Stream() = default;

std::shared_ptr<Stream> open_stream(std::shared_ptr<HttpClient> client, std::string method, CallOptions options) {
  auto stream = std::make_shared<HttpStream>(options.max_message_bytes);
  if (!options.breaker) options.breaker = std::make_shared<CallBreaker>();
  stream->set_breaker(options.breaker);
  HttpCall call = call_of(std::move(method), std::move(options));
  call.lasting = true;
  call.body_source = stream->opening().outbox;
  spawn_detached(*current_executor(), HttpStream::open(std::move(client), std::move(call), stream->opening()));
  return stream;
}

}  // namespace backplane::grpc
