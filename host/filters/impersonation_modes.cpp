#include "filters/impersonation_modes.hpp"

#include <algorithm>

#include "backplane/core/text.hpp"
#include "backplane/types/domain_path.hpp"
#include "backplane/types/names.hpp"
#include "security/authorization.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

// Indexes of ImpersonationMetrics::kModes.
enum Mode : std::size_t { kAssociatedNode, kArbitraryNode, kServiceAccount, kUserInfo, kLegacy };

constexpr std::string_view kAuthenticationGroup = "authentication.k8s.io";
constexpr std::string_view kNodesGroup = "system:nodes";
constexpr std::string_view kNodeNameKey = "authentication.kubernetes.io/node-name";
constexpr std::string_view kNodeKeysKey = "authentication.kubernetes.io/associated-node-keys";
// If a request needs at least this many checks of groups or extra values, the constrained modes check "*" first.
constexpr std::size_t kMany = 4;

std::string constraint_of(std::size_t mode) { return "impersonate:" + std::string(ImpersonationMetrics::kModes[mode]); }
std::string verb_of(std::size_t mode) { return mode == kLegacy ? "impersonate" : constraint_of(mode); }

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}
void add_once(std::vector<std::string>& list, std::string_view text) {
  if (!contains(list, text)) list.emplace_back(text);
}

// Returns the node of the user name "system:node:<node>".
std::optional<std::string> node_of(std::string_view user) {
  constexpr std::string_view kPrefix = "system:node:";
  if (!user.starts_with(kPrefix)) return std::nullopt;
  user.remove_prefix(kPrefix.size());
  return is_dns1123_subdomain(user).empty() ? std::optional<std::string>(user) : std::nullopt;
}

struct ServiceAccount {
  std::string ns, name;
};
// Returns the service account of the user name "system:serviceaccount:<namespace>:<name>".
std::optional<ServiceAccount> service_account_of(std::string_view user) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) return std::nullopt;
  user.remove_prefix(kPrefix.size());
  const auto colon = user.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view ns = user.substr(0, colon), name = user.substr(colon + 1);
  if (!is_dns1123_label(ns).empty() || !is_dns1123_subdomain(name).empty()) return std::nullopt;
  return ServiceAccount{std::string(ns), std::string(name)};
}

bool has_only_a_name(const UserInfo& user) { return user.uid.empty() && user.groups.empty() && user.extra.empty(); }

// Returns true if the requestor is a service account whose token is bound to the node.
bool is_on_node(const UserInfo& requestor, const std::string& node) {
  if (!service_account_of(requestor.name)) return false;
  for (const auto& [key, values] : requestor.extra) {
    if (key == kNodeNameKey) return values.size() == 1 && values.front() == node;
  }
  return false;
}

bool applies(std::size_t mode, const UserInfo& wanted, const UserInfo& requestor) {
  const auto node = node_of(wanted.name);
  if (mode == kAssociatedNode) return has_only_a_name(wanted) && node && is_on_node(requestor, *node);
  if (mode == kArbitraryNode) return has_only_a_name(wanted) && node;
  if (mode == kServiceAccount) return has_only_a_name(wanted) && service_account_of(wanted.name);
  return !node && !service_account_of(wanted.name);
}

// Returns the requestor without its extra values, which name its node and its pod. The result is the same on every node.
UserInfo without_values(const UserInfo& requestor) {
  UserInfo out = requestor;
  std::vector<std::string> keys;
  for (const auto& [key, values] : requestor.extra) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  out.extra = {{std::string(kNodeKeysKey), std::move(keys)}};
  return out;
}

AuthorizationAttributes attributes(std::size_t mode, const UserRef& requestor, std::string_view group, std::string resource,
                                   std::string name = {}) {
  AuthorizationAttributes out;
  out.user = requestor;
  out.verb = verb_of(mode);
  out.resource_request = true;
  out.api_group = group;
  out.api_version = "v1";
  out.resource = std::move(resource);
  out.name = std::move(name);
  return out;
}
// Users and groups belong to the core API group in the legacy mode, and to authentication.k8s.io in the other modes.
std::string_view user_group(std::size_t mode) { return mode == kLegacy ? std::string_view() : kAuthenticationGroup; }

// Returns the reason why a constrained mode refuses the extra fields; empty if the mode accepts them.
std::string extra_problem(const UserInfo& wanted) {
  for (const auto& [key, values] : wanted.extra) {
    if (key.empty()) return "impersonating the empty string key in extra is not allowed";
    FieldErrors errors;
    validate_domain_path(key, "extra.key", errors);
    if (!errors.empty()) return "impersonating an invalid key in extra is not allowed: " + errors.aggregate_message();
    if (key != lower_case(key)) return "impersonating a non-lowercase key in extra is not allowed: " + backplane::quoted(key);
    if (contains(values, "")) return "impersonating the empty string value in extra is not allowed";
  }
  return {};
}

