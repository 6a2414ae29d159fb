// A shared object read as data: nothing of it is mapped and none of its code runs.  Every offset is checked against the size of the file
// before it is used, so a truncated or hostile file gives a finding and not a fault.
//
// Thread-safety: one thread per ElfFile.
// Lifetime:      holds the file open.
// Errors:        findings PLG-FILE-001 … 009 and 012.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/finding.hpp"

namespace backplane {

// An open regular file.  Opening never blocks (a fifo is refused) and follows links.
class RegularFile {
 public:
  RegularFile() = default;
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&& other) noexcept;
  ~RegularFile();

  static std::optional<RegularFile> open(const std::string& path, Findings& findings);
  int descriptor() const noexcept { return fd_; }
  std::uint64_t size() const noexcept { return size_; }
  // False when [offset, offset + size) does not lie inside the file.
  bool read(std::uint64_t offset, void* into, std::uint64_t size) const;

 private:
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

class ElfFile {
 public:
  // Checks the header and that every segment lies inside the file.
  static std::optional<ElfFile> open(const std::string& path, Findings& findings);

  const RegularFile& file() const noexcept { return file_; }
  // The description of the first note of this owner and type in any PT_NOTE segment.  `corrupt` is set when a note runs over its segment.
  std::optional<std::string> note(std::string_view owner, std::uint32_t type, bool& corrupt) const;
  // The bytes of the section; nullopt if the file has none of this name.
  std::optional<std::string> section(std::string_view name) const;
  // Whether the file exports the symbol `name`; nullopt if the file has no section table.
  std::optional<bool> exports(std::string_view name) const;

 private:
  struct Segment {
    std::uint32_t type;
    std::uint64_t offset, size, align;
  };
  bool read_segments(Findings& findings, std::uint64_t table, std::uint16_t entry_size, std::uint16_t count);

  RegularFile file_;
  std::vector<Segment> segments_;
  std::uint64_t section_table_ = 0;
  std::uint16_t section_count_ = 0;
  std::uint16_t section_names_ = 0;  // index of the section that has the names
};

}  // namespace backplane
