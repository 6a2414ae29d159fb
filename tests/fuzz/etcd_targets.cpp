#include "etcd_targets.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>

#include "backplane/net/grpc.hpp"
#include "base/io_loop.hpp"
#include "base/task_group.hpp"
#include "client/remote_client.hpp"
#include "etcd_storage.hpp"
#include "require.hpp"
#include "storage/storage_test_kit.hpp"

namespace backplane::fuzz {
namespace {

constexpr std::uint8_t kHeaders = 1, kEndStream = 1;
constexpr std::size_t kFrameHead = 9, kPreface = 24;
constexpr std::size_t kMostAnswer = 16'000;  // responses are cut to this size, so that they fit into one frame

std::string number(std::size_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
  return out;
}
std::string frame(char type, char flags, std::uint32_t stream, const std::string& payload) {
  return number(payload.size(), 3) + type + flags + number(stream, 4) + payload;
}
std::string field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}
std::string beginning(std::uint32_t stream) {
  return frame(kHeaders, 4, stream, field(":status", "200") + field("content-type", "application/grpc"));
}
std::string ending(std::uint32_t stream, const std::string& status) {
  return frame(kHeaders, 5, stream, field("grpc-status", status) + field("grpc-message", "no%20leader"));
}
std::string data(std::uint32_t stream, const std::string& message) {
  return frame(0, 0, stream, std::string(1, '\0') + number(message.size(), 4) + message);
}
// The server's SETTINGS, and its acknowledgement of the client's.
std::string settings() { return frame(4, 0, 0, "") + frame(4, 1, 0, ""); }
// Extends the window of the connection by more than a request of the store has.
std::string more_room() { return frame(8, 0, 0, number(1 << 16, 4)); }

// The listening socket for the client, and an accepted connection.
class Listener {
 public:
  Listener()
      : path_("/tmp/etcd_fuzz." + std::to_string(getpid()) + "." + std::to_string(++made_)), socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    FUZZ_REQUIRE(path_.copy(address.sun_path, sizeof address.sun_path - 1) == path_.size());
    FUZZ_REQUIRE(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && listen(socket_, 8) == 0);
  }
  ~Listener() {
    close(socket_);
    unlink(path_.c_str());
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  etcd::Endpoint endpoint() const { return {"unix:" + path_, "unix://" + path_, false}; }
  int take() const { return accept(socket_, nullptr, nullptr); }

 private:
  static inline int made_ = 0;
  const std::string path_;
  const int socket_;
};

bool write_bytes(int socket, std::string_view bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}
std::optional<std::string> read_bytes(int socket, std::size_t size) {
  std::string out(size, '\0');
  if (size > 0 && recv(socket, out.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) return std::nullopt;
  return out;
}
// Reads frames until the headers of a request are complete. Returns its stream number; nullopt: the client has disconnected.
std::optional<std::uint32_t> read_request(int socket) {
  for (;;) {
    const auto head = read_bytes(socket, kFrameHead);
    if (!head) return std::nullopt;
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>((*head)[i])); };
    if (!read_bytes(socket, at(0) << 16U | at(1) << 8U | at(2))) return std::nullopt;
    if (at(3) == kHeaders) return at(5) << 24U | at(6) << 16U | at(7) << 8U | at(8);
  }
}

// The state and the result of a running call.
struct Heard {
  std::size_t messages = 0, size = 0;
  std::shared_ptr<CallBreaker> breaker = std::make_shared<CallBreaker>();
  std::binary_semaphore ended{0};

  void add(const std::string& message) {
    ++messages;
    size += message.size();
  }
};

Task<void> ask(std::shared_ptr<HttpClient> client, Heard& heard) {
  grpc::CallOptions options;
  options.breaker = heard.breaker;
  auto asking = grpc::unary(std::move(client), "/etcdserverpb.KV/Range", "ask", std::move(options));
  const grpc::UnaryAnswer answer = co_await std::move(asking);
  if (answer.status.ok()) heard.add(answer.message);
  heard.ended.release();
}

Task<void> follow(std::shared_ptr<HttpClient> client, Heard& heard) {
  grpc::CallOptions options;
  options.breaker = heard.breaker;
  const auto stream = grpc::open_stream(std::move(client), "/etcdserverpb.Watch/Watch", std::move(options));
  auto writing = stream->write("watch");
  const bool written = co_await std::move(writing);
  static_cast<void>(written);
  for (;;) {
    auto reading = stream->read();
    const std::optional<std::string> message = co_await std::move(reading);
    if (!message) break;
    heard.add(*message);
  }
  heard.ended.release();
}

