// Flow schemas and priority levels, parsed from their objects once and compared with every request.
//
// Thread-safety: const methods and functions from any thread.
// Errors:        read_priority_level() returns nullopt for an invalid object; upstream, too, ignores such an object.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/object.hpp"
#include "backplane/core/request.hpp"

namespace backplane::flowcontrol {

// A list of names, or all names.
struct Names {
  bool every = false;
  std::vector<std::string> list;
  bool has(std::string_view name) const noexcept {
    return every || std::any_of(list.begin(), list.end(), [&](const std::string& each) { return each == name; });
  }
};

struct Subject {
  enum class Kind : unsigned char { kUser, kGroup, kPrefix };
  Kind kind = Kind::kUser;
  bool every = false;
  std::string name;  // kPrefix: the beginning of the user's name
  bool is(const UserInfo& user) const noexcept;
  bool operator==(const Subject&) const = default;
};

struct ResourceMatch {
  Names verbs, groups, resources, namespaces;
  bool cluster_scope = false;
  bool matches(const RequestInfo& info) const noexcept;
};

struct PathMatch {
  Names verbs, paths;
  std::vector<std::string> prefixes;  // each ends with a slash
  bool matches(const RequestInfo& info) const noexcept;
};

struct FlowRule {
  std::vector<Subject> subjects;
  std::vector<ResourceMatch> resources;
  std::vector<PathMatch> paths;
  bool is_for(const UserInfo& user) const noexcept;
  bool is_about(const RequestInfo& info) const noexcept;
};

struct FlowSchema {
  enum class Distinguisher : unsigned char { kNone, kUser, kNamespace };
  std::string name;
  std::string uid;
  std::string level;
  std::int64_t precedence = 0;
  Distinguisher distinguisher = Distinguisher::kNone;
  std::vector<FlowRule> rules;

  // The flow of a request: requests of one flow share queues. Empty without a distinguisher.
  std::string_view flow_of(const UserInfo& user, const RequestInfo& info) const noexcept;
};
FlowSchema read_flow_schema(const Object& object);
// Sorts the schemas by precedence, then by name.
void sort_for_matching(std::vector<FlowSchema>& schemas);

struct PriorityLevel {
  std::string name;
  std::string uid;
  bool exempt = false;
  int shares = 0;
  int lendable_percent = 0;
  std::optional<int> borrowing_percent;  // nullopt: no limit
  int queues = 0;                        // 0: a request that finds no free seat is refused
  int hand_size = 0;
  int queue_length = 0;
};
std::optional<PriorityLevel> read_priority_level(const Object& object);

}  // namespace backplane::flowcontrol
