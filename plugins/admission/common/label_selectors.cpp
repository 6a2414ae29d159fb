#include "common/label_selectors.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"

namespace backplane::admission {
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

const Object* labels_in(const Object* object) noexcept {
  const Object* metadata = object == nullptr ? nullptr : get_object(*object, "metadata");
  return metadata == nullptr ? nullptr : get_object(*metadata, "labels");
}

bool selects_labels(const LabelSelector& selector, const Object* labels) noexcept {
  return std::all_of(selector.requirements().begin(), selector.requirements().end(), [&](const LabelSelector::Requirement& requirement) {
    return meets(requirement, labels == nullptr ? nullptr : find(*labels, requirement.key));
  });
}

bool selects_object(const LabelSelector& selector, const AdmissionAttributes& attributes, const Object* object) noexcept {
  if (selector.empty()) return true;
  if (attributes.operation == AdmissionOperation::kConnect) return false;
  const auto selected = [&](const Object* each) { return each != nullptr && selects_labels(selector, labels_in(each)); };
  return selected(object) || selected(attributes.old_object);
}

}  // namespace backplane::admission
