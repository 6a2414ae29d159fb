#include "policy_search.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "access_keys.hpp"
#include "backplane/core/status.hpp"

namespace backplane::rbac {
namespace {

// The user and its groups, with their hashes, which are used for both scopes.
class Subjects {
 public:
  explicit Subjects(const UserInfo& user) noexcept : user_(user) {
    for (std::size_t i = 0; i < std::min(size(), hashes_.size()); ++i) hashes_[i] = computed(i);
  }
  std::size_t size() const noexcept { return 1 + user_.groups.size(); }
  std::uint64_t hash(std::size_t i) const noexcept { return i < hashes_.size() ? hashes_[i] : computed(i); }
  bool is(std::size_t i, const Subject& subject) const noexcept { return subject.matches(kind(i), text(i)); }

 private:
  SubjectKind kind(std::size_t i) const noexcept { return i == 0 ? SubjectKind::kUser : SubjectKind::kGroup; }
  std::string_view text(std::size_t i) const noexcept { return i == 0 ? std::string_view(user_.name) : user_.groups[i - 1]; }
  std::uint64_t computed(std::size_t i) const noexcept { return subject_hash(kind(i), text(i)); }
  const UserInfo& user_;
  std::array<std::uint64_t, 16> hashes_;
};

// A namespace, or the whole cluster.
struct Scope {
  explicit Scope(std::string_view text) noexcept : ns(text), hash(scope_hash(text)) {}
  std::string_view ns;
  std::uint64_t hash;
};

using Items = std::span<const BoundRoles::Item>;

const BoundRoles* bound(const SubjectTrie::Node* root, const Subjects& subjects, std::size_t i, const Scope& scope) noexcept {
  return SubjectTrie::find(root, place_hash(subjects.hash(i), scope.hash));
}

// Compares the texts, because lists are found by hashes, which may be equal for different subjects.
bool is_of(const BoundRoles::Item& item, const Subjects& subjects, std::size_t i, const Scope& scope) noexcept {
  return item.binding->ns() == scope.ns && subjects.is(i, item.binding->subject(item.subject));
}

void add_missing(MissingRoles& missing, const Role& role) {
  const std::pair<std::string, std::string> one(role.kind, role.name);
  if (std::find(missing.begin(), missing.end(), one) == missing.end()) missing.push_back(one);
}

// The message contains the resource in the singular, like errors of Go's listers.
std::string text_of_missing(const std::pair<std::string, std::string>& role) {
  const auto& [kind, name] = role;
  if (kind != "Role" && kind != "ClusterRole") return "unsupported role reference kind: " + backplane::quoted(kind);
  return not_found("rbac.authorization.k8s.io", kind == "Role" ? "role" : "clusterrole", name).message();
}

// Appends "name/ns" (or only the name) in quotes like Go's %q. Nearly all names need no escapes.
void append_quoted(std::string& out, std::string_view name, std::string_view ns = {}) {
  const auto plain = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  };
  const std::size_t begin = out.size();
  out.append(1, '"').append(name);
  if (!ns.empty()) out.append(1, '/').append(ns);
  if (plain(name) && plain(ns)) {
    out.push_back('"');
    return;
  }
  const std::string whole = out.substr(begin + 1);
  out.resize(begin);
  out.append(backplane::quoted(whole));
}

// The first subject of the binding that is the user or one of its groups.
Subject first_subject(const Binding& binding, const Subjects& subjects) noexcept {
  for (std::size_t at = 0; at < binding.size(); ++at) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (subjects.is(i, binding.subject(at))) return binding.subject(at);
    }
  }
  return {};
}

std::string reason(const Binding& binding, const Subjects& subjects) {
  constexpr std::array<std::string_view, 3> kKinds{"User ", "Group ", "ServiceAccount "};
  constexpr std::size_t kUsualSize = 192;
  const Subject subject = first_subject(binding, subjects);
  std::string out;
  out.reserve(kUsualSize);
  out.append("RBAC: allowed by ").append(binding.ns().empty() ? "ClusterRoleBinding " : "RoleBinding ");
  append_quoted(out, binding.name(), binding.ns());
  out.append(" of ").append(binding.role().kind).append(" ");
  append_quoted(out, binding.role().name);
  out.append(" to ").append(kKinds[static_cast<std::size_t>(subject.kind)]);
  append_quoted(out, subject.name, subject.ns);
  return out;
}

