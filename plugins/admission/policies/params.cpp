#include "policies/params.hpp"

#include <algorithm>

namespace backplane::admission::policies {
namespace {

std::string text_of_kind(const ParamKind& kind) { return "&ParamKind{APIVersion:" + kind.api_version + ",Kind:" + kind.kind + ",}"; }

Task<void> run_store(std::shared_ptr<SharedInformer> informer) { co_await informer->run(); }

CollectedParams unusable(std::string text) { return {{}, std::move(text), nullptr}; }

}  // namespace

ParamStore::ParamStore(Host& host, const kit::ResolvedResource& resource)
    : host_(host),
      namespaced_(resource.namespaced),
      informer_(SharedInformer::make("params " + GroupResource{resource.resource.group, resource.resource.resource}.to_string(),
                                     list_watch(host, resource.resource), host.logger())) {}

ParamStore::~ParamStore() { informer_->stop(); }

void ParamStore::start(const std::shared_ptr<ParamStore>& self) {
  host_.spawn("policy-params", run_store(informer_));
  host_.stop_signal().on_fire([weak = std::weak_ptr(self)] {
    if (const auto store = weak.lock()) store->stop();
  });
}

ObjectTreeRef ParamStore::find(std::string_view ns, std::string_view name) {
  const ObjectRef found = informer_->indexer().get(object_key(ns, name));
  return found == nullptr ? nullptr : trees_.tree_of(found);
}

std::vector<ObjectTreeRef> ParamStore::select(const std::string& ns, const LabelSelector& selector) {
  std::vector<ObjectRef> objects;
  if (namespaced_) {
    auto found = informer_->indexer().by_index(kNamespaceIndex, ns);
    if (found.ok()) objects = std::move(*found);
  } else {
    objects = informer_->indexer().list();
  }
  std::sort(objects.begin(), objects.end(), [](const ObjectRef& a, const ObjectRef& b) { return a->name() < b->name(); });
  std::vector<ObjectTreeRef> out;
  for (const ObjectRef& each : objects) {
    if (selector.matches(each->labels())) out.push_back(trees_.tree_of(each));
  }
  return out;
}

CollectedParams collect_params(const Policy& policy, const Binding& binding, ParamStore* store, std::string_view ns, bool timed_out) {
  // A policy without a kind ignores the binding's reference, and a binding without a reference evaluates with null.
  if (!policy.param_kind || !binding.params) return {{nullptr}, {}, nullptr};
  const ParamRef& ref = *binding.params;
  if (store == nullptr) return unusable("paramKind kind `" + text_of_kind(*policy.param_kind) + "` not known");
  std::string wanted;
  if (store->namespaced()) {
    wanted = ref.ns.empty() ? std::string(ns) : ref.ns;
    if (wanted.empty()) return unusable("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  }
  if (!store->has_synced()) {
    if (timed_out) return unusable("paramKind kind `" + text_of_kind(*policy.param_kind) + "` not yet synced to use for admission");
    return {{}, {}, store};
  }
  if (!ref.ns.empty() && !store->namespaced()) return unusable("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  CollectedParams out;
  if (!ref.name.empty()) {
    if (ref.selector || !ref.problem.empty()) return unusable("paramRef.name and paramRef.selector are mutually exclusive");
    if (auto found = store->find(wanted, ref.name)) out.params.push_back(std::move(found));
  } else if (ref.selector) {
    out.params = store->select(wanted, *ref.selector);
  } else {
    return unusable(ref.problem.empty() ? "one of name or selector must be provided" : ref.problem);
  }
  if (out.params.empty() && ref.must_exist) return unusable("no params found for policy binding with `Deny` parameterNotFoundAction");
  return out;
}

Task<Result<std::shared_ptr<ParamStore>>> ParamStores::store_of(ParamKind kind) {
  if (const auto found = stores_.find(kind); found != stores_.end()) co_return found->second;
  auto resolving = resolver_.resolve(kind.api_version, kind.kind);
  auto resolved = co_await std::move(resolving);
  if (!resolved.ok()) co_return std::move(resolved.status());
  auto made = std::make_shared<ParamStore>(host_, *resolved);
  made->start(made);
  stores_.emplace(kind, made);
  co_return made;
}

void ParamStores::keep_only(const std::vector<ParamKind>& kinds) {
  std::erase_if(stores_, [&](const auto& each) {
    const bool used = std::find(kinds.begin(), kinds.end(), each.first) != kinds.end();
    if (!used) each.second->stop();
    return !used;
  });
}

}  // namespace backplane::admission::policies
