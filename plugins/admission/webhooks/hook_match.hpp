// Selects the webhooks of a write: by rules (exact, or of an equivalent resource), scope, namespaceSelector and objectSelector.
//
// Thread-safety: const methods from any thread; a WriteMatch belongs to one write.
// Lifetime:      a WriteMatch borrows the attributes.
// Errors:        those of upstream's ShouldCallHook: a selector that does not parse, an equivalent resource without a kind, a namespace
//                that does not exist.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/generic/webhook.go, predicates/namespace, predicates/object.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "common/served_as.hpp"
#include "common/services.hpp"
#include "webhooks/hook.hpp"

namespace backplane::admission::webhooks {

// Webhook configurations and admission policies are exempt: a webhook that refuses them could not be removed.
bool is_exempt(const AdmissionAttributes& attributes) noexcept;

// The labels of namespaces, from the informer, or from the server if the informer has not seen the namespace yet.
class NamespaceLabels {
 public:
  NamespaceLabels(Host& host, Lister lister) : lister_(std::move(lister)), api_(std::make_shared<ApiClient>(host.client())) {}
  // Null if the informer does not have the namespace.
  ObjectRef cached(std::string_view name) const { return lister_.find("", name); }
  // Errors: kNotFound, and those of the read.
  Task<Result<Labels>> read(std::string name) const;
  bool has_synced() const noexcept { return lister_.has_synced(); }

 private:
  const Lister lister_;
  const std::shared_ptr<ApiClient> api_;
};

// The match of one write. Data that several webhooks need are looked up once.
class WriteMatch {
 public:
  WriteMatch(const EquivalentResources& resources, const NamespaceLabels& namespaces, const AdmissionAttributes& attributes)
      : resources_(resources), namespaces_(namespaces), attributes_(attributes) {}

  // The resource and kind that the webhook receives; nullopt: its rules do not match.
  Result<std::optional<ServedAs>> target_of(const Hook& hook);
  // False only if the webhook is certainly not called; does not wait.
  bool may_call(const Hook& hook);
  // Evaluates both selectors. `object`: the object as previous webhooks have changed it; null if the write has none.
  Task<Result<bool>> selects(const Hook& hook, const Object* object);

 private:
  enum class InNamespace : unsigned char { kYes, kNo, kUnread };
  InNamespace in_namespace(const LabelMatch& selector);
  bool selects_object(const LabelMatch& selector, const Object* object) const;
  bool takes_labels_of_object() const noexcept;
  const std::vector<GroupVersionResource>& equivalents();

  const EquivalentResources& resources_;
  const NamespaceLabels& namespaces_;
  const AdmissionAttributes& attributes_;
  std::optional<std::vector<GroupVersionResource>> equivalents_;
  std::optional<Labels> namespace_labels_;
};

}  // namespace backplane::admission::webhooks
