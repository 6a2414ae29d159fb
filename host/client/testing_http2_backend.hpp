// A test server for HTTP/2 without TLS, over TCP or a Unix socket, as gRPC servers use it. The path of a request selects the response.
//
// Thread-safety: the server runs on its own thread; the public methods may be called from any other thread.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace backplane::test {

class Http2Backend {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  // If `path` is empty, the server listens on TCP.
  explicit Http2Backend(std::string path = {}) : path_(std::move(path)) {
    listener_ = socket(path_.empty() ? AF_INET : AF_UNIX, SOCK_STREAM, 0);
    if (path_.empty()) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      socklen_t size = sizeof address;
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
      port_ = ntohs(address.sin_port);
    } else {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
      EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    EXPECT_EQ(listen(listener_, 16), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~Http2Backend() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string url() const { return path_.empty() ? "http://127.0.0.1:" + std::to_string(port_) : "unix://" + path_; }

  // The header fields of the newest request.
  Fields last_request() {
    const std::lock_guard lock(mutex_);
    return request_;
  }
  std::size_t sent_bytes() const { return sent_.load(); }
  int pings() const { return pings_.load(); }
  int connections() const { return connections_.load(); }
  // Waits until the client has reset a stream.
  void wait_reset() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reset_; });
  }
  // Stops responding, to PINGs too, as if the server's machine were unreachable.
  void stop_responding() { silent_ = true; }

 private:
  struct Call {
    Http2Backend* backend = nullptr;
    std::string path;
    std::string out;  // the response bytes that are not sent yet
    std::string in;
    bool begun = false, deferred = false, input_ended = false, endless = false;
    Fields trailers;
  };
  struct Connection {
    Http2Backend* backend = nullptr;
    nghttp2_session* session = nullptr;
    int fd = -1;
    std::map<std::int32_t, Call> calls;
  };
  static Connection& of(void* data) { return *static_cast<Connection*>(data); }
  static nghttp2_nv field(const std::string& name, const std::string& value) {
    const auto bytes = [](const std::string& text) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data())); };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }
  static std::vector<nghttp2_nv> rows(const Fields& fields) {
    std::vector<nghttp2_nv> out;
    for (const auto& [name, value] : fields) out.push_back(field(name, value));
    return out;
  }

  static ssize_t body(nghttp2_session* session, std::int32_t stream, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                      nghttp2_data_source* source, void*) {
    Call& call = *static_cast<Call*>(source->ptr);
    if (call.endless) call.out.resize(std::max<std::size_t>(call.out.size(), size), '\0');
    const std::size_t count = std::min(size, call.out.size());
    std::memcpy(buffer, call.out.data(), count);
    call.out.erase(0, count);
    call.backend->sent_ += count;
    if (call.out.empty() && call.input_ended && !call.endless) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const auto trailers = rows(call.trailers);
      nghttp2_submit_trailer(session, stream, trailers.data(), trailers.size());
    } else if (count == 0) {
      call.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(count);
  }
  static void begin(Connection& on, std::int32_t stream, Call& call) {
    call.begun = true;
    const Fields fields = {{":status", "200"}, {"content-type", "application/grpc"}, {"x-test", "yes"}};
    const auto names = rows(fields);
    nghttp2_data_provider provider{};
    provider.source.ptr = &call;
    provider.read_callback = body;
    nghttp2_submit_response(on.session, stream, names.data(), names.size(), &provider);
  }
  static void answer_whole(Connection& on, std::int32_t stream, const Fields& fields) {
    const auto names = rows(fields);
    nghttp2_submit_response(on.session, stream, names.data(), names.size(), nullptr);
  }
  // The request's header fields have arrived.
  static void requested(Connection& on, std::int32_t stream) {
    Call& call = on.calls[stream];
    call.backend = on.backend;
    call.trailers = {{"grpc-status", "0"}, {"x-trailer", "last"}};
    // The server never extends the windows of "/deaf", so the client cannot send the whole body.
    if (call.path == "/refused" || call.path == "/deaf")
      answer_whole(on, stream,
                   {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "7"}, {"grpc-message", "not%20you"}});
    if (call.path == "/page") answer_whole(on, stream, {{":status", "404"}, {"content-type", "text/html"}});
    if (call.path == "/reset") nghttp2_submit_rst_stream(on.session, 0, stream, NGHTTP2_REFUSED_STREAM);
    call.endless = call.path == "/endless";
    if (call.path == "/stream" || call.endless) begin(on, stream, call);
  }
  static void got(Connection& on, std::int32_t stream, const std::string& bytes) {
    Call& call = on.calls[stream];
    if (call.path == "/stream") {
      call.out += bytes;
    } else {
      call.in += bytes;
    }
    resume(on, stream, call);
  }
  static void resume(Connection& on, std::int32_t stream, Call& call) {
    if (call.begun && std::exchange(call.deferred, false)) nghttp2_session_resume_data(on.session, stream);
  }
  static void ended(Connection& on, std::int32_t stream) {
    Call& call = on.calls[stream];
    call.input_ended = true;
    if (call.path == "/unary" || call.path == "/compressed" || call.path == "/twice" || call.path == "/none") {
      if (call.path != "/none") call.out = call.in;
      if (call.path == "/twice") call.out += call.in;
      if (call.path == "/compressed") call.out[0] = '\1';
      begin(on, stream, call);
    }
    if (call.path == "/late") {
      call.trailers = {{"grpc-status", "13"}, {"grpc-message", "after the message"}};
      call.out = call.in;
      begin(on, stream, call);
    }
    resume(on, stream, call);
  }

  static nghttp2_session* session_of(Connection& on) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* data) {
          const std::string key(reinterpret_cast<const char*>(name), name_size);
          const std::string text(reinterpret_cast<const char*>(value), value_size);
          if (key == ":path") of(data).calls[frame->hd.stream_id].path = text;
          const std::lock_guard lock(of(data).backend->mutex_);
          if (key == ":method") of(data).backend->request_.clear();
          of(data).backend->request_.emplace_back(key, text);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* data) {
      if (frame->hd.type == NGHTTP2_HEADERS) requested(of(data), frame->hd.stream_id);
      if (frame->hd.type == NGHTTP2_PING) ++of(data).backend->pings_;
      const bool carries = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
      if (carries && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) ended(of(data), frame->hd.stream_id);
      if (frame->hd.type == NGHTTP2_RST_STREAM) {
        const std::lock_guard lock(of(data).backend->mutex_);
        of(data).backend->reset_ = true;
        of(data).backend->changed_.notify_all();
      }
      return 0;
    });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* bytes, std::size_t size, void* data) {
          got(of(data), stream, std::string(reinterpret_cast<const char*>(bytes), size));
          if (of(data).calls[stream].path != "/deaf") nghttp2_session_consume(of(data).session, stream, size);
          return 0;
        });
    nghttp2_option* options = nullptr;
    nghttp2_option_new(&options);
    nghttp2_option_set_no_auto_window_update(options, 1);
    nghttp2_session* session = nullptr;
    nghttp2_session_server_new2(&session, callbacks, &on, options);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session, 0, nullptr, 0);
    return session;
  }
  bool serve(Connection& on) {
    char buffer[16384];
    const ssize_t count = recv(on.fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return false;
    if (silent_) return true;
    if (count > 0 && nghttp2_session_mem_recv(on.session, reinterpret_cast<std::uint8_t*>(buffer), static_cast<std::size_t>(count)) < 0)
      return false;
    for (;;) {
      const std::uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(on.session, &bytes);
      if (size <= 0) return true;
      if (::send(on.fd, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL) != size) return false;
    }
  }
  void run() {
    std::vector<std::unique_ptr<Connection>> all;
    while (!stopping_) {
      std::vector<pollfd> polled = {{listener_, POLLIN, 0}};
      for (const auto& each : all) polled.push_back({each->fd, POLLIN, 0});
      poll(polled.data(), polled.size(), 1000);
      if (stopping_) break;
      for (std::size_t i = all.size(); i > 0; --i) {
        if (polled[i].revents == 0 || serve(*all[i - 1])) continue;
        drop(*all[i - 1]);
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      }
      if (polled[0].revents == 0) continue;
      auto made = std::make_unique<Connection>();
      made->fd = accept(listener_, nullptr, nullptr);
      if (made->fd < 0) break;
      ++connections_;
      made->backend = this;
      made->session = session_of(*made);
      all.push_back(std::move(made));
    }
    for (const auto& each : all) drop(*each);
  }
  static void drop(Connection& on) {
    nghttp2_session_del(on.session);
    close(on.fd);
  }

  const std::string path_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_{false}, silent_{false};
  std::atomic<std::size_t> sent_{0};
  std::atomic<int> pings_{0}, connections_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  Fields request_;
  bool reset_ = false;
  std::thread thread_;
};

}  // namespace backplane::test
