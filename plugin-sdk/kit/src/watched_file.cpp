#include "backplane/kit/watched_file.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <tuple>

#include "backplane/kit/content_hash.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

// The text begins with a lower-case letter, as Go prints the system's error texts.
Status failed_call(std::string_view call, const std::string& path, int error) {
  std::string why = std::strerror(error);
  if (!why.empty() && why[0] >= 'A' && why[0] <= 'Z') why[0] = static_cast<char>(why[0] - 'A' + 'a');
  return bad_request(std::string(call) + " " + path + ": " + why);
}

// The attributes of a file that change if it is written or replaced; nullopt: the file does not exist.
using FileStamp = std::optional<std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>>;

FileStamp stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const auto nanoseconds = [](const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; };
  return std::tuple(info.st_dev, info.st_ino, info.st_size, nanoseconds(info.st_mtim), nanoseconds(info.st_ctim));
}

struct Reading {
  FileStamp stamp;
  bool read = false;  // false: the metadata is equal to that of the last reading, so the content was not read
  Result<std::string> content;
};

// Reads the stamp before the content, so that the next comparison detects a change between the two.
void take_reading(const WatchedFile& file, const FileStamp& last, bool full, Reading& out) {
  out.stamp = stamp_of(file.path);
  out.read = full || out.stamp != last;
  if (out.read) out.content = read_bounded_file(file.path, file.max_bytes);
}

}  // namespace

Result<std::string> read_bounded_file(const std::string& path, std::size_t max_bytes) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) return failed_call("open", path, errno);
  std::string out;
  char buffer[16 * 1024];
  for (;;) {
    const ssize_t count = ::read(file.value, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed_call("read", path, errno);
    if (count == 0) return out;
    if (out.size() + static_cast<std::size_t>(count) > max_bytes)
      return bad_request("read " + path + ": the file has more than " + std::to_string(max_bytes) + " bytes");
    out.append(buffer, static_cast<std::size_t>(count));
  }
}

Task<void> watch_file(Signal& stop, WatchedFile file, std::string current, FileChanged changed, FileFailed failed) {
  using Clock = std::chrono::steady_clock;
  // Stores only a hash, because the content may contain keys, which must not remain in memory for the comparison.
  ContentDigest known = content_digest(current);
  OPENSSL_cleanse(current.data(), current.size());
  current = {};
  Sleeper sleeper(stop);
  FileStamp last;  // nullopt: the first round reads the file, because it may have changed since the caller read `current`
  auto next_full = Clock::now();
  while (!stop.fired()) {
    Reading reading;
    const bool full = Clock::now() >= next_full;
    auto work = run_blocking([&] { take_reading(file, last, full, reading); });
    co_await std::move(work);
    last = reading.stamp;
    if (reading.read) {
      next_full = Clock::now() + file.full_interval;
      if (!reading.content.ok()) {
        failed(reading.content.status());
      } else if (const ContentDigest digest = content_digest(*reading.content); digest != known) {
        auto applying = changed(std::move(*reading.content));
        const bool settled = co_await std::move(applying);
        if (settled) known = digest;
      } else {
        OPENSSL_cleanse(reading.content->data(), reading.content->size());
      }
    }
    auto pause = sleeper.sleep(file.interval);
    const bool running = co_await std::move(pause);
    if (!running) co_return;
  }
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
