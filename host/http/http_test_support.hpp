// For tests: an executor whose functions run when run() is called, a handler with one path for each behaviour, and an HTTP/2 client without
// a socket.
//
// Thread-safety: each object is used on one thread, except for TestHandler's atomic counters.
#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <thread>

#include "backplane/core/request.hpp"
#include "backplane/core/task.hpp"
#include "backplane/points/http.hpp"

namespace backplane::test {

// Runs the posted functions when run() is called, on the caller's thread.
class ManualExecutor final : public Executor {
 public:
  void post(std::function<void()> work) override { work_.push_back(std::move(work)); }
  void post(std::coroutine_handle<> frame) override {
    work_.push_back([frame] { frame.resume(); });
  }
  std::function<void()> after(std::chrono::nanoseconds, std::function<void()>) override {
    return [] {};
  }
  void run() {
    while (!work_.empty()) {
      auto next = std::move(work_.front());
      work_.pop_front();
      next();
    }
  }

 private:
  std::deque<std::function<void()>> work_;
};

inline std::vector<SharedBytes> one_chunk(std::string text) {
  std::vector<SharedBytes> chunks;
  chunks.push_back(SharedBytes(std::move(text)));
  return chunks;
}

// set() resumes all coroutines that wait in wait().
class Release {
 public:
  void set(bool) {
    std::vector<Promise<bool>> waiting;
    {
      std::lock_guard lock(mutex_);
      released_ = true;
      waiting.swap(waiting_);
    }
    for (auto& promise : waiting) promise.set(true);
  }
  Task<void> wait() {
    Promise<bool> mine;
    {
      std::lock_guard lock(mutex_);
      if (released_) co_return;
      waiting_.push_back(mine);
    }
    co_await mine.future();
  }

 private:
  std::mutex mutex_;
  bool released_ = false;
  std::vector<Promise<bool>> waiting_;
};

// Paths: /hello /echo /count /stream /hold /busy /endless /pair /large /close /throw /unfinished /cert. If `foreign` is set, also
// /other-executor and /other-executor/stream.
class TestHandler final : public HttpHandler {
 public:
  std::size_t max_body = 1 << 20;
  Executor* foreign = nullptr;
  std::atomic<int> wrong_executor_calls{0};  // how often an awaited call did not resume on the connection's executor
  std::size_t large_size = 400'000;
  std::atomic<int> calls{0};
  std::atomic<int> closes{0};
  std::atomic<int> ended{0};
  std::atomic<std::size_t> endless_written{0};
  Promise<bool> held;        // set when /hold has begun
  Release release;           // the test sets it to let /hold respond
  Promise<bool> closed;      // set when an exchange was notified that its peer has disconnected
  Promise<bool> found_gone;  // set by /busy: true if peer_gone() has become true before closed()
  // If true, /count waits for `step` before it reads each piece of its body.
  bool stepwise = false;
  Promise<bool> step;
  std::size_t counted = 0;
  std::size_t largest_piece = 0;
  Status count_failure;

  Task<void> handle(RequestContext&, Exchange& exchange) override {
    ++calls;
    const std::string path(exchange.target());
    if (path == "/echo") {
      co_await echo(exchange);
    } else if (path == "/count") {
      co_await count(exchange);
    } else if (path == "/stream") {
      co_await stream(exchange);
    } else if (path == "/hold") {
      co_await hold(exchange);
    } else if (path == "/busy") {
      co_await busy(exchange);
    } else if (path == "/endless") {
      co_await endless(exchange);
    } else if (path == "/pair") {
      co_await pair(exchange);
    } else if (path == "/other-executor") {
      co_await respond_from_other_executor(exchange);
    } else if (path == "/other-executor/stream") {
      co_await stream_from_other_executor(exchange);
    } else if (path == "/throw") {
      throw std::runtime_error("thrown on purpose");
    } else if (path == "/unfinished") {
      co_await unfinished(exchange);
    } else {
      co_await answer(exchange, path);
    }
    ++ended;
  }

