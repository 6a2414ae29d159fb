// Helpers for the checks: iteration over containers, and texts that name them.
//
// Thread-safety: pure functions.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::podsecurity {

using Names = std::vector<std::string>;
using NameSet = std::set<std::string, std::less<>>;

// Calls `visit(container)` for init containers, containers and ephemeral containers, in that order.
template <class Visit>
void each_container(const Object& spec, Visit visit) {
  for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
    each(spec, list, [&](const Object& container, std::size_t) { visit(container); });
  }
}

// `owner`: a pod spec or a container.
inline const Object& security_context(const Object& owner) noexcept { return object_or_empty(owner, "securityContext"); }
inline std::string name_of(const Object& named) { return std::string(get_string(named, "name")); }

// The names of the containers that `bad(container)` is true for.
template <class Bad>
Names containers_that(const Object& spec, Bad bad) {
  Names names;
  each_container(spec, [&](const Object& container) {
    if (bad(container)) names.push_back(name_of(container));
  });
  return names;
}

inline bool is_windows(const Object& spec) noexcept { return get_string(object_or_empty(spec, "os"), "name") == "windows"; }
// True if the pod does not use the user namespace of the host.
inline bool has_user_namespace(const Object& spec) noexcept { return get_bool(spec, "hostUsers") == false; }

inline std::string pluralize(std::string_view singular, std::string_view plural, std::size_t count) {
  return std::string(count == 1 ? singular : plural);
}
// "a", "b"
template <class Texts>
std::string join_quoted(const Texts& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "\"" : ", \"") + text + "\"";
  return out;
}
// `container "a"`, `containers "a", "b"`.
inline std::string containers_text(const Names& names) {
  return pluralize("container", "containers", names.size()) + " " + join_quoted(names);
}
// The parts of a pod that set a forbidden value: "pod", the containers, or both with " and " between them.
inline std::string setters_text(bool pod, const Names& containers) {
  std::string out = pod ? "pod" : "";
  if (!containers.empty()) out += (pod ? " and " : "") + containers_text(containers);
  return out;
}

}  // namespace backplane::admission::podsecurity
