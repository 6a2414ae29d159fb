// SnapshotReader (snapshot_file.hpp).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/snapshot_file.hpp"
#include "storage/snapshot_frames.hpp"

namespace backplane {
namespace {

constexpr std::size_t kReadAhead = 1024 * 1024;

}  // namespace

struct SnapshotReader::State {
  explicit State(std::string file) : path(std::move(file)) {}
  ~State() {
    if (fd >= 0) ::close(fd);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status damaged(std::uint64_t at, const std::string& what) const {
    return internal_error(path + " is damaged: " + what + " at offset " + std::to_string(at));
  }
  Result<std::string> read(std::uint64_t at, std::size_t count) const {
    std::string bytes(count, '\0');
    for (std::size_t done = 0; done < count;) {
      const ssize_t got = ::pread(fd, bytes.data() + done, count - done, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return internal_error("cannot read " + path + ": " + std::strerror(errno));
      if (got == 0) return damaged(at, "the file ends within a record");
      done += static_cast<std::size_t>(got);
    }
    return bytes;
  }
  // The `count` bytes at `offset`, read through the buffer.
  Result<std::string_view> take(std::size_t count) {
    if (offset + count > size) return damaged(offset, "the file ends within a record");
    if (offset < buffered_at || offset + count > buffered_at + buffer.size()) {
      auto more = read(offset, std::max<std::size_t>(count, std::min<std::uint64_t>(kReadAhead, size - offset)));
      if (!more.ok()) return std::move(more.status());
      buffer = std::move(*more);
      buffered_at = offset;
    }
    return std::string_view(buffer).substr(offset - buffered_at, count);
  }
  // The payload of the next frame, verified; valid until the next call.
  Result<std::string_view> frame() {
    begin = offset;
    auto head = take(snapshot::kFrameHead);
    if (!head.ok()) return std::move(head.status());
    const std::string head_bytes(*head);
    const auto [length, sum] = snapshot::parse_head(head_bytes);
    offset += snapshot::kFrameHead;
    if (length > size - offset) return damaged(begin, "the length of a record is wrong, or the file is cut short,");
    auto payload = take(length);
    if (!payload.ok()) return payload;
    if (snapshot::checksum(*payload) != sum) return damaged(begin, "the checksum of the record does not match");
    // The last frame has the digest of everything before it.
    if (!payload->empty() && payload->front() != static_cast<char>(snapshot::Frame::kEnd)) {
      digest.add(head_bytes);
      digest.add(*payload);
    }
    offset += length;
    return payload;
  }
  Status read_header() {
    auto magic = size < snapshot::kMagic.size() ? Result<std::string_view>(std::string_view()) : take(snapshot::kMagic.size());
    if (!magic.ok()) return std::move(magic.status());
    if (*magic != snapshot::kMagic) return bad_request(path + " is not a snapshot of a store");
    digest.add(*magic);
    offset = snapshot::kMagic.size();
    auto payload = frame();
    if (!payload.ok()) return std::move(payload.status());
    const auto parsed = snapshot::parse_header(*payload);
    if (!parsed) return damaged(begin, "the header cannot be read");
    header = *parsed;
    return {};
  }
  // Checks that the last frame matches the records that were read, and that no bytes follow it.
  Status check_end(const SnapshotSummary& end) {
    if (offset != size) return damaged(begin = offset, "bytes follow the end");
    if (end.keys != summary.keys || end.bytes != summary.bytes || end.digest != digest.finish()) {
      return damaged(begin, "records are missing: the digest does not match");
    }
    summary = end;
    return {};
  }

  const std::string path;
  int fd = -1;
  std::uint64_t size = 0, offset = 0, begin = 0, buffered_at = 0;
  std::string buffer;
  snapshot::FileDigest digest;
  SnapshotHeader header;
  SnapshotSummary summary;
};

SnapshotReader::SnapshotReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;
SnapshotReader::~SnapshotReader() = default;

const SnapshotHeader& SnapshotReader::header() const noexcept { return state_->header; }
const SnapshotSummary& SnapshotReader::summary() const noexcept { return state_->summary; }
SnapshotReader::Place SnapshotReader::place() const noexcept { return {state_->begin}; }
std::uint64_t SnapshotReader::offset() const noexcept { return state_->offset; }
std::uint64_t SnapshotReader::size() const noexcept { return state_->size; }

Result<SnapshotReader> SnapshotReader::open(const std::string& path) {
  auto state = std::make_unique<State>(path);
  state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (state->fd < 0 || ::fstat(state->fd, &info) != 0) return internal_error("cannot read " + path + ": " + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return bad_request(path + " is not a snapshot of a store");
  state->size = static_cast<std::uint64_t>(info.st_size);
  if (Status status = state->read_header(); !status.ok()) return status;
  return SnapshotReader(std::move(state));
}

Result<std::optional<KeyValue>> SnapshotReader::next() {
  auto payload = state_->frame();
  if (!payload.ok()) return std::move(payload.status());
  if (auto item = snapshot::parse_record(*payload)) {
    ++state_->summary.keys;
    state_->summary.bytes += item->key.size() + item->value.size();
    return Result<std::optional<KeyValue>>(std::move(item));
  }
  const auto end = snapshot::parse_end(*payload);
  if (!end) return state_->damaged(state_->begin, "the record cannot be read");
  if (Status status = state_->check_end(*end); !status.ok()) return status;
  return Result<std::optional<KeyValue>>(std::optional<KeyValue>());
}

Result<KeyValue> SnapshotReader::read(Place place) const {
  auto head = state_->read(place.offset, snapshot::kFrameHead);
  if (!head.ok()) return std::move(head.status());
  const auto [length, sum] = snapshot::parse_head(*head);
  if (length > state_->size) return state_->damaged(place.offset, "the record has changed");
  auto payload = state_->read(place.offset + snapshot::kFrameHead, length);
  if (!payload.ok()) return std::move(payload.status());
  auto item = snapshot::checksum(*payload) == sum ? snapshot::parse_record(*payload) : std::nullopt;
  if (!item) return state_->damaged(place.offset, "the record has changed");
  return std::move(*item);
}

}  // namespace backplane
