#include "etcd_targets.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "base/io_loop.hpp"
#include "channel.hpp"
#include "etcd_storage.hpp"
#include "require.hpp"
#include "storage/storage_test_kit.hpp"
#include "wire_thread.hpp"

namespace backplane::fuzz {
namespace {

constexpr std::uint8_t kHeaders = 1, kEndStream = 1;
constexpr std::size_t kFrameHead = 9, kPreface = 24;
constexpr std::size_t kMostAnswer = 16'000;  // of one frame

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
// The server's settings, and that it has taken the client's.
std::string settings() { return frame(4, 0, 0, "") + frame(4, 1, 0, ""); }

// Where the client connects to, and a connection from there.
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

bool say(int socket, std::string_view bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}
std::optional<std::string> hear(int socket, std::size_t size) {
  std::string out(size, '\0');
  if (size > 0 && recv(socket, out.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) return std::nullopt;
  return out;
}
// The number of the stream of the next request whose headers have come; nothing: the client has gone.
std::optional<std::uint32_t> hear_request(int socket) {
  for (;;) {
    const auto head = hear(socket, kFrameHead);
    if (!head) return std::nullopt;
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>((*head)[i])); };
    if (!hear(socket, at(0) << 16U | at(1) << 8U | at(2))) return std::nullopt;
    if (at(3) == kHeaders) return at(5) << 24U | at(6) << 16U | at(7) << 8U | at(8);
  }
}

class Heard final : public etcd::CallListener {
 public:
  bool message(std::string bytes) override {
    const std::lock_guard lock(mutex_);
    FUZZ_REQUIRE(!ended_);
    ++messages;
    size += bytes.size();
    return messages % 3 != 0;
  }
  void ended(etcd::CallStatus) override {
    const std::lock_guard lock(mutex_);
    FUZZ_REQUIRE(!std::exchange(ended_, true));
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    FUZZ_REQUIRE(changed_.wait_for(lock, std::chrono::seconds(20), [this] { return ended_; }));
  }
  std::size_t messages = 0, size = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

// A server that answers every request with the bytes of the input, and the store that asks it.
class Answering {
 public:
  Answering() : serving_([this] { serve(); }) {
    etcd::Settings settings;
    settings.endpoints = {listener_.endpoint()};
    settings.size_age = std::chrono::nanoseconds::zero();
    store = open_etcd_storage(std::move(settings));
    loop.start();
  }
  void answer_with(std::string bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = std::move(bytes);
  }
  IoLoop loop{"fuzz"};
  std::unique_ptr<StorageBackend> store;

 private:
  void serve() {
    for (;;) {
      const int socket = listener_.take();
      if (hear(socket, kPreface) && say(socket, settings())) {
        while (const auto stream = hear_request(socket)) {
          const std::lock_guard lock(mutex_);
          if (!say(socket, beginning(*stream) + data(*stream, bytes_) + ending(*stream, "0"))) break;
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
  static const Listener listener;
  static constexpr etcd::Method kRange{"etcdserverpb.KV", "Range"};
  Heard read, watch;
  const auto wire = std::make_shared<etcd::WireThread>();
  const auto channel = etcd::Channel::make(wire, {}, listener.endpoint());
  channel->start({kRange, "ask", etcd::Channel::Clock::now() + std::chrono::seconds(60)}, read);
  channel->start({etcd::kWatchMethod, "watch", etcd::Channel::Clock::time_point::max(), true}, watch);
  const int socket = listener.take();
  const bool asked = hear(socket, kPreface) && say(socket, settings()) && hear_request(socket) && hear_request(socket);
  FUZZ_REQUIRE(asked);
  say(socket, bytes);
  shutdown(socket, SHUT_WR);
  read.wait();
  watch.wait();
  close(socket);
  channel->close();
  wire->stop();
  channel->dispose();
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
