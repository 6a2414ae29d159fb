#include "plugin/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace backplane {

namespace {

constexpr std::uint64_t kMaxNoteSegment = 1U << 20;
constexpr std::uint64_t kMaxSymbols = 1U << 16;
// The server copies each file to its data directory.
constexpr std::uint64_t kMostFileBytes = 1U << 30;

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr std::uint16_t kMachine = EM_RISCV;
#else
#error "this machine's ELF number is missing here"
#endif

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_RISCV:
      return "riscv";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    default:
      return "machine " + std::to_string(machine);
  }
}

void add(Findings& findings, std::string_view code, std::string field, std::string wanted, std::string found, std::string message,
         std::string fix = {}) {
  findings.push_back({code, Severity::kError, std::move(field), std::move(wanted), std::move(found), std::move(message), std::move(fix)});
}

void add_open_error(Findings& findings, const std::string& path, int error) {
  struct stat link {};
  if (error == ENOENT && ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode)) {
    add(findings, finding_code::kDanglingLink, "file", {}, {}, "the link points to nothing", "remove the link or restore its target");
  } else if (error == EACCES || error == EPERM) {
    add(findings, finding_code::kNotReadable, "file", {}, {}, "no permission to read the file", "make it readable for the server's user");
  } else {
    add(findings, finding_code::kCannotOpen, "file", {}, {}, std::string("cannot be opened: ") + std::strerror(error));
  }
}

std::string type_name(mode_t mode) {
  if (S_ISFIFO(mode)) return "fifo";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "device";
  return "special file";
}

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

bool check_header(const Elf64_Ehdr& header, Findings& findings) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    add(findings, finding_code::kNotElf, "magic", "an ELF file", {}, "the file is not a shared object");
    return false;
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachine) {
    const bool wide = header.e_ident[EI_CLASS] == ELFCLASS64;
    add(findings, finding_code::kOtherMachine, "machine", machine_name(kMachine) + ", 64 bits, little endian",
        machine_name(header.e_machine) + (wide ? ", 64 bits" : ", 32 bits"), "the file was built for another machine", "rebuild it here");
    return false;
  }
  if (header.e_type != ET_DYN) {
    add(findings, finding_code::kNotSharedObject, "type", "shared object", "ELF type " + std::to_string(header.e_type),
        "the file is not a shared object", "link it with backplane_add_plugin()");
    return false;
  }
  return true;
}

}  // namespace

RegularFile::RegularFile(RegularFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), size_(other.size_) {}

RegularFile& RegularFile::operator=(RegularFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  return *this;
}

RegularFile::~RegularFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::optional<RegularFile> RegularFile::open(const std::string& path, Findings& findings) {
  // The file type is checked first, because opening a device may have effects.  O_NONBLOCK covers a file that is replaced by a fifo in
  // between.
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    add_open_error(findings, path, errno);
    return std::nullopt;
  }
  const auto refuse_type = [&findings](mode_t mode) {
    if (S_ISDIR(mode)) {
      add(findings, finding_code::kDirectory, "file", "a regular file", "directory", "a directory is not a plugin");
    } else {
      add(findings, finding_code::kNotRegular, "file", "a regular file", type_name(mode), "only regular files are opened");
    }
  };
  if (!S_ISREG(info.st_mode)) {
    refuse_type(info.st_mode);
    return std::nullopt;
  }
  RegularFile file;
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.fd_ < 0) {
    add_open_error(findings, path, errno);
    return std::nullopt;
  }
  if (::fstat(file.fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    refuse_type(info.st_mode);
    return std::nullopt;
  }
  file.size_ = static_cast<std::uint64_t>(info.st_size);
  if (file.size_ > kMostFileBytes) {
    add(findings, finding_code::kTooLarge, "file", "at most " + std::to_string(kMostFileBytes) + " bytes",
        std::to_string(file.size_) + " bytes", "the server copies each file that it loads: remove debug information with strip -g");
    return std::nullopt;
  }
  return file;
}

bool RegularFile::read(std::uint64_t offset, void* into, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset) return false;
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const auto got = ::pread(fd_, at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;  // the file shrank, or the disk failed
    at += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::uint64_t>(got);
  }
  return true;
}

std::optional<ElfFile> ElfFile::open(const std::string& path, Findings& findings) {
  auto file = RegularFile::open(path, findings);
  if (!file) return std::nullopt;
  ElfFile elf;
  elf.file_ = std::move(*file);
  unsigned char magic[SELFMAG] = {};
  Elf64_Ehdr header{};
  if (!elf.file_.read(0, magic, sizeof(magic)) || std::memcmp(magic, ELFMAG, SELFMAG) != 0) {
    add(findings, finding_code::kNotElf, "magic", "an ELF file", {}, "the file is not a shared object");
    return std::nullopt;
  }
  if (!elf.file_.read(0, &header, sizeof(header))) {
    add(findings, finding_code::kTruncated, "header", std::to_string(sizeof(header)) + " bytes",
        std::to_string(elf.file_.size()) + " bytes", "the ELF header is cut off", "copy the file again");
    return std::nullopt;
  }
  if (!check_header(header, findings)) return std::nullopt;
  if (!elf.read_segments(findings, header.e_phoff, header.e_phentsize, header.e_phnum)) return std::nullopt;
  // The section table at the end is not needed to run, but a file without it has been truncated.
  const std::uint64_t sections = static_cast<std::uint64_t>(header.e_shnum) * sizeof(Elf64_Shdr);
  if (header.e_shoff > elf.file_.size() || sections > elf.file_.size() - header.e_shoff) {
    add(findings, finding_code::kTruncated, "section table", "at least " + std::to_string(header.e_shoff + sections) + " bytes",
        std::to_string(elf.file_.size()) + " bytes", "the file is shorter than its headers say", "copy the file again");
    return std::nullopt;
  }
  if (header.e_shentsize == sizeof(Elf64_Shdr)) {
    elf.section_table_ = header.e_shoff;
    elf.section_count_ = header.e_shnum;
    elf.section_names_ = header.e_shstrndx;
  }
  return elf;
}

