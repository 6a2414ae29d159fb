// Roles and bindings compiled for decisions: what each subject may do, kept up to date by single changes.
//
// A decision looks up the user and each group in two scopes, the cluster and the namespace, and reads the rules of the roles found there.
// The cost does not depend on the number of bindings of other subjects. A change of a binding costs the lists of its subjects; a change of
// a role replaces its rules.
//
// Thread-safety: decisions and rules from any thread, without locks; changes from one thread at a time.
// Lifetime:      outlives the calls on it.
// Errors:        references to roles that do not exist are reported as upstream reports them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backplane/kit/published_snapshot.hpp"
#include "backplane/points/authorization.hpp"
#include "policy_search.hpp"
#include "subject_index.hpp"

namespace backplane::rbac {

struct BindingSource {
  std::string_view ns;  // empty: a ClusterRoleBinding
  std::string_view name;
  std::string_view role_kind, role_name;
  std::vector<Subject> subjects;  // as in the object; the namespace of a service account may be empty
};

class CompiledPolicy {
 public:
  CompiledPolicy() = default;
  CompiledPolicy(const CompiledPolicy&) = delete;
  CompiledPolicy& operator=(const CompiledPolicy&) = delete;
  ~CompiledPolicy();

  // ---- changes

  // A change is visible to decisions that begin after the call, if open() has been called. `ns` of a role is empty for a ClusterRole.
  void put_role(std::string_view ns, std::string_view name, PolicyRules rules);
  void remove_role(std::string_view ns, std::string_view name);
  void put_binding(const BindingSource& source);
  void remove_binding(std::string_view ns, std::string_view name);
  // Makes the policy visible. Before that, decisions are kNoOpinion and lists of rules are empty.
  void open();

  // ---- decisions
  AuthorizerResult decide(const RequestView& request) const;
  UserRules rules_for(const UserInfo& user, std::string_view ns) const;

 private:
  struct Version {
    const SubjectTrie::Node* root = nullptr;
    mutable Garbage garbage;  // objects that the next version does not use
  };
  struct KeyHash {
    using is_transparent = void;
    using Key = std::pair<std::string_view, std::string_view>;  // namespace and name
    std::size_t operator()(const Key& key) const noexcept { return place_hash(scope_hash(key.first), scope_hash(key.second)); }
    std::size_t operator()(const Binding* binding) const noexcept { return (*this)(Key(binding->ns(), binding->name())); }
  };
  struct SameKey {
    using is_transparent = void;
    static KeyHash::Key key(const Binding* binding) noexcept { return {binding->ns(), binding->name()}; }
    static KeyHash::Key key(const KeyHash::Key& key) noexcept { return key; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
      return key(a) == key(b);
    }
  };

  Role& role(std::string_view kind, std::string_view ns, std::string_view name);
  void drop_if_unused(Role& role);
  void set_rules(Role& role, const RoleRulesBox* rules);
  void add(const Binding& binding);
  void drop(const Binding& binding);
  // Replaces the list whose hash is `place` by the result of `change(list)`.
  template <class Change>
  const BoundRoles* put_list(std::uint64_t place, Change change);
  // Adds and removes items of a long list under the keys of their roles.
  void index(std::uint64_t place, const BoundRoles::Item& item);
  void remove_from_index(std::uint64_t place, const BoundRoles::Item& item);
  void publish();

  std::unordered_map<std::string, Role*> roles_;
  std::unordered_set<Binding*, KeyHash, SameKey> bindings_;
  std::unordered_set<std::uint64_t> indexed_;  // hashes of the long lists
  const SubjectTrie::Node* root_ = nullptr;
  Garbage garbage_;  // of the change that is being made
  const Version* last_ = nullptr;
  bool open_ = false;
  kit::PublishedSnapshot<Version> versions_;
};

}  // namespace backplane::rbac