 private:
  Task<void> answer(Exchange& exchange, std::string path) {
    std::string text = "hello";
    if (path == "/large") text = std::string(large_size, 'x');
    if (path == "/close") exchange.close_connection_after();
    if (path == "/cert") text = describe_peer(exchange);
    exchange.add_response_header("x-test", "yes");
    auto body = one_chunk(std::move(text));
    co_await exchange.respond(200, "text/plain", std::move(body));
  }
  static std::string describe_peer(Exchange& exchange) {
    if (exchange.peer_certificate_rejected()) return "rejected";
    const auto* peer = exchange.peer_certificate();
    if (peer == nullptr) return "none";
    std::string text = peer->common_name;
    for (const auto& organization : peer->organizations) text += "/" + organization;
    return text;
  }
  Task<void> echo(Exchange& exchange) {
    auto body = co_await exchange.read_body(max_body);
    const int code = body.ok() ? 200 : body.status().code();
    auto chunks = one_chunk(body.ok() ? *body : body.status().message());
    co_await exchange.respond(code, "text/plain", std::move(chunks));
  }
  Task<void> count(Exchange& exchange) {
    for (bool more = true; more;) {
      if (stepwise) {
        step = Promise<bool>();
        const bool go = co_await step.future();
        (void)go;
      }
      auto some = co_await exchange.read_body_some();
      if (!some.ok()) {
        count_failure = some.status();
        break;
      }
      more = !some->empty();
      counted += some->size();
      largest_piece = std::max(largest_piece, some->size());
    }
    auto body = one_chunk(std::to_string(counted));
    co_await exchange.respond(200, "text/plain", std::move(body));
  }
  // The handler makes each call from another executor, and ends there.
  Task<void> respond_from_other_executor(Exchange& exchange) {
    const Executor* const home = current_executor();
    co_await resume_on(*foreign);
    auto body = co_await exchange.read_body(max_body);
    if (current_executor() != home) ++wrong_executor_calls;
    exchange.add_response_header("x-test", "yes");
    co_await resume_on(*foreign);
    auto chunks = one_chunk(body.ok() ? *body : body.status().message());
    co_await exchange.respond(200, "text/plain", std::move(chunks));
    if (current_executor() != home) ++wrong_executor_calls;
    co_await resume_on(*foreign);
  }
  Task<void> stream_from_other_executor(Exchange& exchange) {
    const Executor* const home = current_executor();
    co_await resume_on(*foreign);
    const Status begun = co_await exchange.start(200, "text/plain");
    if (current_executor() != home) ++wrong_executor_calls;
    for (int i = 0; begun.ok() && i < 30; ++i) {
      co_await resume_on(*foreign);
      auto chunk = one_chunk(std::string(10'000, 's'));
      const Status written = co_await exchange.write(std::move(chunk));
      if (current_executor() != home) ++wrong_executor_calls;
      if (!written.ok()) co_return;
    }
    co_await resume_on(*foreign);
    co_await exchange.finish();
    if (current_executor() != home) ++wrong_executor_calls;
    co_await resume_on(*foreign);
  }
  Task<void> stream(Exchange& exchange) {
    const Status begun = co_await exchange.start(200, "text/plain");
    for (int i = 0; begun.ok() && i < 3; ++i) {
      auto chunk = one_chunk("part" + std::to_string(i) + "\n");
      const Status written = co_await exchange.write(std::move(chunk));
      if (!written.ok()) co_return;
    }
    co_await exchange.finish();
  }
  Task<void> hold(Exchange& exchange) {
    const CloseSubscription subscription = exchange.on_close([this] {
      ++closes;
      closed.set(true);
    });
    held.set(true);
    co_await release.wait();
    auto body = one_chunk("released");
    co_await exchange.respond(200, "text/plain", std::move(body));
  }
  // Blocks its executor until the peer disconnects.
  Task<void> busy(Exchange& exchange) {
    bool gone = exchange.peer_gone();
    held.set(!gone);
    for (int looks = 0; !gone && looks < 10'000; ++looks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      gone = exchange.peer_gone();
    }
    found_gone.set(gone && !exchange.closed());
    auto body = one_chunk("no client reads this");
    co_await exchange.respond(200, "text/plain", std::move(body));
  }
  // Writes until the peer disconnects.
  Task<void> endless(Exchange& exchange) {
    const CloseSubscription subscription = exchange.on_close([this] {
      ++closes;
      closed.set(true);
    });
    Status status = co_await exchange.start(200, "application/octet-stream");
    while (status.ok()) {
      auto chunk = one_chunk(std::string(64 << 10, 'e'));
      status = co_await exchange.write(std::move(chunk));
      if (status.ok()) endless_written += 64 << 10;
    }
  }
  // Two concurrent writers, like the events of a watch and the pongs of a WebSocket.
  Task<void> pair(Exchange& exchange) {
    Promise<bool> other;
    const Status begun = co_await exchange.start(200, "application/octet-stream");
    if (!begun.ok()) co_return;
    spawn_detached(*current_executor(), write_on(exchange), [other] { other.set(true); });
    co_await write_on(exchange);
    co_await other.future();
  }
  Task<void> write_on(Exchange& exchange) {
    Status status;
    while (status.ok()) {
      auto chunk = one_chunk(std::string(64 << 10, 'p'));
      status = co_await exchange.write(std::move(chunk));
    }
  }
  Task<void> unfinished(Exchange& exchange) {
    const Status begun = co_await exchange.start(200, "text/plain");
    auto chunk = one_chunk("half");
    if (begun.ok()) {
      const Status written = co_await exchange.write(std::move(chunk));
      (void)written;
    }
  }
};

// The client side of an HTTP/2 connection, without a socket.
class H2Client {
 public:
  struct Response {
    int code = 0;
    Headers headers;
    std::string body;
    bool closed = false;
    std::uint32_t error = 0;
    std::string_view header(std::string_view name) const {
      for (const auto& [key, value] : headers) {
        if (key == name) return value;
      }
      return {};
    }
  };
  std::map<std::int32_t, Response> responses;
  std::map<std::int32_t, std::uint32_t> settings;  // the settings that the server has sent
  std::vector<std::int32_t> goaways;               // the last stream ID of each GOAWAY, in order
  std::uint32_t goaway_error = 0;

  // `manual_windows`: windows are extended by consume() only.
  explicit H2Client(bool manual_windows = false) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_option* option = nullptr;
    nghttp2_option_new(&option);
    nghttp2_option_set_no_auto_window_update(option, manual_windows ? 1 : 0);
    nghttp2_session_client_new2(&session_, callbacks, this, option);
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  ~H2Client() { nghttp2_session_del(session_); }
  H2Client(const H2Client&) = delete;
  H2Client& operator=(const H2Client&) = delete;

  std::int32_t request(std::string method, std::string path, Headers headers = {}, std::string body = {}) {
    std::vector<nghttp2_nv> pairs;
    const Headers pseudo = {{":method", std::move(method)}, {":path", std::move(path)}, {":scheme", "https"}, {":authority", "test"}};
    for (const auto& header : pseudo) pairs.push_back(pair_of(header));
    for (const auto& header : headers) pairs.push_back(pair_of(header));
    nghttp2_data_provider provider{};
    auto upload = std::make_unique<Upload>(Upload{std::move(body), 0});
    provider.source.ptr = upload.get();
    provider.read_callback = read_upload;
    const std::int32_t id =
        nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(), upload->text.empty() ? nullptr : &provider, nullptr);
    uploads_.push_back(std::move(upload));
    responses[id];
    return id;
  }
  void reset(std::int32_t id) { nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL); }
  void consume(std::int32_t id) {
    nghttp2_session_consume(session_, id, unconsumed_[id]);
    unconsumed_[id] = 0;
  }
  nghttp2_session* session() { return session_; }

