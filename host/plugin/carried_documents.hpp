// The documents in a plugin's file, checked without running its code.
//
// Thread-safety: pure functions.
// Errors:        findings PLG-DOC-001 (a document is wrong), PLG-DOC-002 (a warning), PLG-DOC-003 (they cannot be found in the file).
#pragma once

#include "plugin/descriptor.hpp"

namespace backplane {

// All files whose name ends with ".json".
void check_carried_documents(const std::string& path, Findings& findings);
// Whether backplane_add_plugin() has checked them.
bool has_checked_documents(const InspectedPlugin& plugin) noexcept;
// Unless backplane_add_plugin() or an earlier start (InspectedPlugin::checked_digest) has done it.
void check_unchecked_documents(const InspectedPlugin& plugin, Findings& findings);

}  // namespace backplane
