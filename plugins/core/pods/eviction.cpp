#include "pods/eviction.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/task.hpp"
#include "backplane/rest/update_info.hpp"
#include "pods/disruption_budget.hpp"
#include "pods/inner_write.hpp"

namespace backplane::core {
namespace {

// The number of attempts of a write that has a conflict, and the pause between them.
constexpr int kTries = 20;
constexpr std::chrono::milliseconds kPause{500};

ObjectRef outcome(bool evicted) {
  Object object;
  object["kind"] = "Status";
  object["apiVersion"] = "v1";
  object["metadata"].emplace_object();
  object["status"] = evicted ? "Success" : "Failure";
  if (!evicted) object["message"] = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
  object["code"] = evicted ? 201 : 500;
  return make_object(object);
}

// Formats a list of words like Go's %v: "[All]".
std::string printed(const Array& words) {
  std::string out = "[";
  for (const Value& word : words) out.append(out.size() > 1 ? " " : "").append(text_of(word));
  return out + "]";
}

// The request and the deleteOptions of the eviction can both request a dry run. Their values must not differ.
Result<DeleteOptions> delete_options_of(const Object& eviction, const WriteOptions& request) {
  DeleteOptions out;
  const Object& asked = object_or_empty(eviction, "deleteOptions");
  out.grace_period_seconds = get_int(asked, "gracePeriodSeconds");
  out.orphan_dependents = get_bool(asked, "orphanDependents");
  if (has(asked, "propagationPolicy")) out.propagation_policy = std::string(get_string(asked, "propagationPolicy"));
  const Object& wanted = object_or_empty(asked, "preconditions");
  if (has(wanted, "uid")) out.preconditions.uid = std::string(get_string(wanted, "uid"));
  if (has(wanted, "resourceVersion")) out.preconditions.resource_version = std::string(get_string(wanted, "resourceVersion"));
  const Array* dry_run = get_array(asked, "dryRun");
  const std::string own = dry_run != nullptr && !dry_run->empty() ? printed(*dry_run) : std::string();
  constexpr std::string_view kAll = "[All]";  // the options that a request may have
  if (request.dry_run && !own.empty() && own != kAll) {
    return Status(500, Reason::kNone, "Non-matching dry-run options in request and content: " + std::string(kAll) + " and " + own);
  }
  out.dry_run = request.dry_run || !own.empty();
  return out;
}

Status check_policy(const DeleteOptions& options) {
  FieldErrors errors;
  const auto& policy = options.propagation_policy;
  if (policy && options.orphan_dependents) {
    errors.invalid("propagationPolicy", *policy, "orphanDependents and deletionPropagation cannot be both set");
  }
  if (policy && *policy != "Foreground" && *policy != "Background" && *policy != "Orphan") {
    errors.not_supported("propagationPolicy", *policy, {"Foreground", "Background", "Orphan", "nil"});
  }
  return errors.to_status("meta.k8s.io", "DeleteOptions", "");
}

Status check_options(const Object& eviction, std::string_view name) {
  constexpr std::string_view kUnsafe = "ignoreStoreReadErrorWithClusterBreakingPotential";
  FieldErrors errors;
  if (get_bool(object_or_empty(eviction, "deleteOptions"), kUnsafe).value_or(false)) {
    errors.invalid_raw(at("deleteOptions", kUnsafe), "true", "can not be set for pod eviction, try after removing the option");
  }
  return errors.empty() ? Status() : errors.to_status("policy", "Eviction", name);
}

std::string_view phase_of(const Object& pod) { return get_string_path(pod, "status.phase"); }
bool is_over(const Object& pod) {
  return phase_of(pod) == "Succeeded" || phase_of(pod) == "Failed" || !meta_text(pod, "deletionTimestamp").empty();
}
// Returns true if budgets do not count the pod, because it has ended or has not started.
bool is_not_counted(const Object& pod) { return is_over(pod) || phase_of(pod) == "Pending"; }

// Sets the pod's condition DisruptionTarget.  Preconditions on uid or resourceVersion that do not hold are a conflict.
class Mark final : public UpdatedObjectInfo {
 public:
  explicit Mark(Preconditions wanted) : wanted_(std::move(wanted)) {}

  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    if (existing == nullptr) co_return not_found("", "pods", context.info.name);
    Status met = check(*existing);
    if (!met.ok()) co_return met;
    Object pod(*existing, context.arena());
    mark(ensure_array(ensure_object(pod, "status"), "conditions"));
    co_return pod;
  }