// The search for a binding that allows a request.
class Search {
 public:
  Search(const RequestView& request, const SubjectTrie::Node* root) noexcept : wanted_(request), root_(root) {}

  const Binding* find(const Subjects& subjects, std::string_view ns) {
    const Scope scope(ns);
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (const Binding* const found = find(subjects, i, scope)) return found;
    }
    return nullptr;
  }
  std::string refusal() const { return missing_.empty() ? std::string() : "RBAC: " + missing_text(missing_); }

 private:
  // Searches the roles of one subject in one scope; null: no role allows the request.
  const Binding* find(const Subjects& subjects, std::size_t i, const Scope& scope) {
    const BoundRoles* const list = bound(root_, subjects, i, scope);
    if (list == nullptr) return nullptr;
    if (!list->indexed()) return find(list->items(), subjects, i, scope);
    if (!keys_) keys_.emplace(wanted_);
    for (const AccessKey key : *keys_) {
      const BoundRoles* const keyed = SubjectTrie::find(root_, keyed_place(list->hash(), key));
      const Binding* const found = keyed != nullptr ? find(keyed->items(), subjects, i, scope) : nullptr;
      if (found != nullptr) return found;
    }
    return nullptr;
  }
  // Checks the rules of a role once for adjacent bindings of this role.
  const Binding* find(Items items, const Subjects& subjects, std::size_t i, const Scope& scope) {
    for (auto item = items.begin(); item != items.end();) {
      if (!is_of(*item, subjects, i, scope)) {
        ++item;
        continue;
      }
      const Role& role = item->binding->role();
      if (allows(role)) return item->binding;
      if (++item != items.end() && &item->binding->role() == &role) item = after_role(item, items.end(), role);
    }
    return nullptr;
  }
  static Items::iterator after_role(Items::iterator from, Items::iterator end, const Role& role) {
    return std::partition_point(from, end, [&](const BoundRoles::Item& item) { return &item.binding->role() == &role; });
  }
  bool allows(const Role& role) {
    const RoleRulesBox* const box = role.rules.load(std::memory_order_acquire);
    if (box == nullptr) {
      add_missing(missing_, role);
      return false;
    }
    for (const RuleMatcher& rule : box->rules) {
      if (rule.allows(wanted_)) return true;
    }
    return false;
  }

  const WantedAccess wanted_;
  const SubjectTrie::Node* const root_;
  std::optional<WantedKeys> keys_;
  MissingRoles missing_;
};

// Returns the user's bindings in one scope, sorted by name, without repetitions: several subjects of a binding may match the user.
std::vector<const Binding*> bindings_of(const SubjectTrie::Node* root, const Subjects& subjects, const Scope& scope) {
  std::vector<const Binding*> out;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const BoundRoles* const list = bound(root, subjects, i, scope);
    for (const BoundRoles::Item& item : list != nullptr ? list->items() : Items()) {
      if (is_of(item, subjects, i, scope)) out.push_back(item.binding);
    }
  }
  std::sort(out.begin(), out.end(), [](const Binding* a, const Binding* b) { return a->name() < b->name(); });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::string missing_text(const MissingRoles& missing) {
  if (missing.size() == 1) return text_of_missing(missing.front());
  std::string out;
  for (const auto& role : missing) out.append(out.empty() ? "[" : ", ").append(text_of_missing(role));
  return out + "]";
}

AuthorizerResult decide(const SubjectTrie::Node* root, const RequestView& request) {
  const Subjects subjects(request.user);
  Search search(request, root);
  const Binding* by = search.find(subjects, {});
  if (by == nullptr && !request.ns.empty()) by = search.find(subjects, request.ns);
  if (by != nullptr) return {Decision::kAllow, reason(*by, subjects), {}};
  return {Decision::kNoOpinion, search.refusal(), {}};
}

UserRules user_rules(const SubjectTrie::Node* root, const UserInfo& user, std::string_view ns) {
  UserRules out;
  const Subjects subjects(user);
  const auto add_from = [&](const Scope& scope) {
    for (const Binding* const binding : bindings_of(root, subjects, scope)) {
      const RoleRulesBox* const box = binding->role().rules.load(std::memory_order_acquire);
      if (box == nullptr) {
        add_missing(out.missing, binding->role());
        continue;
      }
      for (const RuleMatcher& rule : box->rules) out.rules.push_back(rule.rule());
    }
  };
  add_from(Scope({}));
  if (!ns.empty()) add_from(Scope(ns));
  return out;
}

}  // namespace backplane::rbac
