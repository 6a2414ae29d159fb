#include "namespaces/namespace_emptying.hpp"

#include <algorithm>
#include <ctime>
#include <functional>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "namespaces/namespace_contents.hpp"

namespace backplane::core {
namespace {

constexpr std::int64_t kFinalizerEstimate = 15;  // seconds; upstream's
constexpr const char* kPage = "?limit=500";
constexpr const char* kMetadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

bool unsupported(const Status& status) { return status.code() == 404 || status.code() == 405; }

// The remaining objects of a resource.
struct Left {
  std::int64_t count = 0;
  std::int64_t estimate = 0;
  std::map<std::string, std::int64_t> by_finalizer;
};

class Emptying {
 public:
  Emptying(ApiClient& api, const Object& ns, DeletionReport& report)
      : api_(api), ns_(meta_name(ns)), deleted_at_(parse_rfc3339(meta_text(ns, "deletionTimestamp")).value_or(0)), report_(report) {}

  Task<std::int64_t> run() {
    auto discovering = discover_namespaced(api_, report_);
    std::vector<NamespacedResource> resources = co_await std::move(discovering);
    const auto pods = std::find_if(resources.begin(), resources.end(), [](const NamespacedResource& each) { return each.is_pods(); });
    if (pods != resources.end()) {
      auto emptying = empty(*pods, "failed to delete pods for namespace: " + ns_ + ", err: ");
      const std::int64_t left = co_await std::move(emptying);
      if (left > 0) {
        // If pods delay all other objects, upstream reports neither their number nor their finalizers.
        report_.remaining.clear();
        report_.by_finalizer.clear();
        co_return estimate_;
      }
    }
    for (const NamespacedResource& resource : resources) {
      if (resource.is_pods()) continue;
      auto emptying = empty(resource, "");
      co_await std::move(emptying);
    }
    co_return estimate_;
  }

 private:
  // Returns the number of remaining objects; an error is reported with `prefix`.
  Task<std::int64_t> empty(const NamespacedResource& resource, std::string prefix) {
    Left left;
    auto deleting = delete_all(resource, left);
    Status deleted = co_await std::move(deleting);
    if (!deleted.ok()) report_.problems.push_back(prefix + deleted.message());
    estimate_ = std::max(estimate_, left.estimate);
    if (left.count > 0) report_.remaining[resource.name + "." + resource.group] = left.count;
    for (const auto& [finalizer, count] : left.by_finalizer) report_.by_finalizer[finalizer] += count;
    co_return left.count;
  }

  Task<Status> delete_all(const NamespacedResource& resource, Left& left) {
    bool any = true;
    if (resource.lists) {
      // Most resources have no objects and cost only two small calls.
      auto first = co_await api_.request(deletion_call("GET", resource.path(ns_) + "?limit=1"));
      if (!first.ok()) co_return unsupported(first.status()) ? Status() : std::move(first).status();
      const Array* items = get_array(*first, "items");
      any = items != nullptr && !items->empty();
      // A list omits objects that cannot be decoded. Deleting the collection reports them as an error.
      if (!any && !resource.collections) co_return Status();
    }
    if (any && resource.is_pods()) {
      auto estimating = estimate_pods(resource, left);
      Status estimated = co_await std::move(estimating);
      if (!estimated.ok()) co_return estimated;
    }
    auto deleting = resource.collections ? delete_collection(resource) : delete_each(resource);
    Status deleted = co_await std::move(deleting);
    if (!deleted.ok()) co_return deleted;
    if (!any || !resource.lists) co_return Status();
    auto counting = for_each_left(resource, [&left](const Object& item) {
      ++left.count;
      for (const std::string& finalizer : texts_of(object_or_empty(item, "metadata"), "finalizers")) ++left.by_finalizer[finalizer];
    });
    Status counted = co_await std::move(counting);
    if (!counted.ok()) {
      left.count = 0;
      co_return counted;
    }
    co_return estimate_remaining(resource, left);
  }

  // Sets left.estimate for the objects that were counted. Returns an error if there is no known reason why objects still exist.
  Status estimate_remaining(const NamespacedResource& resource, Left& left) const {
    if (left.count == 0) {
      left.estimate = 0;
      return {};
    }
    if (left.estimate > 0) return {};
    if (!left.by_finalizer.empty()) {
      left.estimate = kFinalizerEstimate;
      return {};
    }
    return internal_error("unexpected items still remain in namespace: " + ns_ + " for gvr: " + resource.group + "/" + resource.version +
                          ", Resource=" + resource.name);
  }

