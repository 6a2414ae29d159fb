// What the files for TLS with etcd hold, looked at before the first connection: a typing error is to end the start.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest that names the flag and what is wrong with its file.
#pragma once

#include "settings.hpp"

namespace backplane::etcd {

// Whether the files of `settings` are authorities, and a certificate with its key; also where no server is reached by TLS.
Status check_tls_files(const Settings& settings);

}  // namespace backplane::etcd
