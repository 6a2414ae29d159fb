// Keys in the backend. In the host every key begins with "/registry"; etcd has --etcd-prefix in its place. Logs and errors show the
// backend's keys.
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