  bool receive(std::string_view bytes) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) >= 0;
  }
  std::string output() {
    std::string out;
    const std::uint8_t* data = nullptr;
    for (ssize_t size = 0; (size = nghttp2_session_mem_send(session_, &data)) > 0;) out.append(reinterpret_cast<const char*>(data), size);
    return out;
  }

 private:
  struct Upload {
    std::string text;
    std::size_t offset;
  };
  static nghttp2_nv pair_of(const Header& header) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(header.first.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(header.second.data())), header.first.size(), header.second.size(),
            NGHTTP2_NV_FLAG_NONE};
  }
  static H2Client& self(void* user) { return *static_cast<H2Client*>(user); }
  static ssize_t read_upload(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t room, std::uint32_t* flags,
                             nghttp2_data_source* source, void*) {
    auto& upload = *static_cast<Upload*>(source->ptr);
    const std::size_t count = std::min(room, upload.text.size() - upload.offset);
    std::copy_n(upload.text.data() + upload.offset, count, out);
    upload.offset += count;
    if (upload.offset == upload.text.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(count);
  }
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* user) {
    auto& response = self(user).responses[frame->hd.stream_id];
    std::string key(reinterpret_cast<const char*>(name), name_size);
    std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") response.code = std::stoi(text);
    response.headers.emplace_back(std::move(key), std::move(text));
    return 0;
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size, void* user) {
    self(user).responses[id].body.append(reinterpret_cast<const char*>(data), size);
    self(user).unconsumed_[id] += size;
    return 0;
  }
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) {
    self(user).responses[id].closed = true;
    self(user).responses[id].error = error;
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      self(user).goaways.push_back(frame->goaway.last_stream_id);
      self(user).goaway_error = frame->goaway.error_code;
    }
    if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
      for (std::size_t i = 0; i < frame->settings.niv; ++i)
        self(user).settings[frame->settings.iv[i].settings_id] = frame->settings.iv[i].value;
    }
    return 0;
  }

  nghttp2_session* session_ = nullptr;
  std::vector<std::unique_ptr<Upload>> uploads_;
  std::map<std::int32_t, std::size_t> unconsumed_;
};

}  // namespace backplane::test
