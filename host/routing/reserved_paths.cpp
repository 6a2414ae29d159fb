#include "routing/reserved_paths.hpp"

namespace backplane {

bool is_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

Status check_not_reserved(std::string_view path) {
  for (const std::string_view root : {"/debug/flags", "/debug/pprof", "/logs", "/plugins"}) {
    if (is_below(path, root)) return bad_request("path " + quoted(path) + " is inside " + quoted(root) + ", which the host serves");
  }
  return {};
}

}  // namespace backplane
