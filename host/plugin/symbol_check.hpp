// Resolves the symbols and libraries that a plugin's file needs in a child process, in which neither the file nor the host runs code: the
// dynamic loader maps both, reports what is missing, and exits (LD_TRACE_LOADED_OBJECTS).
//
// Thread-safety: any thread.
// Errors:        findings PLG-LIFE-001 (a library is missing or too old), PLG-LIFE-002 (a symbol is undefined).
#pragma once

#include <string>

#include "plugin/finding.hpp"

namespace backplane {

// The finding PLG-LIFE-002. `symbol`: the name in the file, which may be mangled.
Finding undefined_symbol(const std::string& symbol);

// Adds at most 20 undefined symbols.  Nothing is added if the child cannot be started.
void check_symbols(const std::string& path, Findings& findings);

}  // namespace backplane
