#include "profiling/symbol_table.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace backplane::profiling {
namespace {

// A file that is mapped for reading. Every access checks its range.
class MappedElf {
 public:
  explicit MappedElf(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat about {};
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
      void* const memory = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (memory != MAP_FAILED) text_ = {static_cast<const char*>(memory), static_cast<std::size_t>(about.st_size)};
    }
    ::close(descriptor);
  }
  ~MappedElf() {
    if (!text_.empty()) munmap(const_cast<char*>(text_.data()), text_.size());
  }
  MappedElf(const MappedElf&) = delete;
  MappedElf& operator=(const MappedElf&) = delete;

  // Reads an object at the offset `at`. False: the file ends before the end of the object.
  template <class T>
  bool read(std::uint64_t at, T& out) const noexcept {
    if (at > text_.size() || text_.size() - at < sizeof(T)) return false;
    std::memcpy(&out, text_.data() + at, sizeof(T));
    return true;
  }
  // The text at the offset `at`, up to a NUL; empty if the file ends before `at`.
  std::string_view string_at(std::uint64_t at) const noexcept {
    if (at >= text_.size()) return {};
    const std::string_view rest = text_.substr(at);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::string_view text_;
};

bool is_native_elf(const ElfW(Ehdr) & header) noexcept {
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == kClass &&
         header.e_shentsize == sizeof(ElfW(Shdr));
}

void add_functions(const MappedElf& elf, const ElfW(Shdr) & symbols, const ElfW(Shdr) & names, std::vector<FunctionSymbol>& out) {
  for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= symbols.sh_size; at += sizeof(ElfW(Sym))) {
    ElfW(Sym) symbol{};
    if (!elf.read(symbols.sh_offset + at, symbol)) return;
    const unsigned type = symbol.st_info & 15U;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) continue;
    out.push_back({symbol.st_value, symbol.st_size, std::string(elf.string_at(names.sh_offset + symbol.st_name))});
  }
}

}  // namespace

std::vector<FunctionSymbol> read_function_symbols(const std::string& file) {
  std::vector<FunctionSymbol> out;
  const MappedElf elf(file);
  ElfW(Ehdr) header{};
  if (!elf.read(0, header) || !is_native_elf(header)) return out;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) section{}, names{};
    if (!elf.read(header.e_shoff + i * sizeof section, section)) break;
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= header.e_shnum) continue;
    if (elf.read(header.e_shoff + section.sh_link * sizeof names, names)) add_functions(elf, section, names, out);
  }
  return out;
}

}  // namespace backplane::profiling