 private:
  Status check(const Object& pod) const {
    const auto differs = [&](const char* what, const std::string& wanted, std::string_view found, const char* end) {
      return conflict("", "Pod", meta_name(pod),
                      "the " + std::string(what) + " in the precondition (" + wanted + ") does not match the " + what + " in record (" +
                          std::string(found) + "). The object might have been " + end);
    };
    const std::string_view uid = meta_text(pod, "uid"), version = meta_text(pod, "resourceVersion");
    if (wanted_.uid && !wanted_.uid->empty() && *wanted_.uid != uid) return differs("UID", *wanted_.uid, uid, "deleted and then recreated");
    const auto& revision = wanted_.resource_version;
    if (revision && !revision->empty() && *revision != version) return differs("ResourceVersion", *revision, version, "modified");
    return {};
  }

  static void mark(Array& conditions) {
    Object* condition = nullptr;
    for (Value& item : conditions) {
      if (item.is_object() && get_string(item.get_object(), "type") == "DisruptionTarget") condition = &item.get_object();
    }
    if (condition == nullptr) condition = &conditions.emplace_back(Object{{"type", "DisruptionTarget"}}).get_object();
    if (get_string(*condition, "status") != "True") (*condition)["lastTransitionTime"] = now_rfc3339();
    (*condition)["status"] = "True";
    (*condition)["lastProbeTime"] = nullptr;
    (*condition)["reason"] = "EvictionByEvictionAPI";
    (*condition)["message"] = "Eviction API: evicting";
    erase_member(*condition, "observedGeneration");
  }

  Preconditions wanted_;
};

// The result of checking the budgets.
enum class Verdict : unsigned char { kGo, kNotCounted, kTooManyBudgets };

// One eviction, from the first read of the pod to its end.
class EvictionOperation {
 public:
  EvictionOperation(const EvictionParts& parts, RequestContext& request, std::string name, DeleteOptions options)
      : parts_(parts), name_(std::move(name)), asked_(std::move(options)) {
    begin_inner_write(context_, request);
    context_.dry_run = asked_.dry_run;
  }

  Task<Result<ObjectRef>> run() {
    auto gone = co_await remove_uncounted();
    if (!gone.ok()) co_return std::move(gone).status();
    if (*gone) co_return outcome(true);
    auto verdict = co_await ask_budgets();
    if (!verdict.ok()) co_return std::move(verdict).status();
    if (*verdict == Verdict::kTooManyBudgets) co_return outcome(false);
    DeleteOptions how = asked_;
    const bool uncounted = *verdict == Verdict::kNotCounted;
    // Deletes only the version that was checked: a pod that has become ready since then must be counted.
    if (uncounted) how.preconditions.resource_version = version();
    Status removed = co_await remove(std::move(how));
    if (removed.ok()) co_return outcome(true);
    const bool changed = removed.reason() == Reason::kConflict && uncounted && !asked_.preconditions.resource_version;
    if (changed) co_return still_processing(budget_);
    co_return removed;
  }

 private:
  std::string version() const { return std::string(meta_text(pod_, "resourceVersion")); }

  Task<Status> read_pod() {
    auto read = co_await parts_.pods->get(context_, name_, GetOptions());
    if (!read.ok()) co_return std::move(read).status();
    pod_ = decode(**read, {});
    co_return Status();
  }

  Task<Status> remove(DeleteOptions how) {
    if (!how.dry_run) {
      Mark mark(how.preconditions);
      auto marked = co_await parts_.pod_changes->update(context_, name_, mark, WriteOptions(), false);
      if (!marked.ok()) co_return std::move(marked).status();
      if (how.preconditions.resource_version) how.preconditions.resource_version = std::to_string(marked->object->revision);
    }
    auto removed = co_await parts_.pods->remove(context_, name_, std::move(how));
    co_return removed.ok() ? Status() : std::move(removed).status();
  }

  Task<Status> remove_read_pod() {
    DeleteOptions how = asked_;
    // Deletes only the version that was read, because a pod that has not ended may become ready meanwhile.
    if (!is_over(pod_) && !asked_.preconditions.resource_version) how.preconditions.resource_version = version();
    co_return co_await remove(std::move(how));
  }

  // Deletes the pod if budgets do not count it, and returns true. Returns false if they count it.
  Task<Result<bool>> remove_uncounted() {
    Status done;
    for (int tries = 1;; ++tries) {
      done = co_await read_pod();
      if (!done.ok()) co_return done;
      if (!is_not_counted(pod_)) co_return false;
      done = co_await remove_read_pod();
      if (done.ok()) co_return true;
      const bool again = done.reason() == Reason::kConflict && !asked_.preconditions.resource_version && tries < kTries;
      if (!again || out_of_time()) co_return done;
      co_await sleep_for(kPause);
    }
  }

