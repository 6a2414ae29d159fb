#include "backplane/kit/strategy.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

void KindStrategy::prepare_for_create(RequestContext&, Object& object) const { prepare_create(object); }
void KindStrategy::prepare_for_update(RequestContext&, Object& object, const Object& old) const { prepare_update(object, old); }
void KindStrategy::validate(RequestContext& context, const Object& object, FieldErrors& errors) const {
  if (!facts().any_finalizer_names) check_finalizer_names(object, errors);
  check(object, errors);
  check_request(context, object, errors);
  check_new(object, errors);
}
void KindStrategy::validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const {
  check_change(object, old, errors);
  // As often as upstream's update validation checks metadata.
  const int times = facts().any_finalizer_names ? 0 : int(facts().rechecks_metadata_change) + int(facts().rechecks_metadata);
  for (int i = 0; i < times; ++i) check_finalizer_names(object, errors);
  check(object, errors);
  check_request(context, object, errors);
}
void KindStrategy::prepare_create(Object&) const {}
void KindStrategy::prepare_update(Object&, const Object&) const {}
void KindStrategy::check(const Object&, FieldErrors&) const {}
void KindStrategy::check_request(const RequestContext&, const Object&, FieldErrors&) const {}
void KindStrategy::check_new(const Object&, FieldErrors&) const {}
void KindStrategy::check_change(const Object&, const Object&, FieldErrors&) const {}

KindFacts subresource_facts(const Strategy& parent, ObjectPart checked) {
  KindFacts out;
  out.namespaced = parent.facts().namespaced;
  out.name_rule = parent.facts().name_rule;
  out.unconditional_update = parent.facts().unconditional_update;
  out.checked = checked;
  return out;
}

namespace {

KindFacts status_facts(const Strategy& parent, bool has_tables) {
  KindFacts out = subresource_facts(parent, ObjectPart::kStatus);
  out.has_tables = has_tables;
  return out;
}

// Returns the resets for `kept_metadata`. Upstream compares labels, annotations, finalizers and owners together, and reports a change of
// all of metadata.
std::vector<std::string> default_resets(const std::vector<std::string>& kept_metadata) {
  std::vector<std::string> resets = {"spec"};
  if (kept_metadata.size() >= 4) {
    resets.emplace_back("metadata");
    return resets;
  }
  for (const std::string& member : kept_metadata) resets.push_back("metadata." + member);
  return resets;
}

}  // namespace

StatusStrategy::StatusStrategy(std::shared_ptr<const Strategy> parent, Options options)
    : Strategy(status_facts(*parent, options.has_tables)),
      parent_(std::move(parent)),
      kept_metadata_(std::move(options.kept_metadata)),
      resets_(options.resets.empty() ? default_resets(kept_metadata_) : std::move(options.resets)) {}

void StatusStrategy::prepare_for_update(RequestContext&, Object& object, const Object& old) const {
  for (const auto& member : old) {
    if (member.key() != "status" && member.key() != "metadata") object[member.key()] = member.value();
  }
  std::vector<std::string> added;
  for (const auto& member : object) {
    if (member.key() != "status" && member.key() != "metadata" && !old.contains(member.key())) added.emplace_back(member.key());
  }
  for (const std::string& key : added) erase_member(object, key);
  Object& metadata = ensure_object(object, "metadata");
  for (const std::string& key : kept_metadata_) take_member(metadata, object_or_empty(old, "metadata"), key);
}
void StatusStrategy::validate_update(RequestContext&, const Object& object, const Object& old, FieldErrors& errors) const {
  check_status(object, old, errors);
}
void StatusStrategy::check_status(const Object&, const Object&, FieldErrors&) const {}

void check_finalizer_names(const Object& object, FieldErrors& errors) {
  static constexpr std::array<std::string_view, 3> kStandard = {"kubernetes", "orphan", "foregroundDeletion"};
  const Array* finalizers = get_array(object_or_empty(object, "metadata"), "finalizers");
  if (finalizers == nullptr) return;
  for (std::size_t i = 0; i < finalizers->size(); ++i) {
    const std::string_view name = text_of((*finalizers)[i]);
    if (name.find('/') != std::string_view::npos || std::find(kStandard.begin(), kStandard.end(), name) != kStandard.end()) continue;
    errors.invalid(at("metadata.finalizers", i), name, "name is neither a standard finalizer name nor is it fully qualified");
  }
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
