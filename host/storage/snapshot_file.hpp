// A snapshot of a store in one file: its keys and values at one revision, with checksums.
//
//   "backplane-snapshot 1\n"
//   frames: length (4 bytes, little-endian), CRC-32 of the payload (4 bytes), payload
//     'H' JSON: {"revision", "created", "source"}                           first
//     'R' modification revision (8), lease (8), length of the key (4), key, value
//     'E' JSON: {"keys", "bytes", "sha256"}; "sha256" covers all bytes before this frame    last
// The checksum of a frame shows where the file is damaged. The digest detects missing records.
//
// Thread-safety: one thread; the functions block.
// Lifetime:      a SnapshotWriter that is destroyed before finish() leaves no file.
// Errors:        kInternalError with the path and the system's reason.
//                SnapshotReader: kBadRequest if the file is not a snapshot; kInternalError if it is damaged, with "at offset N" at the end
//                of the message.
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
  std::uint64_t keys = 0, bytes = 0;  // the number of keys, and the total size of keys and values
  std::string digest;                 // SHA-256, hexadecimal
};

// Writes the file PATH.partial; finish() renames it to PATH. So a killed process leaves no incomplete file under the final name.
class SnapshotWriter {
 public:
  // Errors: kConflict if another process writes the same snapshot.
  static Result<SnapshotWriter> create(const std::string& path);
  SnapshotWriter(SnapshotWriter&&) noexcept;
  ~SnapshotWriter();
  // Begins the file, and discards records that were written before.
  Status begin(const SnapshotHeader& header);
  Status add(const KeyValue& item);
  // Syncs the file to the disk and renames it to PATH; replaces an existing file.
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
  // The position of a record in the file, for read().
  struct Place {
    std::uint64_t offset = 0;
  };

  static Result<SnapshotReader> open(const std::string& path);
  SnapshotReader(SnapshotReader&&) noexcept;
  ~SnapshotReader();
  const SnapshotHeader& header() const noexcept;
  // The next record, whose checksum has been verified. nullopt: there is no further record, and the whole file has been verified.
  Result<std::optional<KeyValue>> next();
  // The position of the record that the last next() has returned.
  Place place() const noexcept;
  // Reads a record again.
  Result<KeyValue> read(Place place) const;
  // Valid after next() has returned nullopt.
  const SnapshotSummary& summary() const noexcept;
  std::uint64_t offset() const noexcept;
  std::uint64_t size() const noexcept;

 private:
  struct State;
  explicit SnapshotReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace backplane