std::size_t values_of(const UserInfo& wanted) {
  std::size_t out = 0;
  for (const auto& [key, values] : wanted.extra) out += values.size();
  return out;
}

void add_default_groups(UserInfo& user) {
  if (user.name == kAnonymousUser) return add_once(user.groups, kUnauthenticatedGroup);
  if (!contains(user.groups, kUnauthenticatedGroup)) add_once(user.groups, kAuthenticatedGroup);
}

}  // namespace

ImpersonationModes::ImpersonationModes(Authorizer& authorizer, bool constrained, ImpersonationMetrics* metrics)
    : authorizer_(authorizer), constrained_(constrained), metrics_(metrics) {}

Task<Result<ImpersonatedUser>> ImpersonationModes::impersonate(const UserInfo& wanted, const AuthorizationAttributes& request) const {
  const ImpersonationKey requestor = requestor_key(request.user->name);
  const std::size_t first = constrained_ ? last_mode_.get(requestor).value_or(kModes) : kLegacy;
  Status error;
  if (first < kModes) {
    Result<std::optional<ImpersonatedUser>> user = co_await check(first, wanted, request);
    if (user.ok() && *user) co_return std::move(**user);
    if (!user.ok()) error = std::move(user).status();
  }
  for (std::size_t mode = 0; constrained_ && mode < kModes; ++mode) {
    if (mode == first) continue;
    Result<std::optional<ImpersonatedUser>> user = co_await check(mode, wanted, request);
    if (!user.ok() && error.ok()) error = std::move(user).status();
    if (!user.ok() || !*user) continue;
    last_mode_.set(requestor, mode);
    co_return std::move(**user);
  }
  co_return error;
}

Task<Result<std::optional<ImpersonatedUser>>> ImpersonationModes::check(std::size_t mode, const UserInfo& wanted,
                                                                        const AuthorizationAttributes& request) const {
  if (mode != kLegacy) {
    auto checking = check_constrained(mode, wanted, request);
    co_return co_await std::move(checking);
  }
  UserInfo actual = wanted;
  Status status = co_await check_user(mode, wanted, request.user, actual);
  if (!status.ok()) co_return status;
  co_return std::optional<ImpersonatedUser>(ImpersonatedUser{UserRef(std::move(actual)), {}});
}

Task<Result<std::optional<ImpersonatedUser>>> ImpersonationModes::check_constrained(std::size_t mode, const UserInfo& wanted,
                                                                                    const AuthorizationAttributes& request) const {
  if (!applies(mode, wanted, *request.user)) co_return std::optional<ImpersonatedUser>();
  // In mode kAssociatedNode, one cache entry serves all nodes of the service account. `named` therefore sets the name of the user again.
  UserInfo key_user = wanted;
  UserInfo key_requestor = *request.user;
  if (mode == kAssociatedNode) {
    key_user.name = "system:node:*";
    key_requestor = without_values(key_requestor);
  }
  Caches& caches = caches_[mode];
  const auto whole_key = impersonation_key(key_user, key_requestor, &request);
  const auto user_key = impersonation_key(key_user, key_requestor, nullptr);
  const auto named = [&](ImpersonatedUser found) {
    if (found.user->name == wanted.name) return std::optional<ImpersonatedUser>(std::move(found));
    UserInfo user = *found.user;
    user.name = wanted.name;
    return std::optional<ImpersonatedUser>(ImpersonatedUser{UserRef(std::move(user)), std::move(found.constraint)});
  };
  if (whole_key) {
    if (auto found = caches.whole.get(*whole_key)) co_return named(std::move(*found));
  }
  AuthorizationAttributes on = request;
  on.verb = "impersonate-on:" + std::string(ImpersonationMetrics::kModes[mode]) + ":" + request.verb;
  Status status = co_await allowed(mode, std::move(on));
  if (!status.ok()) co_return status;
  std::optional<ImpersonatedUser> user = caches.user.get(*user_key);
  if (!user) {
    UserInfo actual = wanted;
    status = co_await check_user(mode, wanted, request.user, actual);
    if (!status.ok()) co_return status;
    user = ImpersonatedUser{UserRef(std::move(actual)), constraint_of(mode)};
    caches.user.set(*user_key, *user);
  }
  if (whole_key) caches.whole.set(*whole_key, *user);
  co_return named(std::move(*user));
}

