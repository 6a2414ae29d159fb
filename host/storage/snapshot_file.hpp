// A snapshot of a store in one file: its keys and values at one revision, with checksums.
//
//   "backplane-snapshot 1\n"
//   frames: length (4 bytes, little-endian), CRC-32 of the payload (4 bytes), payload
//     'H' JSON: {"revision", "created", "source"}                           first
//     'R' modification revision (8), lease (8), length of the key (4), key, value
//     'E' JSON: {"keys", "bytes", "sha256"}, the digest is that of all bytes before this frame   last
// The checksum of a frame locates damage; the digest detects records that are missing.
//
// Thread-safety: one thread; blocks.
// Lifetime:      a SnapshotWriter that is destroyed before finish() leaves no file.
// Errors:        kInternalError with the path and the system's reason; of a reader kBadRequest: no snapshot, kInternalError: damage;
//                the message ends with "at offset N".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"

namespace backplane {

struct SnapshotHeader {
  Revision revision = 0;
  std::string created;  // RFC 3339
  std::string source;   // the store's name on the command line
};

struct SnapshotSummary {
  std::uint64_t keys = 0, bytes = 0;  // of keys and values
  std::string digest;                 // SHA-256, hexadecimal
};

// Writes "PATH.partial", which finish() renames: a run that is killed leaves no incomplete file under the final name.
class SnapshotWriter {
 public:
  // Errors: kConflict if another process writes the same snapshot.
  static Result<SnapshotWriter> create(const std::string& path);
  SnapshotWriter(SnapshotWriter&&) noexcept;
  ~SnapshotWriter();
  // Discards the records that were written before.
  Status begin(const SnapshotHeader& header);
  Status add(const KeyValue& item);
  // Makes the file durable and gives it its name; replaces a file of that name.
  Result<SnapshotSummary> finish();
  std::uint64_t keys() const noexcept;
  std::uint64_t bytes() const noexcept;

 private:
  struct State;
  explicit SnapshotWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class SnapshotReader {
 public:
  // The position of a record, for reading it again.
  struct Place {
    std::uint64_t offset = 0;
  };

  static Result<SnapshotReader> open(const std::string& path);
  SnapshotReader(SnapshotReader&&) noexcept;
  ~SnapshotReader();
  const SnapshotHeader& header() const noexcept;
  // The next record, verified; nullopt after the last one: the whole file has then been verified.
  Result<std::optional<KeyValue>> next();
  // Of the record that next() returned last.
  Place place() const noexcept;
  // Reads a record again.
  Result<KeyValue> read(Place place) const;
  // After the last record.
  const SnapshotSummary& summary() const noexcept;
  std::uint64_t offset() const noexcept;
  std::uint64_t size() const noexcept;

 private:
  struct State;
  explicit SnapshotReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace backplane
