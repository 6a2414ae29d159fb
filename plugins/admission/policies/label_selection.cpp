#include "policies/label_selection.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::policies {
namespace {

bool meets(const LabelSelector::Requirement& requirement, const Value* label) noexcept {
  using Op = LabelSelector::Op;
  const auto is_any = [&] {
    return label != nullptr && std::find(requirement.values.begin(), requirement.values.end(), text_of(*label)) != requirement.values.end();
  };
  switch (requirement.op) {
    case Op::kEquals:
    case Op::kIn:
      return is_any();
    case Op::kNotEquals:
    case Op::kNotIn:
      return !is_any();
    case Op::kExists:
      return label != nullptr;
    case Op::kNotExists:
      return label == nullptr;
    case Op::kGreater:
    case Op::kLess:
      break;  // a LabelSelector has none of these
  }
  return false;
}

}  // namespace

bool selects(const LabelSelector& selector, const Object* labels) noexcept {
  return std::all_of(selector.requirements().begin(), selector.requirements().end(), [&](const LabelSelector::Requirement& requirement) {
    return meets(requirement, labels == nullptr ? nullptr : find(*labels, requirement.key));
  });
}

}  // namespace backplane::admission::policies