  Task<Status> delete_collection(const NamespacedResource& resource) {
    auto deleted = co_await api_.request(deletion_call("DELETE", resource.path(ns_) + "?propagationPolicy=Background"));
    co_return deleted.ok() || unsupported(deleted.status()) ? Status() : std::move(deleted).status();
  }

  Task<Status> delete_each(const NamespacedResource& resource) {
    if (!resource.lists) co_return Status();
    std::vector<std::string> names;
    auto listing = for_each_left(resource, [&names](const Object& item) { names.emplace_back(meta_name(item)); });
    Status listed = co_await std::move(listing);
    for (std::size_t i = 0; listed.ok() && i < names.size(); ++i) {
      auto deleted = co_await api_.request(deletion_call("DELETE", resource.path(ns_) + "/" + names[i] + "?propagationPolicy=Background"));
      if (!deleted.ok() && !unsupported(deleted.status())) co_return std::move(deleted).status();
    }
    co_return listed;
  }

  // Reads the metadata of every object, page by page.
  Task<Status> for_each_left(const NamespacedResource& resource, std::function<void(const Object& item)> look,
                             const char* accept = kMetadataOnly) {
    std::string token;
    do {
      HttpCall call = deletion_call("GET", resource.path(ns_) + kPage + (token.empty() ? "" : "&continue=" + token));
      if (*accept != '\0') call.headers.emplace_back("Accept", accept);
      auto page = co_await api_.request(std::move(call));
      if (!page.ok()) co_return unsupported(page.status()) ? Status() : std::move(page).status();
      each(*page, "items", [&](const Object& item, std::size_t) { look(item); });
      token = meta_text(*page, "continue");
    } while (!token.empty());
    co_return Status();
  }

  // Sets left.estimate to the longest grace period of pods that may still run, or to 0 if this period has passed since the namespace was
  // deleted. Also removes overdue pods whose nodes do not exist.
  Task<Status> estimate_pods(const NamespacedResource& pods, Left& left) {
    std::int64_t longest = 0;
    std::vector<std::pair<std::string, std::string>> overdue;  // pod, node
    const std::int64_t now = std::time(nullptr);
    auto listing = for_each_left(
        pods,
        [&](const Object& pod) {
          const std::string_view phase = get_string_path(pod, "status.phase");
          const auto grace = get_int_path(pod, "spec.terminationGracePeriodSeconds");
          if (phase != "Succeeded" && phase != "Failed" && grace) longest = std::max(longest, *grace);
          const auto deadline = parse_rfc3339(meta_text(pod, "deletionTimestamp"));
          if (deadline && *deadline <= now) overdue.emplace_back(meta_name(pod), get_string_path(pod, "spec.nodeName"));
        },
        "");
    Status listed = co_await std::move(listing);
    if (!listed.ok()) co_return listed;
    left.estimate = now - deleted_at_ >= longest ? 0 : longest;
    for (const auto& [pod, node] : overdue) {
      auto removing = remove_orphan(pods, pod, node);
      co_await std::move(removing);
    }
    co_return Status();
  }

  // Deletes a pod immediately if its node does not exist, because no kubelet will report the end of the pod.
  Task<void> remove_orphan(const NamespacedResource& pods, std::string pod, std::string node) {
    auto found = co_await api_.get({"", "v1", "nodes"}, "", std::move(node));
    if (found.ok() || found.status().code() != 404) co_return;
    auto removed = co_await api_.request(deletion_call("DELETE", pods.path(ns_) + "/" + pod + "?gracePeriodSeconds=0"));
    static_cast<void>(removed.ok());
  }

  ApiClient& api_;
  const std::string ns_;
  const std::int64_t deleted_at_;
  DeletionReport& report_;
  std::int64_t estimate_ = 0;
};

}  // namespace

Task<std::int64_t> empty_namespace(ApiClient& api, const Object& ns, DeletionReport& report) {
  Emptying emptying(api, ns, report);
  auto running = emptying.run();
  const std::int64_t estimate = co_await std::move(running);
  co_return report.failed() ? 0 : estimate;
}

}  // namespace backplane::core
