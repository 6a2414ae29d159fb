// The functions in the symbol table (.symtab) of an ELF file of this machine's class and byte order.
//
// Thread-safety: any thread. Reads the file: not on an event loop.
// Errors:        a file that cannot be read, is malformed or is stripped has no functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace backplane::profiling {

struct FunctionSymbol {
  std::uint64_t value = 0, size = 0;
  std::string name;  // as linked
};
std::vector<FunctionSymbol> read_function_symbols(const std::string& file);

}  // namespace backplane::profiling
