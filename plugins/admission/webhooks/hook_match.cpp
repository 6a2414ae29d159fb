#include "webhooks/hook_match.hpp"

#include <algorithm>
#include <array>

namespace backplane::admission::webhooks {
namespace {

constexpr std::array<std::string_view, 6> kExemptKinds = {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
                                                          "ValidatingAdmissionPolicy",      "ValidatingAdmissionPolicyBinding",
                                                          "MutatingAdmissionPolicy",        "MutatingAdmissionPolicyBinding"};

bool rule_matches(const ResourceRule& rule, const GroupVersionResource& resource, const AdmissionAttributes& attributes) {
  return admits_write(rule, resource, attributes) && names_resource(rule, resource, attributes.subresource);
}

std::string resource_text(const GroupVersionResource& resource) {
  return resource.group + "/" + resource.version + ", Resource=" + resource.resource;
}

}  // namespace

bool is_exempt(const AdmissionAttributes& attributes) noexcept {
  return attributes.kind.group == "admissionregistration.k8s.io" &&
         std::find(kExemptKinds.begin(), kExemptKinds.end(), attributes.kind.kind) != kExemptKinds.end();
}

Task<Result<Labels>> NamespaceLabels::read(std::string name) const {
  if (const ObjectRef found = cached(name)) co_return found->labels().copy();
  GroupVersionResource namespaces("", "v1", "namespaces");
  auto reading = api_->get(std::move(namespaces), "", std::move(name));
  auto read = co_await std::move(reading);
  if (!read.ok()) co_return std::move(read.status());
  co_return labels_of_object(*read);
}

const std::vector<GroupVersionResource>& WriteMatch::equivalents() {
  if (!equivalents_) equivalents_ = resources_.equivalents_of(attributes_.resource, attributes_.subresource);
  return *equivalents_;
}

Result<std::optional<ServedAs>> WriteMatch::target_of(const Hook& hook) {
  if ((hook.operations & operation_bit(attributes_.operation)) == 0) return std::optional<ServedAs>();
  const auto names_own = [&](const ResourceRule& rule) { return rule_matches(rule, attributes_.resource, attributes_); };
  if (std::any_of(hook.rules.begin(), hook.rules.end(), names_own)) {
    return std::optional(ServedAs{attributes_.resource, attributes_.kind});
  }
  if (!hook.equivalent) return std::optional<ServedAs>();
  // The equivalent resource of the first matching rule is used.
  for (const ResourceRule& rule : hook.rules) {
    for (const GroupVersionResource& resource : equivalents()) {
      if (resource == attributes_.resource || !rule_matches(rule, resource, attributes_)) continue;
      GroupVersionKind kind = resources_.kind_of(resource, attributes_.subresource);
      if (kind.kind.empty()) return internal_error("unable to convert to " + resource_text(resource) + ": unknown kind");
      return std::optional(ServedAs{resource, std::move(kind)});
    }
  }
  return std::optional<ServedAs>();
}

bool WriteMatch::takes_labels_of_object() const noexcept {
  const bool changes = attributes_.operation == AdmissionOperation::kCreate || attributes_.operation == AdmissionOperation::kUpdate;
  return changes && attributes_.resource.resource == "namespaces" && attributes_.subresource.empty() && attributes_.object != nullptr;
}

WriteMatch::InNamespace WriteMatch::in_namespace(const LabelMatch& selector) {
  if (attributes_.ns.empty() && attributes_.resource.resource != "namespaces") return InNamespace::kYes;
  if (selector.everything()) return InNamespace::kYes;
  if (!selector.problem.ok()) return InNamespace::kUnread;
  const auto verdict = [&](const auto& labels) { return selector.selector.matches(labels) ? InNamespace::kYes : InNamespace::kNo; };
  if (takes_labels_of_object()) return verdict(labels_of_object(*attributes_.object));
  if (namespace_labels_) return verdict(*namespace_labels_);
  const ObjectRef found = namespaces_.cached(attributes_.ns);
  return found != nullptr ? verdict(found->labels()) : InNamespace::kUnread;
}

bool WriteMatch::selects_object(const LabelMatch& selector, const Object* object) const {
  return admission::selects_object(selector.selector, attributes_, object);
}

bool WriteMatch::may_call(const Hook& hook) {
  auto target = target_of(hook);
  if (!target.ok()) return true;
  if (!*target) return false;
  if (in_namespace(hook.namespaces) == InNamespace::kNo) return false;
  // A mutating webhook may add labels to the object before this webhook is called.
  if (hook.type == HookType::kMutating || !hook.objects.problem.ok()) return true;
  return selects_object(hook.objects, attributes_.object);
}

Task<Result<bool>> WriteMatch::selects(const Hook& hook, const Object* object) {
  InNamespace place = in_namespace(hook.namespaces);
  Status problem = hook.namespaces.problem.ok() ? Status() : internal_error(hook.namespaces.problem.message());
  if (place == InNamespace::kUnread && problem.ok()) {
    auto reading = namespaces_.read(attributes_.ns);
    auto labels = co_await std::move(reading);
    if (labels.ok()) {
      namespace_labels_ = std::move(*labels);
      place = in_namespace(hook.namespaces);
    } else {
      problem = labels.status().reason() == Reason::kNotFound ? std::move(labels.status()) : internal_error(labels.status().message());
    }
  }
  if (place == InNamespace::kNo) co_return false;
  if (hook.objects.problem.ok() && !selects_object(hook.objects, object)) co_return false;
  if (place == InNamespace::kUnread) co_return problem;
  if (!hook.objects.problem.ok()) co_return internal_error(hook.objects.problem.message());
  co_return true;
}

}  // namespace backplane::admission::webhooks
