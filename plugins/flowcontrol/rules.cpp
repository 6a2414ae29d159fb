#include "rules.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "kinds.hpp"
#include "shuffle.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace kit;

constexpr std::string_view kEvery = "*";
constexpr std::string_view kServiceAccounts = "system:serviceaccount:";

int number(const Object& object, std::string_view key) { return static_cast<int>(get_int_path(object, key).value_or(0)); }

// Upstream treats "*" as every name only if it is the only item, which its validation requires.
Names read_names(const Object& rule, std::string_view key) {
  Names names{false, texts_of(rule, key)};
  names.every = names.list.size() == 1 && names.list.front() == kEvery;
  return names;
}

std::optional<Subject> read_subject(const Object& subject) {
  const std::string_view kind = get_string(subject, "kind");
  if (kind == "User") {
    std::string name(get_string(object_or_empty(subject, "user"), "name"));
    if (!has(subject, "user")) return std::nullopt;
    return Subject{Subject::Kind::kUser, name == kEvery, std::move(name)};
  }
  if (kind == "Group") {
    std::string name(get_string(object_or_empty(subject, "group"), "name"));
    if (!has(subject, "group")) return std::nullopt;
    return Subject{Subject::Kind::kGroup, name == kEvery, std::move(name)};
  }
  if (kind != "ServiceAccount" || !has(subject, "serviceAccount")) return std::nullopt;
  const Object& account = object_or_empty(subject, "serviceAccount");
  const std::string_view name = get_string(account, "name");
  const std::string all = std::string(kServiceAccounts).append(get_string(account, "namespace")).append(":");
  if (name == kEvery) return Subject{Subject::Kind::kPrefix, false, all};
  return Subject{Subject::Kind::kUser, false, all + std::string(name)};
}

PathMatch read_paths(const Object& rule) {
  PathMatch match{read_names(rule, "verbs"), {false, texts_of(rule, "nonResourceURLs")}, {}};
  for (const std::string& path : match.paths.list) {
    match.paths.every = match.paths.every || path == kEvery;
    std::string prefix = path.ends_with('*') ? path.substr(0, path.size() - 1) : path;
    if (!prefix.ends_with('/')) prefix += '/';
    match.prefixes.push_back(std::move(prefix));
  }
  return match;
}

FlowRule read_rule(const Object& object) {
  FlowRule rule;
  each(object, "subjects", [&](const Object& subject, std::size_t) {
    if (auto read = read_subject(subject)) rule.subjects.push_back(std::move(*read));
  });
  each(object, "resourceRules", [&](const Object& match, std::size_t) {
    rule.resources.push_back({read_names(match, "verbs"), read_names(match, "apiGroups"), read_names(match, "resources"),
                              read_names(match, "namespaces"), get_bool(match, "clusterScope").value_or(false)});
  });
  each(object, "nonResourceRules", [&](const Object& match, std::size_t) { rule.paths.push_back(read_paths(match)); });
  return rule;
}

// Whether `names` contains the request's resource, or "resource/subresource" if the request has a subresource. The items are compared in
// place: a joined string would be allocated for every request.
bool has_resource(const Names& names, const RequestInfo& info) noexcept {
  if (names.every || info.subresource.empty()) return names.has(info.resource);
  const std::size_t size = info.resource.size() + 1 + info.subresource.size();
  return std::any_of(names.list.begin(), names.list.end(), [&](const std::string& each) {
    return each.size() == size && each.starts_with(info.resource) && each[info.resource.size()] == '/' && each.ends_with(info.subresource);
  });
}

}  // namespace

bool Subject::is(const UserInfo& user) const noexcept {
  if (every) return true;
  switch (kind) {
    case Kind::kUser:
      return user.name == name;
    case Kind::kGroup:
      return std::find(user.groups.begin(), user.groups.end(), name) != user.groups.end();
    case Kind::kPrefix:
      return user.name.starts_with(name);
  }
  return false;
}

