// The documents in a plugin's file, checked without running its code.
//
// Thread-safety: pure functions.
// Errors:        findings PLG-DOC-001 (a document is wrong), PLG-DOC-002 (a note), PLG-DOC-003 (the documents cannot be read).
#pragma once

#include "plugin/descriptor.hpp"

namespace backplane {

// Checks all embedded documents whose file name ends with ".json".
void check_carried_documents(const std::string& path, Findings& findings);
// True if backplane_add_plugin() has checked the documents.
bool has_checked_documents(const InspectedPlugin& plugin) noexcept;
// Checks the documents unless backplane_add_plugin() or an earlier run of the server (InspectedPlugin::checked_digest) has checked them.
void check_unchecked_documents(const InspectedPlugin& plugin, Findings& findings);

}  // namespace backplane
