// The host's tables of the stable tier: structs of function pointers, declared in backplane/stable/*.h. Each one has a source file.
//
// Thread-safety: constants.
// Lifetime:      of the process.
// Errors:        none.
#pragma once

#include "backplane/stable/plugin.h"

namespace backplane::stable {

const bp_json_table& json_table();
const bp_groups_table& groups_table();
const bp_security_table& security_table();
const bp_admission_table& admission_table();
const bp_http_table& http_table();
const bp_lifecycle_table& lifecycle_table();
const bp_client_table& client_table();
const bp_controllers_table& controllers_table();
const bp_storage_table& storage_table();
const bp_audit_table& audit_table();

}  // namespace backplane::stable
