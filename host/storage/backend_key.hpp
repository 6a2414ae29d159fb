// Keys as the backend has them.  In this process every key begins with "/registry"; in etcd with --etcd-prefix in its place.  Logs and
// errors name keys as an operator finds them.
//
// Thread-safety: name_backend_keys_by() before any store is opened; backend_key() from any thread.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

// `prefix`: --etcd-prefix, with or without slashes at its ends; empty: "/registry".
void name_backend_keys_by(std::string_view prefix);
std::string backend_key(std::string_view key);

}  // namespace backplane
