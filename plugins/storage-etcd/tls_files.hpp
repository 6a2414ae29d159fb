// Checks the TLS files for etcd before the first connection, so that startup fails for a wrong file.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest that names the flag and the file's problem.
#pragma once

#include "settings.hpp"

namespace backplane::etcd {

// Checks that the files of `settings` are authorities, and a certificate with its key, even if no server uses TLS.
Status check_tls_files(const Settings& settings);

}  // namespace backplane::etcd
