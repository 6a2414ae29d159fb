// Checks the TLS files for etcd before the first connection, so that startup fails if a file is invalid.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest that names the flag and the file's problem.
#pragma once

#include "settings.hpp"

namespace backplane::etcd {

// Checks that authorities_file contains certificates, and that certificate_file and key_file match, even if no server uses TLS.
Status check_tls_files(const Settings& settings);

}  // namespace backplane::etcd
