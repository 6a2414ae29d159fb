// SnapshotWriter (snapshot_file.hpp).
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "storage/snapshot_file.hpp"
#include "storage/snapshot_frames.hpp"

namespace backplane {
namespace {

constexpr std::size_t kBuffered = 1024 * 1024;

Status file_error(const std::string& what, const std::string& path) {
  return internal_error("cannot " + what + " " + path + ": " + std::strerror(errno));
}

Status sync_folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  Status status = synced ? Status() : file_error("sync", folder);
  if (fd >= 0) ::close(fd);
  return status;
}

}  // namespace

struct SnapshotWriter::State {
  explicit State(std::string final_path) : path(std::move(final_path)), partial(path + ".partial") {}
  ~State() {
    if (fd < 0) return;
    if (!finished) ::unlink(partial.c_str());
    ::close(fd);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status flush() {
    for (std::string_view rest = buffer; !rest.empty();) {
      const ssize_t written = ::write(fd, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return file_error("write", partial);
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer.clear();
    return {};
  }
  Status append(std::string_view bytes) {
    digest->add(bytes);
    buffer.append(bytes);
    return buffer.size() < kBuffered ? Status() : flush();
  }

  const std::string path, partial;
  int fd = -1;
  bool finished = false;
  std::string buffer;
  std::unique_ptr<snapshot::FileDigest> digest;
  SnapshotSummary summary;
};

SnapshotWriter::SnapshotWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;
SnapshotWriter::~SnapshotWriter() = default;

std::uint64_t SnapshotWriter::keys() const noexcept { return state_->summary.keys; }
std::uint64_t SnapshotWriter::bytes() const noexcept { return state_->summary.bytes; }

Result<SnapshotWriter> SnapshotWriter::create(const std::string& path) {
  auto state = std::make_unique<State>(path);
  const int fd = ::open(state->partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return file_error("create", state->partial);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    Status status = Status(Reason::kConflict, state->partial + " is being written by another process");
    ::close(fd);
    return status;
  }
  state->fd = fd;
  return SnapshotWriter(std::move(state));
}

Status SnapshotWriter::begin(const SnapshotHeader& header) {
  if (::ftruncate(state_->fd, 0) != 0 || ::lseek(state_->fd, 0, SEEK_SET) != 0) return file_error("write", state_->partial);
  state_->buffer.clear();
  state_->summary = {};
  state_->digest = std::make_unique<snapshot::FileDigest>();
  Status status = state_->append(snapshot::kMagic);
  return status.ok() ? state_->append(snapshot::frame(snapshot::header_payload(header))) : status;
}

Status SnapshotWriter::add(const KeyValue& item) {
  ++state_->summary.keys;
  state_->summary.bytes += item.key.size() + item.value.size();
  return state_->append(snapshot::frame(snapshot::record_payload(item)));
}

Result<SnapshotSummary> SnapshotWriter::finish() {
  state_->summary.digest = state_->digest->finish();
  state_->buffer.append(snapshot::frame(snapshot::end_payload(state_->summary)));
  if (Status status = state_->flush(); !status.ok()) return status;
  if (::fsync(state_->fd) != 0) return file_error("sync", state_->partial);
  if (::rename(state_->partial.c_str(), state_->path.c_str()) != 0) return file_error("rename", state_->partial);
  state_->finished = true;
  if (Status status = sync_folder_of(state_->path); !status.ok()) return status;
  return state_->summary;
}

}  // namespace backplane