  bool out_of_time() const { return std::chrono::steady_clock::now() + kPause >= context_.deadline; }

  // The budgets that select the pod.
  Task<Result<std::vector<Object>>> budgets() {
    auto list = co_await parts_.client->list(kBudgets, std::string(meta_namespace(pod_)), ListOptions());
    if (!list.ok()) co_return std::move(list).status();
    std::vector<Object> out;
    each(*list, "items", [&](const Object& budget, std::size_t) {
      if (covers(budget, pod_)) out.push_back(budget);
    });
    co_return out;
  }

  Task<Result<Verdict>> ask_budgets() {
    auto found = co_await budgets();
    if (!found.ok()) co_return std::move(found).status();
    if (found->size() > 1) co_return Verdict::kTooManyBudgets;
    if (found->empty()) co_return Verdict::kGo;
    Object budget = std::move(found->front());
    budget_ = meta_name(budget);
    if (!is_ready(pod_) && allows_unready_eviction(budget)) co_return Verdict::kNotCounted;
    Status taken = co_await take(std::move(budget));
    if (!taken.ok()) co_return taken;
    co_return Verdict::kGo;
  }

  // Decrements the allowed disruptions of the budget. After a conflict, reads the budget again and retries.
  Task<Status> take(Object budget) {
    const std::string ns(meta_namespace(pod_));
    Result<Object> answer;
    for (int tries = 1;; ++tries) {
      Status done = take_disruption(budget, name_);
      if (!done.ok() || asked_.dry_run) co_return done;
      budget["apiVersion"] = "policy/v1";
      budget["kind"] = "PodDisruptionBudget";
      answer = co_await parts_.client->update(kBudgets, ns, std::move(budget), "status");
      if (answer.ok()) co_return Status();
      if (answer.status().reason() != Reason::kConflict || tries == kTries || out_of_time()) co_return std::move(answer).status();
      co_await sleep_for(kPause);
      answer = co_await parts_.client->get(kBudgets, ns, budget_);
      if (!answer.ok()) co_return std::move(answer).status();
      budget = std::move(*answer);
    }
  }

  static inline const GroupVersionResource kBudgets{"policy", "v1", "poddisruptionbudgets"};

  const EvictionParts& parts_;
  RequestContext context_;
  std::string name_;
  DeleteOptions asked_;
  Object pod_;
  std::string budget_;  // the name of the checked budget
};

class Eviction final : public RestStorage, public Scoper, public NamedCreater, public ValidatedCreater {
 public:
  explicit Eviction(EvictionParts parts) : parts_(std::move(parts)) {}
  GroupVersionKind kind() const override { return {"policy", "v1", "Eviction"}; }
  const Schema* schema() const override { return parts_.schema; }
  bool namespaced() const override { return true; }

  Task<Result<ObjectRef>> create_named(RequestContext& context, std::string name, Object& object, WriteOptions options) override {
    co_return co_await evict(context, std::move(name), object, std::move(options), nullptr);
  }
  Task<Result<ObjectRef>> create_validated(RequestContext& context, std::string name, Object& object, WriteOptions options,
                                           CreateValidation& validation) override {
    co_return co_await evict(context, std::move(name), object, std::move(options), &validation);
  }

 private:
  // `validation`: null: no validation.
  Task<Result<ObjectRef>> evict(RequestContext& context, std::string name, Object& object, WriteOptions options,
                                CreateValidation* validation) {
    if (meta_name(object) != name) co_return bad_request("name in URL does not match name in Eviction object");
    Status possible = check_options(object, name);
    if (!possible.ok()) co_return possible;
    auto how = delete_options_of(object, options);
    if (!how.ok()) co_return std::move(how).status();
    Status valid;
    if (validation != nullptr) valid = co_await validation->validate(object);
    if (valid.ok()) valid = check_policy(*how);
    if (!valid.ok()) co_return valid;
    EvictionOperation operation(parts_, context, std::move(name), std::move(*how));
    co_return co_await operation.run();
  }

  EvictionParts parts_;
};

}  // namespace

std::shared_ptr<RestStorage> make_eviction(EvictionParts parts) { return std::make_shared<Eviction>(std::move(parts)); }

}  // namespace backplane::core
