// Reads the functions in the symbol table (.symtab) of an ELF file that has this machine's class and byte order.
//
// Thread-safety: any thread. Reads a file, so it must not be called on an event loop.
// Errors:        none; the result is empty if the file cannot be read, is malformed or is stripped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace backplane::profiling {

struct FunctionSymbol {
  std::uint64_t value = 0, size = 0;
  std::string name;  // mangled
};
std::vector<FunctionSymbol> read_function_symbols(const std::string& file);

}  // namespace backplane::profiling