bool ElfFile::read_segments(Findings& findings, std::uint64_t table, std::uint16_t entry_size, std::uint16_t count) {
  const auto truncated = [&](std::string field, std::uint64_t wanted) {
    add(findings, finding_code::kTruncated, std::move(field), "at least " + std::to_string(wanted) + " bytes",
        std::to_string(file_.size()) + " bytes", "the file is shorter than its headers say", "copy the file again");
    return false;
  };
  if (entry_size != sizeof(Elf64_Phdr) || count == 0) {
    add(findings, finding_code::kNotSharedObject, "program headers", {}, {}, "the file has no program headers of the usual form");
    return false;
  }
  std::vector<Elf64_Phdr> headers(count);
  if (!file_.read(table, headers.data(), sizeof(Elf64_Phdr) * headers.size())) {
    return truncated("program headers", table + sizeof(Elf64_Phdr) * headers.size());
  }
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const auto& h = headers[i];
    if (h.p_type != PT_NULL && h.p_type != PT_GNU_STACK && (h.p_offset > file_.size() || h.p_filesz > file_.size() - h.p_offset)) {
      return truncated("segment " + std::to_string(i), h.p_offset + h.p_filesz);
    }
    segments_.push_back({h.p_type, h.p_offset, h.p_filesz, h.p_align});
  }
  return true;
}

std::optional<std::string> ElfFile::note(std::string_view owner, std::uint32_t type, bool& corrupt) const {
  for (const auto& segment : segments_) {
    if (segment.type != PT_NOTE) continue;
    if (segment.size > kMaxNoteSegment) {
      corrupt = true;
      continue;
    }
    std::string bytes(segment.size, '\0');
    if (!file_.read(segment.offset, bytes.data(), bytes.size())) {
      corrupt = true;
      continue;
    }
    const std::uint64_t alignment = segment.align == 8 ? 8 : 4;
    for (std::uint64_t at = 0; at < bytes.size();) {
      Elf64_Nhdr header{};
      if (bytes.size() - at < sizeof(header)) {
        corrupt = true;
        break;
      }
      std::memcpy(&header, bytes.data() + at, sizeof(header));
      const std::uint64_t name_at = at + sizeof(header);
      const std::uint64_t text_at = align_up(name_at + header.n_namesz, alignment);
      if (text_at > bytes.size() || header.n_descsz > bytes.size() - text_at) {
        corrupt = true;
        break;
      }
      // The owner's size counts its NUL.
      if (header.n_type == type && header.n_namesz == owner.size() + 1 && bytes.compare(name_at, owner.size(), owner) == 0) {
        return bytes.substr(text_at, header.n_descsz);
      }
      at = align_up(text_at + header.n_descsz, alignment);
    }
  }
  return std::nullopt;
}

std::optional<std::string> ElfFile::section(std::string_view name) const {
  std::vector<Elf64_Shdr> sections(section_count_);
  if (section_names_ >= section_count_ || !file_.read(section_table_, sections.data(), sections.size() * sizeof(Elf64_Shdr))) {
    return std::nullopt;
  }
  const auto& names = sections[section_names_];
  for (const auto& section : sections) {
    std::string text(name.size() + 1, '\1');
    if (section.sh_name >= names.sh_size || names.sh_offset > file_.size() ||
        !file_.read(names.sh_offset + section.sh_name, text.data(), text.size())) {
      continue;
    }
    if (text.back() != '\0' || text.compare(0, name.size(), name) != 0) continue;
    if (section.sh_type == SHT_NOBITS || section.sh_offset > file_.size() || section.sh_size > file_.size() - section.sh_offset) {
      return std::nullopt;
    }
    std::string bytes(section.sh_size, '\0');
    return file_.read(section.sh_offset, bytes.data(), bytes.size()) ? std::optional(std::move(bytes)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<bool> ElfFile::exports(std::string_view name) const {
  if (section_count_ == 0) return std::nullopt;
  std::vector<Elf64_Shdr> sections(section_count_);
  if (!file_.read(section_table_, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return std::nullopt;
  for (const auto& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const auto& names = sections[section.sh_link];
    const auto count = section.sh_size / sizeof(Elf64_Sym);
    if (count > kMaxSymbols) return std::nullopt;
    std::vector<Elf64_Sym> symbols(count);
    if (!file_.read(section.sh_offset, symbols.data(), count * sizeof(Elf64_Sym))) return std::nullopt;
    for (const auto& symbol : symbols) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.sh_size) continue;
      std::string text(name.size() + 1, '\1');
      if (names.sh_offset > file_.size() || !file_.read(names.sh_offset + symbol.st_name, text.data(), text.size())) continue;
      if (text.back() == '\0' && text.compare(0, name.size(), name) == 0) return true;
    }
    return false;
  }
  return std::nullopt;
}

}  // namespace backplane
