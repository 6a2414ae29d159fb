// --authorization-always-allow-paths: non-resource requests of these paths are allowed for all users, without a SubjectAccessReview.
//
// Thread-safety: as Authorizer.
// Source:        k8s.io/apiserver/pkg/authorization/path.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/points/authorization.hpp"

namespace backplane {

// A path may end with "*", which matches any rest of the path.
std::shared_ptr<Authorizer> make_always_allow_paths(std::vector<std::string> paths);

}  // namespace backplane
