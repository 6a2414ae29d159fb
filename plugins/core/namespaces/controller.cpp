#include "namespaces/controller.hpp"

#include <ctime>

#include "backplane/client.hpp"
#include "backplane/informer.hpp"
#include "backplane/meta.hpp"
#include "backplane/work_queue.hpp"

namespace backplane::core {
namespace {

constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::milliseconds kLongestPause{5000};
constexpr int kWorkers = 10;  // --concurrent-namespace-syncs of kube-controller-manager
constexpr std::string_view kFinalizer = "kubernetes";

struct Content {
  std::string path;  // "/api/v1" or "/apis/group/version"
  std::string resource;
};

// A call that nobody answers holds up one worker, and not for good.
HttpCall call_of(std::string method, std::string target) {
  constexpr std::chrono::seconds kPatience{60};
  HttpCall call;
  call.method = std::move(method);
  call.target = std::move(target);
  call.deadline = std::chrono::steady_clock::now() + kPatience;
  return call;
}

bool has_verb(const Object& resource, std::string_view verb) {
  const Array* verbs = get_array(resource, "verbs");
  if (verbs == nullptr) return false;
  for (const Value& each : *verbs) {
    if (each.is_string() && each.get_string() == verb) return true;
  }
  return false;
}

bool is_going(const ObjectEntry& entry) {
  const Object object = decode(entry, json::storage_ptr());
  if (meta_text(object, "deletionTimestamp").empty()) return false;
  const Value* finalizers = find_path(object, {"spec", "finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return false;
  for (const Value& name : finalizers->get_array()) {
    if (name.is_string() && name.get_string() == kFinalizer) return true;
  }
  return false;
}

class NamespaceController {
 public:
  NamespaceController(std::shared_ptr<HttpClient> client, std::shared_ptr<SharedInformer> namespaces)
      : api_(std::move(client)), namespaces_(std::move(namespaces)) {}

  // One try to empty and release a namespace; an error says what is in the way.
  Task<Status> reconcile(std::string name) {
    const ObjectRef found = namespaces_->indexer().get(name);
    if (found == nullptr || !is_going(*found)) co_return Status();
    auto contents = co_await discover();
    if (!contents.ok()) co_return std::move(contents).status();
    std::int64_t left = 0;
    for (const Content& content : *contents) {
      const std::string target = content.path + "/namespaces/" + name + "/" + content.resource;
      auto count = co_await empty(target, content.resource == "pods");
      if (!count.ok()) co_return std::move(count).status();
      left += *count;
    }
    if (left > 0) co_return internal_error(std::to_string(left) + " objects are left");
    co_return co_await release(std::move(name));
  }

 private:
  // Every namespaced resource that can be listed and deleted.
  Task<Result<std::vector<Content>>> discover() {
    std::vector<std::string> paths{"/api/v1"};
    auto groups = co_await api_.request(call_of("GET", "/apis"));
    if (!groups.ok()) co_return std::move(groups).status();
    if (const Array* list = get_array(*groups, "groups")) {
      for (const Value& group : *list) {
        if (group.is_object())
          paths.push_back("/apis/" + std::string(get_string_path(group.get_object(), "preferredVersion.groupVersion")));
      }
    }
    std::vector<Content> out;
    for (const std::string& path : paths) {
      auto resources = co_await api_.request(call_of("GET", path));
      if (!resources.ok()) co_return std::move(resources).status();
      const Array* list = get_array(*resources, "resources");
      for (const Value& each : list ? *list : Array()) {
        if (!each.is_object()) continue;
        const Object& resource = each.get_object();
        const std::string name(get_string(resource, "name"));
        if (!get_bool(resource, "namespaced").value_or(false) || name.find('/') != std::string::npos) continue;
        if (has_verb(resource, "list") && has_verb(resource, "deletecollection")) out.push_back({path, name});
      }
    }
    co_return out;
  }

  // Deletes a collection; returns how many objects are still there.  Pods whose time has run out go at once: no node will tell of them.
  Task<Result<std::int64_t>> empty(std::string target, bool pods) {
    // Of pods all are looked at, of other kinds it is enough to know that there are any.
    const std::string some = pods ? target : target + "?limit=1";
    auto before = co_await api_.request(call_of("GET", some));
    if (!before.ok()) co_return std::move(before).status();
    const Array* items = get_array(*before, "items");
    if (items == nullptr || items->empty()) co_return std::int64_t{0};
    const std::string force = pods && overdue(*items) ? "?gracePeriodSeconds=0" : "";
    auto deleted = co_await api_.request(call_of("DELETE", target + force));
    if (!deleted.ok()) co_return internal_error("deleting " + target + ": " + deleted.status().message());
    auto after = co_await api_.request(call_of("GET", target + "?limit=1"));
    if (!after.ok()) co_return std::move(after).status();
    const Array* rest = get_array(*after, "items");
    const std::int64_t more = get_int_path(*after, "metadata.remainingItemCount").value_or(0);
    co_return static_cast<std::int64_t>(rest ? rest->size() : 0) + more;
  }

  static bool overdue(const Array& pods) {
    const std::int64_t now = std::time(nullptr);
    for (const Value& pod : pods) {
      if (!pod.is_object()) continue;
      const auto deadline = parse_rfc3339(meta_text(pod.get_object(), "deletionTimestamp"));
      if (!deadline || *deadline > now) return false;
    }
    return true;
  }

  Task<Status> release(std::string name) {
    const GroupVersionResource namespaces{"", "v1", "namespaces"};
    auto object = co_await api_.get(namespaces, "", name);
    if (!object.ok() && object.status().reason() == Reason::kNotFound) co_return Status();
    if (!object.ok()) co_return std::move(object).status();
    Array& finalizers = ensure_array(ensure_object(*object, "spec"), "finalizers");
    for (auto it = finalizers.begin(); it != finalizers.end();) {
      it = it->is_string() && it->get_string() == kFinalizer ? finalizers.erase(it) : std::next(it);
    }
    auto done = co_await api_.update(namespaces, "", *object, "finalize");
    if (!done.ok() && done.status().reason() != Reason::kNotFound) co_return std::move(done).status();
    co_return Status();
  }

  ApiClient api_;
  const std::shared_ptr<SharedInformer> namespaces_;
};

}  // namespace

void start_namespace_controller(Host& host, std::shared_ptr<StandardStorage> namespaces, PostStartHookContext context) {
  auto informer = SharedInformer::make("namespaces", list_watch(std::move(namespaces)), host.logger());
  auto queue = std::make_shared<WorkQueue>(context.executor, item_exponential_failure_rate_limiter(kFirstPause, kLongestPause));
  auto controller = std::make_shared<NamespaceController>(host.client(), informer);
  informer->add_event_handler(enqueue_keys(queue));
  context.stop.on_fire([informer, queue] {
    informer->stop();
    queue->shut_down();
  });
  host.spawn("namespace-informer", informer->run());
  spawn_workers(host, "namespace-controller", kWorkers, queue,
                [controller](std::string name) { return controller->reconcile(std::move(name)); });
}

}  // namespace backplane::core