bool ResourceMatch::matches(const RequestInfo& info) const noexcept {
  if (!verbs.has(info.verb) || !has_resource(resources, info) || !groups.has(info.api_group)) return false;
  return info.ns.empty() ? cluster_scope : namespaces.has(info.ns);
}

bool PathMatch::matches(const RequestInfo& info) const noexcept {
  if (!verbs.has(info.verb)) return false;
  if (paths.has(info.path)) return true;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) { return info.path.starts_with(prefix); });
}

bool FlowRule::is_for(const UserInfo& user) const noexcept {
  return std::any_of(subjects.begin(), subjects.end(), [&](const Subject& subject) { return subject.is(user); });
}

bool FlowRule::is_about(const RequestInfo& info) const noexcept {
  const auto fits = [&](const auto& match) { return match.matches(info); };
  if (info.is_resource_request) return std::any_of(resources.begin(), resources.end(), fits);
  return std::any_of(paths.begin(), paths.end(), fits);
}

std::string_view FlowSchema::flow_of(const UserInfo& user, const RequestInfo& info) const noexcept {
  if (distinguisher == Distinguisher::kUser) return user.name;
  return distinguisher == Distinguisher::kNamespace ? std::string_view(info.ns) : std::string_view();
}

FlowSchema read_flow_schema(const Object& object) {
  FlowSchema schema;
  const Object& spec = object_or_empty(object, "spec");
  schema.name = meta_name(object);
  schema.uid = get_string_path(object, "metadata.uid");
  schema.level = get_string(object_or_empty(spec, "priorityLevelConfiguration"), "name");
  schema.precedence = get_int_path(spec, "matchingPrecedence").value_or(0);
  const std::string_view method = get_string(object_or_empty(spec, "distinguisherMethod"), "type");
  if (method == "ByUser") schema.distinguisher = FlowSchema::Distinguisher::kUser;
  if (method == "ByNamespace") schema.distinguisher = FlowSchema::Distinguisher::kNamespace;
  each(spec, "rules", [&](const Object& rule, std::size_t) { schema.rules.push_back(read_rule(rule)); });
  return schema;
}

void sort_for_matching(std::vector<FlowSchema>& schemas) {
  std::sort(schemas.begin(), schemas.end(), [](const FlowSchema& a, const FlowSchema& b) {
    return a.precedence != b.precedence ? a.precedence < b.precedence : a.name < b.name;
  });
}

std::optional<PriorityLevel> read_priority_level(const Object& object) {
  PriorityLevel level;
  const Object& spec = object_or_empty(object, "spec");
  level.name = meta_name(object);
  level.uid = get_string_path(object, "metadata.uid");
  level.exempt = get_string(spec, "type") == "Exempt";
  if (level.exempt != (level.name == "exempt") || level.exempt != has(spec, "exempt") || level.exempt == has(spec, "limited")) {
    return std::nullopt;
  }
  const Object& share = object_or_empty(spec, level.exempt ? "exempt" : "limited");
  level.shares = number(share, "nominalConcurrencyShares");
  level.lendable_percent = number(share, "lendablePercent");
  if (has(share, "borrowingLimitPercent")) level.borrowing_percent = number(share, "borrowingLimitPercent");
  const Object& response = object_or_empty(share, "limitResponse");
  const bool queues = has(response, "queuing");
  if (!level.exempt && queues == (get_string(response, "type") == "Reject")) return std::nullopt;
  if (!queues) return level;
  const Object& queuing = object_or_empty(response, "queuing");
  level.queues = number(queuing, "queues");
  level.hand_size = number(queuing, "handSize");
  level.queue_length = number(queuing, "queueLengthLimit");
  return can_deal(level.queues, level.hand_size) ? std::optional<PriorityLevel>(std::move(level)) : std::nullopt;
}

}  // namespace backplane::flowcontrol