// A server that responds to every request with the bytes of the input, and a store that uses it.
class Answering {
 public:
  Answering() : serving_([this] { serve(); }) {
    etcd::Settings settings;
    settings.endpoints = {listener_.endpoint()};
    settings.size_age = std::chrono::nanoseconds::zero();
    loop.start();
    const auto make_client = [this](ClientConfig config) { return make_remote_client(loop, tasks, std::move(config)); };
    store = open_etcd_storage(std::move(settings), {make_client, &loop}).value();
  }
  void answer_with(std::string bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = std::move(bytes);
  }
  IoLoop loop{"fuzz"};
  LoggedTaskGroup tasks;
  std::unique_ptr<StorageBackend> store;

 private:
  void serve() {
    for (;;) {
      const int socket = listener_.take();
      if (read_bytes(socket, kPreface) && write_bytes(socket, settings())) {
        while (const auto stream = read_request(socket)) {
          const std::lock_guard lock(mutex_);
          if (!write_bytes(socket, more_room() + beginning(*stream) + data(*stream, bytes_) + ending(*stream, "0"))) break;
        }
      }
      close(socket);
    }
  }
  Listener listener_;
  std::mutex mutex_;
  std::string bytes_;
  std::thread serving_;
};

}  // namespace

void etcd_channel(std::string_view bytes) {
  // Each input has a separate listener. A refused call connects again; with a shared listener, the next input would accept that connection.
  const Listener listener;
  IoLoop loop("channel");
  LoggedTaskGroup tasks;
  loop.start();
  ClientConfig config;
  config.server = listener.endpoint().shown;
  config.http2_prior_knowledge = true;
  auto client = make_remote_client(loop, tasks, std::move(config)).value();
  Heard read, watch;
  spawn_detached(loop, ask(client, read));
  spawn_detached(loop, follow(client, watch));
  const int socket = listener.take();
  const bool asked = read_bytes(socket, kPreface) && write_bytes(socket, settings()) && read_request(socket) && read_request(socket);
  FUZZ_REQUIRE(asked);
  write_bytes(socket, bytes);
  shutdown(socket, SHUT_WR);
  // Reads until the client has closed the connection. A refused call then waits for a new connection.
  std::array<char, 4096> rest;
  while (recv(socket, rest.data(), rest.size(), 0) > 0) {
  }
  close(socket);
  for (Heard* heard : {&read, &watch}) {
    heard->breaker->break_off(service_unavailable("the end"));
    FUZZ_REQUIRE(heard->ended.try_acquire_for(std::chrono::seconds(20)));
  }
  client.reset();
  tasks.close();
  run_on(loop, tasks.wait_all());
  loop.stop();
  FUZZ_REQUIRE(read.messages <= 1);
  FUZZ_REQUIRE(read.size + watch.size <= bytes.size());
}

void etcd_answers(std::string_view bytes) {
  static Answering& etcd = *new Answering;
  if (bytes.empty()) return;
  etcd.answer_with(std::string(bytes.substr(1, kMostAnswer)));
  StorageBackend& store = *etcd.store;
  const auto kind = static_cast<unsigned char>(bytes[0]) % 4;
  if (kind == 0) {
    RangeRequest request;
    request.start = "/registry/a";
    request.end = "/registry/b";
    (void)run_on(etcd.loop, store.range(std::move(request)));
  } else if (kind == 1) {
    TxnRequest request;
    request.compares.push_back({"/registry/a", 1});
    request.removes.emplace_back("/registry/a");
    (void)run_on(etcd.loop, store.txn(std::move(request)));
  } else if (kind == 2) {
    (void)run_on(etcd.loop, store.compact(1));
  } else {
    (void)run_on(etcd.loop, store.grant_lease(std::chrono::seconds(1)));
  }
}

std::string etcd_channel_seed() {
  return beginning(1) + beginning(3) + data(3, "event") + data(1, "answer") + frame(6, 0, 0, "12345678") + ending(1, "0") + data(3, "") +
         ending(3, "14");
}
std::string etcd_leaving_seed() {
  return beginning(1) + frame(7, 0, 0, number(1, 4) + number(0, 4)) + frame(8, 0, 0, number(1024, 4)) + frame(3, 0, 3, number(7, 4)) +
         frame(0, kEndStream, 1, "<html>");
}
std::string etcd_answer_seed(char kind) {
  const std::string header = "\x0a\x08\x08\x01\x10\x02\x18\x03\x20\x04";
  const std::string kv = "\x0a\x0b/registry/a\x10\x02\x18\x03\x20\x01\x2a\x01v";
  const std::string kvs = std::string("\x12") + static_cast<char>(kv.size()) + kv;
  if (kind == 0) return kind + header + kvs + "\x20\x01";
  const std::string range = header + kvs;
  const std::string response = std::string("\x0a") + static_cast<char>(range.size()) + range;
  if (kind == 1 || kind == 2) return kind + header + "\x1a" + static_cast<char>(response.size()) + response;
  return kind + header + "\x10\x07\x18\x01";
}

}  // namespace backplane::fuzz
