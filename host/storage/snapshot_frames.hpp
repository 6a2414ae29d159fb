// Encodes and decodes the frames of a snapshot file (snapshot_file.hpp), and computes its digest.
//
// Thread-safety: pure functions; FileDigest: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/snapshot_file.hpp"

namespace backplane::snapshot {

inline constexpr std::string_view kMagic = "backplane-snapshot 1\n";
inline constexpr std::size_t kFrameHead = 8;
enum class Frame : char { kHeader = 'H', kRecord = 'R', kEnd = 'E' };

std::string frame(std::string_view payload);
struct Head {
  std::uint32_t length = 0, checksum = 0;
};
Head parse_head(std::string_view bytes);
std::uint32_t checksum(std::string_view payload);

std::string header_payload(const SnapshotHeader& header);
std::string record_payload(const KeyValue& item);
std::string end_payload(const SnapshotSummary& summary);
// The three functions below return nullopt if the payload is invalid.
std::optional<SnapshotHeader> parse_header(std::string_view payload);
std::optional<KeyValue> parse_record(std::string_view payload);
std::optional<SnapshotSummary> parse_end(std::string_view payload);

// SHA-256 of the bytes of a file.
class FileDigest {
 public:
  FileDigest();
  ~FileDigest();
  FileDigest(const FileDigest&) = delete;
  FileDigest& operator=(const FileDigest&) = delete;
  void add(std::string_view bytes);
  std::string finish();

 private:
  void* context_;
};

}  // namespace backplane::snapshot
