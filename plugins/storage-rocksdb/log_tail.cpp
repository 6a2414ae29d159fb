#include "log_tail.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "log_format.hpp"
#include "reserved_log.hpp"

namespace backplane::rocks {
namespace {

constexpr std::size_t kSector = 512;
// The size of the end that is read: it contains the whole reserved space and the record before it.
constexpr std::size_t kWindow = kReservedLogBytes + kLargestReservedAppend + 2 * kLogBlock;

// The length, including the header, of the valid part that begins at `at`; 0 if there is none.
std::size_t part_at(std::string_view bytes, std::size_t at) {
  const std::size_t end = std::min(bytes.size(), at - at % kLogBlock + kLogBlock);
  if (at + kLogHeader > end) return 0;
  const LogHead head = parse_log_head(bytes.substr(at, kLogHeader));
  if (head.part < LogPart::kFull || head.part > LogPart::kLast || at + kLogHeader + head.length > end) return 0;
  return matches_crc(head, bytes.substr(at)) ? kLogHeader + head.length : 0;
}

bool ends_record(std::string_view bytes, std::size_t at) {
  const LogPart part = parse_log_head(bytes.substr(at, kLogHeader)).part;
  return part == LogPart::kFull || part == LogPart::kLast;
}

bool begins_record(std::string_view bytes, std::size_t at) {
  const LogPart part = parse_log_head(bytes.substr(at, kLogHeader)).part;
  return part == LogPart::kFull || part == LogPart::kFirst;
}

// True if a valid record begins at any offset in (from, to). Every offset is tried, because the header at `from` cannot be read.
bool record_follows(std::string_view bytes, std::size_t from, std::size_t to) {
  for (std::size_t at = from + 1; at < to && at + kLogHeader <= bytes.size(); ++at) {
    if (begins_record(bytes, at) && part_at(bytes, at) > 0) return true;
  }
  return false;
}

// True if the bytes of any sector that are in [from, to) are all zero.
bool has_zero_sector(std::string_view bytes, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to;) {
    const std::size_t next = std::min(to, at - at % kSector + kSector);
    if (bytes.substr(at, next - at).find_first_not_of('\0') == std::string_view::npos) return true;
    at = next;
  }
  return false;
}

rocksdb::IOStatus io_error(const std::string& path) { return rocksdb::IOStatus::IOError(path, std::generic_category().message(errno)); }

rocksdb::IOStatus truncate_durably(const std::string& path, std::uint64_t size) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return io_error(path);
  const bool done = ::ftruncate(fd, static_cast<off_t>(size)) == 0 && ::fsync(fd) == 0;
  auto status = done ? rocksdb::IOStatus::OK() : io_error(path);
  ::close(fd);
  return status;
}

}  // namespace

LogTail read_log_tail(std::string_view bytes, bool is_all) {
  std::size_t at = 0;
  std::optional<std::size_t> end = is_all ? std::optional<std::size_t>(0) : std::nullopt;  // the end of the last complete record
  for (;;) {
    // The rest of a block is not used if it is too short for a header.
    if (const std::size_t left = kLogBlock - at % kLogBlock; left < kLogHeader) at += left;
    const std::size_t length = at < bytes.size() ? part_at(bytes, at) : 0;
    if (length == 0) break;
    if (ends_record(bytes, at)) end = at + length;
    at += length;
  }
  if (!end || *end >= bytes.size()) return {};
  const std::size_t last = bytes.find_last_not_of('\0');
  const std::size_t written = last == std::string_view::npos ? 0 : last + 1;
  if (written <= *end) return {end, {}};
  if (at >= bytes.size()) return {};  // the end of the file cuts off the last record, which RocksDB tolerates
  if (record_follows(bytes, at, written)) return {{}, at};
  std::size_t to = written;
  if (at + kLogHeader <= bytes.size()) to = std::max(to, std::min(bytes.size(), at + kLogHeader + parse_log_head(bytes.substr(at)).length));
  return has_zero_sector(bytes, at, to) ? LogTail{end, {}} : LogTail{};
}

rocksdb::IOStatus cut_log_tail(const std::string& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) return rocksdb::IOStatus::OK();  // RocksDB reports it
  const std::uint64_t begin = size > kWindow ? (size - kWindow) / kLogBlock * kLogBlock : 0;
  std::string bytes(size - begin, '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(begin));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return rocksdb::IOStatus::OK();
  const LogTail tail = read_log_tail(bytes, begin == 0);
  if (tail.damaged_at) {
    return rocksdb::IOStatus::Corruption("a record cannot be read in " + path + " offset " + std::to_string(begin + *tail.damaged_at));
  }
  return tail.cut_at ? truncate_durably(path, begin + *tail.cut_at) : rocksdb::IOStatus::OK();
}

}  // namespace backplane::rocks
