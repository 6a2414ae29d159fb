// Converts the host's keys to the keys that the backend stores, for logs and errors. In the host, object keys begin with "/registry"; in
// etcd,
// --etcd-prefix replaces that.
//
// Thread-safety: immutable; any thread.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

class BackendKeys {
 public:
  // `prefix`: --etcd-prefix, with or without slashes at its ends; empty: "/registry".
  explicit BackendKeys(std::string_view prefix = {});
  std::string of(std::string_view key) const;

 private:
  std::string root_;
};

}  // namespace backplane
