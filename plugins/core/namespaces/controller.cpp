#include "namespaces/controller.hpp"

#include <algorithm>
#include <ctime>

#include "backplane/client.hpp"
#include "backplane/informer.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/work_queue.hpp"

namespace backplane::core {
namespace {

using kit::each;

constexpr std::chrono::milliseconds kFirstPause{200};
constexpr std::chrono::milliseconds kLongestPause{5000};
constexpr int kWorkers = 10;  // --concurrent-namespace-syncs of kube-controller-manager
constexpr std::string_view kFinalizer = "kubernetes";

constexpr std::string_view kCore = "/api/v1";
constexpr const char* kAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr std::int64_t kPageOfPods = 500;

struct Content {
  std::string path;  // "/api/v1" or "/apis/group/version"
  std::string resource;
};
// What a namespace can hold, and why that may not be all of it.
struct Contents {
  std::vector<Content> found;
  Status problem;

  void fail(const std::string& path, const Status& why) {
    // A version that has gone since it was listed holds nothing.
    if (why.reason() == Reason::kNotFound || !problem.ok()) return;
    problem = internal_error("what " + path + " holds is not known: " + why.message());
  }
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
    Contents contents = co_await discover();
    // Whatever is in the way of one resource, the others are emptied.
    Status in_the_way = contents.problem;
    std::int64_t left = 0;
    for (const Content& content : contents.found) {
      Result<std::int64_t> count;
      count = co_await empty(name, content);
      if (count.ok()) left += *count;
      if (!count.ok() && in_the_way.ok()) in_the_way = std::move(count).status();
    }
    if (!in_the_way.ok()) co_return in_the_way;
    if (left > 0) co_return internal_error(std::to_string(left) + " objects are left");
    co_return co_await release(std::move(name));
  }

 private:
  // Every namespaced resource that can be listed and deleted, in the first version of its group that has it: two calls, however many
  // versions there are.
  Task<Contents> discover() {
    Contents out;
    for (const char* root : {"/api", "/apis"}) {
      HttpCall call = call_of("GET", root);
      call.headers.emplace_back("Accept", kAggregated);
      auto groups = co_await api_.request(std::move(call));
      if (!groups.ok()) {
        out.fail(root, groups.status());
      } else {
        each(*groups, "items", [&](const Object& group, std::size_t) { add_group(root, group, out); });
      }
    }
    co_return out;
  }

  static void add_group(const std::string& root, const Object& group, Contents& out) {
    const std::string name(meta_name(group));
    const std::string base = root + (name.empty() ? "/" : "/" + name + "/");
    const std::size_t first = out.found.size();
    each(group, "versions", [&](const Object& version, std::size_t) {
      const std::string path = base + std::string(get_string(version, "version"));
      if (get_string(version, "freshness") == "Stale") return out.fail(path, service_unavailable("it does not answer"));
      each(version, "resources", [&](const Object& resource, std::size_t) { add_resource(path, resource, first, out); });
    });
  }

  // `first`: where those of the same group begin.
  static void add_resource(const std::string& path, const Object& resource, std::size_t first, Contents& out) {
    const std::string name(get_string(resource, "resource"));
    if (get_string(resource, "scope") != "Namespaced" || !has_verb(resource, "list") || !has_verb(resource, "deletecollection")) return;
    const auto group = out.found.begin() + static_cast<std::ptrdiff_t>(first);
    const bool known = std::any_of(group, out.found.end(), [&](const Content& other) { return other.resource == name; });
    if (!known) out.found.push_back({path, name});
  }

  // Deletes a collection; returns how many objects are still there.  Pods whose time has run out go at once: no node will tell of them.
  Task<Result<std::int64_t>> empty(std::string ns, Content content) {
    const std::string target = content.path + "/namespaces/" + ns + "/" + content.resource;
    const bool pods = content.path == kCore && content.resource == "pods";
    auto before = co_await api_.request(call_of("GET", target + "?limit=1"));
    if (!before.ok()) co_return std::move(before).status();
    const Array* items = get_array(*before, "items");
    if (items == nullptr || items->empty()) co_return std::int64_t{0};
    bool force = false;
    if (pods) force = co_await all_overdue(ns);
    std::string all = target;
    if (force) all += "?gracePeriodSeconds=0";
    auto deleted = co_await api_.request(call_of("DELETE", std::move(all)));
    if (!deleted.ok()) co_return internal_error("deleting " + target + ": " + deleted.status().message());
    auto after = co_await api_.request(call_of("GET", target + "?limit=1"));
    if (!after.ok()) co_return std::move(after).status();
    const Array* rest = get_array(*after, "items");
    const std::int64_t more = get_int_path(*after, "metadata.remainingItemCount").value_or(0);
    co_return static_cast<std::int64_t>(rest ? rest->size() : 0) + more;
  }

  // True when the time of every pod has run out.
  Task<bool> all_overdue(std::string ns) {
    const GroupVersionResource pods{"", "v1", "pods"};
    ListOptions options;
    options.limit = kPageOfPods;
    for (;;) {
      Result<Object> page;
      page = co_await api_.list(pods, ns, options);
      const Array* items = page.ok() ? get_array(*page, "items") : nullptr;
      if (items == nullptr || !overdue(*items)) co_return false;
      options.continue_token = meta_text(*page, "continue");
      if (options.continue_token.empty()) co_return true;
    }
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
