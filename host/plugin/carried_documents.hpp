// The documents in a plugin's file, checked without running its code.
//
// Thread-safety: pure functions.
// Errors:        findings PLG-DOC-001 (a document is wrong), PLG-DOC-002 (worth knowing), PLG-DOC-003 (they cannot be found in the file).
#pragma once

#include "plugin/descriptor.hpp"

namespace backplane {

// All files whose name ends with ".json".
void check_carried_documents(const std::string& path, Findings& findings);
// Only if backplane_add_plugin() has not done it: a start need not do it again.
void check_unchecked_documents(const InspectedPlugin& plugin, Findings& findings);

}  // namespace backplane
