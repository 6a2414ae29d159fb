#include <algorithm>
#include <ctime>

#include "frame/objects.hpp"
#include "workloads/controllers.hpp"

namespace backplane::controllers {
namespace {

constexpr int kTtlWorkers = 5;

GroupVersionResource jobs() { return {"batch", "v1", "jobs"}; }

const Object* finished_condition(const Object& job) {
  for (const std::string_view type : {"Complete", "Failed"}) {
    const Object* condition = find_condition(job, type);
    if (condition != nullptr && get_string(*condition, "status") == "True") return condition;
  }
  return nullptr;
}

bool needs_cleanup(const Object& job) {
  return !is_being_deleted(job) && get_int_path(job, "spec.ttlSecondsAfterFinished") && finished_condition(job) != nullptr;
}

// Returns the seconds until the job expires; an error if the time of its end is unknown.
Result<std::int64_t> seconds_left(const Object& job) {
  const auto ended = parse_rfc3339(get_string(*finished_condition(job), "lastTransitionTime"));
  if (!ended) {
    return internal_error("unable to find the time when the Job " + std::string(meta_namespace(job)) + "/" + std::string(meta_name(job)) +
                          " finished");
  }
  return *ended + *get_int_path(job, "spec.ttlSecondsAfterFinished") - static_cast<std::int64_t>(std::time(nullptr));
}

struct TtlAfterFinished {
  ApiClient api;
  std::shared_ptr<SharedInformer> informer;
  std::shared_ptr<WorkQueue> queue;

  Task<Status> reconcile(std::string key) {
    const auto known = cached(*informer, key);
    if (!known) co_return Status();
    auto expired = is_expired(key, *known);
    if (!expired.ok() || !*expired) co_return expired.ok() ? Status() : std::move(expired).status();
    // The cached TTL may be stale.
    const auto [ns, name] = split_object_key(key);
    auto fresh = co_await api.get(jobs(), ns, name);
    if (!fresh.ok()) co_return unless_gone(std::move(fresh).status());
    expired = is_expired(key, *fresh);
    if (!expired.ok() || !*expired) co_return expired.ok() ? Status() : std::move(expired).status();
    DeleteOptions options;
    options.propagation_policy = "Foreground";
    options.preconditions.uid = meta_text(*fresh, "uid");
    auto deleted = co_await api.remove(jobs(), ns, name, std::move(options));
    if (!deleted.ok()) co_return unless_gone(std::move(deleted).status());
    co_return Status();
  }

  // Returns true if the job has expired. Otherwise adds the key to the queue for the time of the expiry.
  Result<bool> is_expired(const std::string& key, const Object& job) const {
    if (!needs_cleanup(job)) return false;
    auto left = seconds_left(job);
    if (!left.ok()) return std::move(left).status();
    if (*left <= 0) return true;
    constexpr std::int64_t kLongestDelay = 86'400;  // a TTL may be any number
    queue->add_after(key, std::chrono::seconds(std::min(*left, kLongestDelay)));
    return false;
  }
};

}  // namespace

Status start_ttl_after_finished(const Context& context) {
  const auto informer = context.term->informer(jobs());
  const auto queue = context.term->queue();
  context.term->handle(informer, enqueue_wanted(queue, needs_cleanup));
  const auto controller = std::make_shared<TtlAfterFinished>(TtlAfterFinished{context.api, informer, queue});
  context.work(queue, kTtlWorkers, [controller](std::string key) { return controller->reconcile(std::move(key)); }, {informer});
  return {};
}

}  // namespace backplane::controllers