Task<Status> ImpersonationModes::check_user(std::size_t mode, const UserInfo& wanted, const UserRef& requestor, UserInfo& actual) const {
  Status status = co_await check_name(mode, wanted, requestor, actual);
  // If the gate is off, the uid is checked last.
  if (status.ok() && constrained_) status = co_await check_uid(mode, wanted, requestor);
  if (status.ok()) status = co_await check_groups(mode, wanted, requestor);
  if (status.ok()) status = co_await check_extra(mode, wanted, requestor);
  if (status.ok() && !constrained_) status = co_await check_uid(mode, wanted, requestor);
  if (status.ok()) add_default_groups(actual);
  co_return status;
}

Task<Status> ImpersonationModes::check_name(std::size_t mode, const UserInfo& wanted, const UserRef& requestor, UserInfo& actual) const {
  AuthorizationAttributes asked = attributes(mode, requestor, user_group(mode), "users", wanted.name);
  if (auto node = node_of(wanted.name); node && mode != kLegacy) {
    asked.resource = "nodes";
    asked.name = std::move(*node);
    actual.groups = {std::string(kNodesGroup)};
  }
  if (auto account = service_account_of(wanted.name)) {
    asked.resource = "serviceaccounts";
    asked.ns = account->ns;
    asked.name = std::move(account->name);
    if (wanted.groups.empty()) actual.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account->ns};
  }
  co_return co_await allowed(mode, std::move(asked));
}

Task<Status> ImpersonationModes::check_uid(std::size_t mode, const UserInfo& wanted, const UserRef& requestor) const {
  if (wanted.uid.empty()) co_return Status();
  AuthorizationAttributes asked = attributes(mode, requestor, kAuthenticationGroup, "uids", wanted.uid);
  co_return co_await allowed(mode, std::move(asked));
}

Task<Status> ImpersonationModes::check_groups(std::size_t mode, const UserInfo& wanted, const UserRef& requestor) const {
  AuthorizationAttributes asked = attributes(mode, requestor, user_group(mode), "groups");
  if (mode != kLegacy) {
    if (contains(wanted.groups, "")) co_return forbidden_request(asked, "impersonating the empty string group is not allowed");
    if (contains(wanted.groups, kPrivilegedGroup)) {
      asked.name = kPrivilegedGroup;
      co_return forbidden_request(asked, "impersonating the system:masters group is not allowed");
    }
    if (wanted.groups.size() >= kMany) {
      asked.name = "*";
      Status all = co_await allowed(mode, asked);
      if (all.ok()) co_return all;
    }
  }
  for (const std::string& group : wanted.groups) {
    asked.name = group;
    Status status = co_await allowed(mode, asked);
    if (!status.ok()) co_return status;
  }
  co_return Status();
}

Task<Status> ImpersonationModes::check_extra(std::size_t mode, const UserInfo& wanted, const UserRef& requestor) const {
  AuthorizationAttributes asked = attributes(mode, requestor, kAuthenticationGroup, "userextras");
  if (mode != kLegacy) {
    const std::string problem = extra_problem(wanted);
    if (!problem.empty()) co_return forbidden_request(asked, problem);
    if (values_of(wanted) >= kMany) {
      asked.subresource = "*";
      asked.name = "*";
      Status all = co_await allowed(mode, asked);
      if (all.ok()) co_return all;
    }
  }
  for (const auto& [key, values] : wanted.extra) {
    asked.subresource = key;
    for (const std::string& value : values) {
      asked.name = value;
      Status status = co_await allowed(mode, asked);
      if (!status.ok()) co_return status;
    }
  }
  co_return Status();
}

Task<Status> ImpersonationModes::allowed(std::size_t mode, AuthorizationAttributes wanted) const {
  if (mode == kAssociatedNode) {
    // The permission must apply to every node, because its cache entry does.
    if (wanted.verb == constraint_of(mode)) wanted.name = "*";
    wanted.user = UserRef(without_values(*wanted.user));
  }
  const auto began = std::chrono::steady_clock::now();
  std::optional<AuthorizerResult> result = authorizer_.decide_now(RequestView(wanted));
  if (!result) {
    auto asking = authorizer_.authorize(wanted);
    result = co_await std::move(asking);
  }
  const bool is_allowed = result->decision == Decision::kAllow && (constrained_ || result->error.ok());
  if (metrics_ != nullptr && constrained_) metrics_->authorization(mode, is_allowed, std::chrono::steady_clock::now() - began);
  if (is_allowed) co_return Status();
  std::string why = result->reason;
  if (constrained_ && !result->error.ok()) why = result->error.message() + (why.empty() ? "" : ": " + why);
  co_return forbidden_request(wanted, why);
}

}  // namespace backplane
