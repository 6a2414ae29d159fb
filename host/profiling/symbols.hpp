// Names of functions by address, from the ELF symbol tables of the executable and of the libraries that are loaded.
//
// The symbol table of a file is read when the first address in it is looked up. A file without .symtab has the names of its dynamic
// symbols. Thread-safety: one thread at a time. Lifetime:      describes the files that were loaded when it was constructed; borrowed by
// nothing. Errors:        none; an unknown address has no name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace backplane::profiling {

// One file that is mapped with executable pages.
struct CodeObject {
  std::uintptr_t base = 0;            // what addresses of the file are relative to
  std::uintptr_t begin = 0, end = 0;  // of its executable segment
  std::uint64_t offset = 0;           // of that segment in the file
  std::string file;                   // empty: the kernel's vDSO
  std::string build_id;               // hexadecimal; empty: none
};

struct Symbol {
  std::string name;                    // demangled; empty: unknown
  std::uintptr_t start = 0;            // of the function; 0: unknown
  const CodeObject* object = nullptr;  // null: unknown
};

class Symbols {
 public:
  Symbols();
  Symbol find(std::uintptr_t address);
  // Null if it has no code.
  const CodeObject* executable() const noexcept;

 private:
  struct Function {
    std::uintptr_t start = 0, end = 0;
    std::string name;  // as linked
  };
  using Table = std::vector<Function>;  // sorted by start
  const Table& table_of(const CodeObject& object);

  std::vector<CodeObject> objects_;
  std::string executable_;
  std::map<const CodeObject*, Table> tables_;
};

}  // namespace backplane::profiling
