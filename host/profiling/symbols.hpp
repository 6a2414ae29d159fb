// Maps addresses to the names of functions, with the ELF symbol tables of the executable and of the loaded libraries.
//
// The symbol table of a file is read when the first address in the file is looked up. If a file has no .symtab, its dynamic symbols are
// used.
//
// Thread-safety: one thread at a time.
// Lifetime:      describes the files that were loaded when the Symbols object was constructed. A Symbol borrows from the Symbols object.
// Errors:        none; the name of an unknown address is empty.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace backplane::profiling {

// One file that is mapped with executable pages.
struct CodeObject {
  std::uintptr_t base = 0;            // the load address, which is added to addresses in the file
  std::uintptr_t begin = 0, end = 0;  // the addresses of the executable segment
  std::uint64_t offset = 0;           // the offset of that segment in the file
  std::string file;                   // the path; empty: the kernel's vDSO
  std::string build_id;               // hexadecimal; empty: none
};

struct Symbol {
  std::string name;                    // demangled; empty: unknown
  std::uintptr_t start = 0;            // the address of the function; 0: unknown
  const CodeObject* object = nullptr;  // null: unknown
};

class Symbols {
 public:
  Symbols();
  Symbol find(std::uintptr_t address);
  // The executable of this process; null: unknown.
  const CodeObject* executable() const noexcept;

 private:
  struct Function {
    std::uintptr_t start = 0, end = 0;
    std::string name;  // mangled
  };
  using Table = std::vector<Function>;  // sorted by start
  const Table& table_of(const CodeObject& object);

  std::vector<CodeObject> objects_;
  std::string executable_;
  std::map<const CodeObject*, Table> tables_;
};

}  // namespace backplane::profiling
