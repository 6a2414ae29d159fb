#include "reserved_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace backplane::rocks {
namespace {

// Space is reserved only for appends of at most this size: for larger ones, writing the zeros costs more than it saves.
constexpr std::size_t kSmallAppend = 16 * 1024;

class ReservedLog final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ReservedLog(std::unique_ptr<rocksdb::FSWritableFile> log, const std::string& path)
      : FSWritableFileOwnerWrapper(std::move(log)), descriptor_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {}
  ~ReservedLog() override { release(); }

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    prepare(data.size());
    return count(FSWritableFileOwnerWrapper::Append(data, options, debug), data.size());
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options, const rocksdb::DataVerificationInfo& verification,
                           rocksdb::IODebugContext* debug) override {
    prepare(data.size());
    return count(FSWritableFileOwnerWrapper::Append(data, options, verification, debug), data.size());
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    return end_record(FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    return end_record(FSWritableFileOwnerWrapper::Fsync(options, debug));
  }
  rocksdb::IOStatus Close(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    release();
    return FSWritableFileOwnerWrapper::Close(options, debug);
  }

 private:
  void prepare(std::size_t bytes) {
    if (descriptor_ < 0) return;
    const bool begins_record = std::exchange(between_records_, false);
    if (bytes > kLargestReservedAppend) return drop();
    if (begins_record && bytes <= kSmallAppend && size_ + bytes > reserved_) reserve();
  }

  void reserve() {
    static const std::string zeros(kReservedLogBytes, '\0');
    const std::uint64_t from = std::max(size_, reserved_);
    if (::pwrite(descriptor_, zeros.data(), zeros.size(), static_cast<off_t>(from)) == static_cast<ssize_t>(zeros.size())) {
      reserved_ = from + zeros.size();
    } else {
      reserved_ = from + 1;  // some zeros may have been written, so that release() must truncate the file
      release();
    }
  }

  rocksdb::IOStatus end_record(rocksdb::IOStatus status) {
    between_records_ = status.ok();
    return status;
  }

  // Removes the unused space.
  void drop() {
    if (size_ < reserved_) (void)::ftruncate(descriptor_, static_cast<off_t>(size_));
    reserved_ = 0;
  }

  void release() {
    if (descriptor_ < 0) return;
    drop();
    ::close(std::exchange(descriptor_, -1));
  }

  rocksdb::IOStatus count(rocksdb::IOStatus status, std::size_t bytes) {
    if (status.ok()) {
      size_ += bytes;
    } else if (descriptor_ >= 0) {
      // It is unknown how many bytes were written, so the file is not truncated. RocksDB does not write to this log again.
      ::close(std::exchange(descriptor_, -1));
    }
    return status;
  }

  int descriptor_;  // negative: no space is reserved
  std::uint64_t size_ = 0;
  std::uint64_t reserved_ = 0;  // the end of the reserved space; at most size_: there is none
  // RocksDB appends a record above 1 MB in several parts, and syncs after the last one. Zeros after a part of a record would look like
  // damage, so space is reserved at the beginning of a record only.
  bool between_records_ = true;
};

}  // namespace

std::unique_ptr<rocksdb::FSWritableFile> make_reserved_log(std::unique_ptr<rocksdb::FSWritableFile> log, const std::string& path) {
  return std::make_unique<ReservedLog>(std::move(log), path);
}

}  // namespace backplane::rocks
