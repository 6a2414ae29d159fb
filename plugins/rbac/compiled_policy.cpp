#include "compiled_policy.hpp"

#include "access_keys.hpp"

namespace backplane::rbac {
namespace {

// If a subject has more bindings than this in one scope, they are indexed by the access keys of their roles (access_keys.hpp).
constexpr std::size_t kLongList = 32;

std::string role_key(std::string_view kind, std::string_view ns, std::string_view name) {
  std::string out(kind);
  return out.append("/").append(ns).append("/").append(name);
}

}  // namespace

CompiledPolicy::~CompiledPolicy() {
  SubjectTrie::free_all(root_);
  for (Binding* const each : bindings_) Binding::free(each);
  for (const auto& [key, each] : roles_) Role::free(each);
}

// ---- changes

Role& CompiledPolicy::role(std::string_view kind, std::string_view ns, std::string_view name) {
  Role*& place = roles_[role_key(kind, ns, name)];
  if (place == nullptr) {
    place = new Role();
    place->kind = kind;
    place->ns = ns;
    place->name = name;
  }
  return *place;
}

void CompiledPolicy::drop_if_unused(Role& role) {
  if (role.bindings > 0 || role.rules.load(std::memory_order_relaxed) != nullptr) return;
  roles_.erase(role_key(role.kind, role.ns, role.name));
  garbage_.add(&role);
}

void CompiledPolicy::set_rules(Role& role, const RoleRulesBox* rules) {
  // Copied, because the lists change during the loop.
  std::vector<std::pair<std::uint64_t, BoundRoles::Item>> long_lists;
  for (const std::uint64_t place : indexed_) {
    for (const BoundRoles::Item& item : SubjectTrie::find(root_, place)->of(role)) long_lists.emplace_back(place, item);
  }
  for (const auto& [place, item] : long_lists) remove_from_index(place, item);
  garbage_.add(role.rules.exchange(rules, std::memory_order_acq_rel));
  for (const auto& [place, item] : long_lists) index(place, item);
}

void CompiledPolicy::put_role(std::string_view ns, std::string_view name, PolicyRules rules) {
  set_rules(role(ns.empty() ? "ClusterRole" : "Role", ns, name), new RoleRulesBox{matchers_of(std::move(rules))});
  publish();
}

void CompiledPolicy::remove_role(std::string_view ns, std::string_view name) {
  Role& gone = role(ns.empty() ? "ClusterRole" : "Role", ns, name);
  set_rules(gone, nullptr);
  drop_if_unused(gone);
  publish();
}

void CompiledPolicy::put_binding(const BindingSource& source) {
  std::vector<Subject> subjects;
  subjects.reserve(source.subjects.size());
  for (Subject subject : source.subjects) {
    if (subject.kind != SubjectKind::kServiceAccount) subject.ns = {};
    if (subject.kind == SubjectKind::kServiceAccount && subject.ns.empty()) subject.ns = source.ns;
    // A service account without a namespace matches no user.
    if (subject.kind != SubjectKind::kServiceAccount || !subject.ns.empty()) subjects.push_back(subject);
  }
  Role& of = role(source.role_kind, source.role_kind == "ClusterRole" ? std::string_view() : source.ns, source.role_name);
  ++of.bindings;
  Binding* const binding = Binding::make(of, source.ns, source.name, subjects);
  const auto former = bindings_.find(KeyHash::Key(source.ns, source.name));
  Binding* const old = former != bindings_.end() ? *former : nullptr;
  if (old != nullptr) bindings_.erase(former);
  bindings_.insert(binding);
  if (old != nullptr) drop(*old);
  add(*binding);
  publish();
}

void CompiledPolicy::remove_binding(std::string_view ns, std::string_view name) {
  const auto found = bindings_.find(KeyHash::Key(ns, name));
  if (found == bindings_.end()) return;
  Binding* const binding = *found;
  bindings_.erase(found);
  drop(*binding);
  publish();
}

template <class Change>
const BoundRoles* CompiledPolicy::put_list(std::uint64_t place, Change change) {
  const BoundRoles* const list = change(SubjectTrie::find(root_, place));
  root_ = SubjectTrie::with(root_, place, list, garbage_);
  return list;
}

void CompiledPolicy::index(std::uint64_t place, const BoundRoles::Item& item) {
  for (const AccessKey key : access_keys(item.binding->role().rules.load(std::memory_order_relaxed))) {
    const std::uint64_t keyed = keyed_place(place, key);
    put_list(keyed, [&](const BoundRoles* list) { return BoundRoles::with(list, keyed, item); });
  }
}

void CompiledPolicy::remove_from_index(std::uint64_t place, const BoundRoles::Item& item) {
  for (const AccessKey key : access_keys(item.binding->role().rules.load(std::memory_order_relaxed))) {
    put_list(keyed_place(place, key), [&](const BoundRoles* list) { return BoundRoles::without(list, *item.binding); });
  }
}

void CompiledPolicy::add(const Binding& binding) {
  const std::uint64_t scope = scope_hash(binding.ns());
  for (std::uint32_t i = 0; i < binding.size(); ++i) {
    const std::uint64_t place = place_hash(subject_hash(binding.subject(i)), scope);
    const BoundRoles::Item item{&binding, i};
    const BoundRoles* list = put_list(place, [&](const BoundRoles* old) { return BoundRoles::with(old, place, item); });
    if (list->indexed()) {
      index(place, item);
    } else if (list->items().size() > kLongList) {
      list = put_list(place, [](const BoundRoles* old) { return BoundRoles::as_indexed(*old); });
      indexed_.insert(place);
      for (const BoundRoles::Item& each : list->items()) index(place, each);
    }
  }
}

void CompiledPolicy::drop(const Binding& binding) {
  const std::uint64_t scope = scope_hash(binding.ns());
  for (std::uint32_t i = 0; i < binding.size(); ++i) {
    const std::uint64_t place = place_hash(subject_hash(binding.subject(i)), scope);
    const BoundRoles* const before = SubjectTrie::find(root_, place);
    if (before != nullptr && before->indexed()) remove_from_index(place, {&binding, i});
    if (put_list(place, [&](const BoundRoles* old) { return BoundRoles::without(old, binding); }) == nullptr) indexed_.erase(place);
  }
  garbage_.add(&binding);
  --binding.role().bindings;
  drop_if_unused(binding.role());
}

void CompiledPolicy::open() {
  open_ = true;
  publish();
}

void CompiledPolicy::publish() {
  if (!open_) {
    const Garbage unseen = std::move(garbage_);
    return;
  }
  auto next = std::make_unique<Version>();
  next->root = root_;
  // Readers of the former version, and of older versions, may still use the objects that this change has replaced.
  if (last_ != nullptr) last_->garbage.add_all(std::move(garbage_));
  last_ = next.get();
  versions_.publish(std::move(next));
}

// ---- decisions

AuthorizerResult CompiledPolicy::decide(const RequestView& request) const {
  const auto version = versions_.read();
  return version.get() != nullptr ? rbac::decide(version->root, request) : AuthorizerResult();
}

UserRules CompiledPolicy::rules_for(const UserInfo& user, std::string_view ns) const {
  const auto version = versions_.read();
  return version.get() != nullptr ? user_rules(version->root, user, ns) : UserRules();
}

}  // namespace backplane::rbac
