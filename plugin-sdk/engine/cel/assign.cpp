#include "cel/assign.hpp"

#include <algorithm>
#include <string>

namespace backplane::cel_detail {
namespace {

bool is_param(const Type& type) { return type.kind == TypeKind::kParam; }

bool equal_or_less_exact(const Type& a, const Type& b) {
  if (is_dyn(a) || is_param(a)) return true;
  if (is_dyn(b) || is_param(b)) return false;
  if (a.kind != b.kind) return false;
  if (a.kind == TypeKind::kType) return true;
  if (a.kind != TypeKind::kOpaque && a.kind != TypeKind::kList && a.kind != TypeKind::kMap) return same(a, b);
  if (a.name != b.name || a.parameters.size() != b.parameters.size()) return false;
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    if (!equal_or_less_exact(*a.parameters[i], *b.parameters[i])) return false;
  }
  return true;
}

}  // namespace

bool takes_null(const Type& type) noexcept {
  switch (type.kind) {
    case TypeKind::kOpaque:
    case TypeKind::kStruct:
    case TypeKind::kAny:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
    case TypeKind::kNull:
      return true;
    default:
      return type.wrapper;
  }
}
bool is_dyn(const Type& type) noexcept { return type.kind == TypeKind::kDyn || type.kind == TypeKind::kAny; }
bool is_dyn_or_error(const Type& type) noexcept { return is_dyn(type) || type.kind == TypeKind::kError; }
const Type* most_general(const Type* a, const Type* b) { return equal_or_less_exact(*a, *b) ? a : b; }

const Type* Bindings::fresh() { return arena_.param("_var" + std::to_string(next_++)); }

const Type* Bindings::find(const Type& param) const {
  if (!is_param(param)) return nullptr;
  const auto found = bound_.find(param.name);
  return found == bound_.end() ? nullptr : found->second;
}

void Bindings::bind(const Type& param, const Type* type) {
  const Type*& slot = bound_[param.name];
  before_.emplace_back(param.name, slot);
  slot = type;
}

void Bindings::unbind(std::size_t until) {
  for (; before_.size() > until; before_.pop_back()) {
    const auto& [name, type] = before_.back();
    if (type == nullptr) {
      bound_.erase(name);
    } else {
      bound_[name] = type;
    }
  }
}

bool Bindings::assignable(const Type* a, const Type* b) { return all_assignable({&a, 1}, {&b, 1}); }

bool Bindings::all_assignable(std::span<const Type* const> a, std::span<const Type* const> b) {
  const std::size_t begin = before_.size();
  const bool fits = assign_all(a, b);
  if (!fits) unbind(begin);
  before_.resize(begin);
  return fits;
}

bool Bindings::assign_all(std::span<const Type* const> a, std::span<const Type* const> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!assign(a[i], b[i])) return false;
  }
  return true;
}

bool Bindings::assign(const Type* a, const Type* b) {
  if (is_param(*b)) {
    const auto [fits, known] = substitutes(a, b);
    if (fits || known) return fits;
  }
  if (is_param(*a)) return substitutes(b, a).first;
  if (is_dyn_or_error(*a) || is_dyn_or_error(*b)) return true;
  if (a->kind == TypeKind::kNull) return takes_null(*b);
  if (b->kind == TypeKind::kNull) return takes_null(*a);
  if (a->kind != b->kind) return false;
  if (a->kind == TypeKind::kType) return true;
  return a->name == b->name && assign_all(a->parameters, b->parameters);
}

// `first`: whether `a` can be bound to the parameter. `second`: whether the parameter was bound before.
std::pair<bool, bool> Bindings::substitutes(const Type* a, const Type* param) {
  if (a->kind == param->kind && same(*a, *param)) return {true, true};
  if (const Type* known = find(*param)) {
    if (a->kind == known->kind && same(*a, *known)) return {true, true};
    if (!assign(a, known)) return {false, true};
    const Type* general = most_general(a, known);
    if (absent_from(*param, *general)) bind(*param, general);
    return {true, true};
  }
  if (!absent_from(*param, *a)) return {false, false};
  bind(*param, a);
  return {true, false};
}

bool Bindings::absent_from(const Type& param, const Type& within) const {
  if (same(param, within)) return false;
  if (is_param(within)) {
    const Type* known = find(within);
    return known == nullptr || absent_from(param, *known);
  }
  return std::all_of(within.parameters.begin(), within.parameters.end(), [&](const Type* each) { return absent_from(param, *each); });
}

const Type* Bindings::substitute(const Type* type, bool to_dyn) const {
  if (const Type* known = find(*type)) return substitute(known, to_dyn);
  if (is_param(*type)) return to_dyn ? &kDynType : type;
  if (type->parameters.empty()) return type;
  std::vector<const Type*> parameters;
  bool changed = false;
  for (const Type* each : type->parameters) {
    parameters.push_back(substitute(each, to_dyn));
    changed = changed || parameters.back() != each;
  }
  return changed ? arena_.with_parameters(*type, std::move(parameters)) : type;
}

const Type* Instance::of(const Type* type) {
  if (is_param(*type)) {
    for (const auto& [name, made] : made_) {
      if (name == type->name) return made;
    }
    return made_.emplace_back(type->name, bindings_.fresh()).second;
  }
  if (type->parameters.empty()) return type;
  std::vector<const Type*> parameters;
  for (const Type* each : type->parameters) parameters.push_back(of(each));
  return arena_.with_parameters(*type, std::move(parameters));
}

}  // namespace backplane::cel_detail
