#include "profiling/symbols.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <boost/core/demangle.hpp>
#include <cstring>

#include "profiling/symbol_table.hpp"

namespace backplane::profiling {
namespace {

std::string executable_path() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

std::string hexadecimal(const unsigned char* bytes, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < size; ++i) {
    out.push_back(kDigits[bytes[i] >> 4]);
    out.push_back(kDigits[bytes[i] & 15]);
  }
  return out;
}

// The build ID in the notes of a loaded segment.
std::string build_id_in(const char* notes, std::size_t size) {
  constexpr auto padded = [](std::size_t length) { return (length + 3) / 4 * 4; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note, content = name + padded(note.n_namesz);
    if (content + note.n_descsz > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      return hexadecimal(reinterpret_cast<const unsigned char*>(notes + content), note.n_descsz);
    }
    at = content + padded(note.n_descsz);
  }
  return {};
}

int add_code_object(dl_phdr_info* info, std::size_t, void* to) {
  CodeObject object;
  object.base = info->dlpi_addr;
  object.file = info->dlpi_name;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_NOTE && object.build_id.empty()) {
      object.build_id = build_id_in(reinterpret_cast<const char*>(at), segment.p_memsz);
    }
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || object.end != 0) continue;
    object.begin = at;
    object.end = at + segment.p_memsz;
    object.offset = segment.p_offset;
  }
  if (object.end != 0) static_cast<std::vector<CodeObject>*>(to)->push_back(std::move(object));
  return 0;
}

// The last dynamic symbol at or before the address.
Symbol dynamic_symbol(std::uintptr_t address, const CodeObject* object) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(address), &info) == 0 || info.dli_sname == nullptr) return {{}, 0, object};
  return {boost::core::demangle(info.dli_sname), reinterpret_cast<std::uintptr_t>(info.dli_saddr), object};
}

}  // namespace

Symbols::Symbols() : executable_(executable_path()) {
  dl_iterate_phdr(add_code_object, &objects_);
  if (!objects_.empty()) objects_.front().file = executable_;  // the dynamic linker lists the executable first, without a name
  std::sort(objects_.begin(), objects_.end(), [](const auto& one, const auto& other) { return one.begin < other.begin; });
}

const CodeObject* Symbols::executable() const noexcept {
  const auto found = std::find_if(objects_.begin(), objects_.end(), [this](const CodeObject& each) { return each.file == executable_; });
  return found == objects_.end() ? nullptr : &*found;
}

const Symbols::Table& Symbols::table_of(const CodeObject& object) {
  const auto [found, added] = tables_.try_emplace(&object);
  if (!added) return found->second;
  for (auto& row : read_function_symbols(object.file)) {
    found->second.push_back({object.base + row.value, object.base + row.value + row.size, std::move(row.name)});
  }
  std::sort(found->second.begin(), found->second.end(), [](const auto& one, const auto& other) { return one.start < other.start; });
  return found->second;
}

Symbol Symbols::find(std::uintptr_t address) {
  auto object = std::upper_bound(objects_.begin(), objects_.end(), address,
                                 [](std::uintptr_t value, const CodeObject& each) { return value < each.begin; });
  if (object == objects_.begin() || address >= (--object)->end) return {};
  const Table& table = table_of(*object);
  auto function =
      std::upper_bound(table.begin(), table.end(), address, [](std::uintptr_t value, const auto& each) { return value < each.start; });
  if (function == table.begin() || address >= (--function)->end) return dynamic_symbol(address, &*object);
  return {boost::core::demangle(function->name.c_str()), function->start, &*object};
}

}  // namespace backplane::profiling
