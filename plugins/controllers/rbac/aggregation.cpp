#include <algorithm>

#include "backplane/kit/label_selectors.hpp"
#include "frame/objects.hpp"
#include "rbac/controllers.hpp"

namespace backplane::controllers {
namespace {

constexpr int kAggregationWorkers = 5;
constexpr const char* kManager = "clusterrole-aggregation-controller";

GroupVersionResource roles() { return {"rbac.authorization.k8s.io", "v1", "clusterroles"}; }

bool aggregates(const Object& role) { return has(role, "aggregationRule"); }

// Copies the members of a rule that are not empty, in the order of the type.
Object plain_rule(const Object& rule) {
  Object out;
  for (const std::string_view member : {"verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs"}) {
    if (count_of(rule, member) > 0) out[member] = *find(rule, member);
  }
  return out;
}

Array plain_rules(const Object& role) {
  Array out;
  each(role, "rules", [&](const Object& rule, std::size_t) { out.push_back(plain_rule(rule)); });
  return out;
}

struct Aggregation {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;

  Task<Status> reconcile(std::string name) {
    const auto role = cached(*informer, name);
    if (!role || !aggregates(*role)) co_return Status();
    auto rules = aggregated_rules(*role);
    if (!rules.ok()) co_return std::move(rules).status();
    if (*rules == plain_rules(*role)) co_return Status();
    Object applied;
    applied["kind"] = "ClusterRole";
    applied["apiVersion"] = "rbac.authorization.k8s.io/v1";
    applied["metadata"] = Object{{"name", name}};
    applied["rules"] = std::move(*rules);
    HttpCall call;
    call.method = "PATCH";
    call.target = "/apis/rbac.authorization.k8s.io/v1/clusterroles/" + escaped_segment(name) + "?fieldManager=" + kManager + "&force=true";
    call.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
    call.headers.emplace_back("Accept", "application/json");
    call.body = to_json(applied);
    auto done = co_await api.request(std::move(call));
    co_return done.ok() ? Status() : unless_gone(std::move(done).status());
  }

  // Returns the rules of the selected roles, ordered by selector and role name, without repetitions.
  Result<Array> aggregated_rules(const Object& role) const {
    std::vector<Object> others;
    for (const ObjectRef& entry : informer->indexer().list()) others.push_back(tree_of(*entry));
    std::sort(others.begin(), others.end(), [](const Object& a, const Object& b) { return meta_name(a) < meta_name(b); });
    Array out;
    Status wrong;
    each(object_or_empty(role, "aggregationRule"), "clusterRoleSelectors", [&](const Object& text, std::size_t) {
      auto selector = kit::label_selector_of(text);
      if (!selector.ok()) wrong = std::move(selector).status();
      for (const Object& other : others) {
        if (!wrong.ok() || meta_name(other) == meta_name(role) || !selector->matches(kit::labels_of_object(other))) continue;
        for (Value& rule : plain_rules(other)) {
          if (std::find(out.begin(), out.end(), rule) == out.end()) out.push_back(std::move(rule));
        }
      }
    });
    if (!wrong.ok()) return wrong;
    return out;
  }
};

}  // namespace

// Each change causes an examination of all aggregated roles, because the roles that it affects are not known.
Status start_cluster_role_aggregation(const Context& context) {
  const auto informer = context.term->informer(roles());
  const auto queue = context.term->queue();
  const auto note = [queue, weak = std::weak_ptr<SharedInformer>(informer)] {
    const auto known = weak.lock();
    if (!known || !known->has_synced()) return;
    for (const ObjectRef& role : known->indexer().list()) {
      if (aggregates(tree_of(*role))) queue->add(std::string(role->name()));
    }
  };
  ResourceEventHandler handler;
  handler.on_add = [note, queue](const ObjectRef& role, bool initial) {
    if (!initial) return note();
    if (aggregates(tree_of(*role))) queue->add(std::string(role->name()));
  };
  handler.on_update = [note](const ObjectRef&, const ObjectRef&) { note(); };
  handler.on_delete = [note](const ObjectRef&, bool) { note(); };
  context.term->handle(informer, std::move(handler));
  const auto controller = std::make_shared<Aggregation>(Aggregation{context.api, informer});
  context.work(queue, kAggregationWorkers, [controller](std::string name) { return controller->reconcile(std::move(name)); }, {informer});
  return {};
}

}  // namespace backplane::controllers
