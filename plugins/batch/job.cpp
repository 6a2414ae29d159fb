// Jobs: defaults, the labels that identify their pods, and warnings.
#include <limits>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/rest/written_fields.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/strategy.hpp"
#include "backplane/workload/workload.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

using namespace kit;
using namespace workload;

constexpr std::int64_t kBackoffLimit = 6;
constexpr std::int64_t kNoBackoffLimit = std::numeric_limits<std::int32_t>::max();  // if each index has its own limit

const Object& template_labels(const Object& spec) {
  return object_or_empty(object_or_empty(object_or_empty(spec, "template"), "metadata"), "labels");
}

bool has_manual_selector(const Object& spec) { return get_bool(spec, "manualSelector").value_or(false); }

// A job without labels gets those of its pod template.
void label_like_pods(Object& job) {
  const Object labels(template_labels(object_or_empty(job, "spec")));
  if (labels.empty() || !object_or_empty(object_or_empty(job, "metadata"), "labels").empty()) return;
  ObjectMeta(job).mutable_labels() = labels;
}

// Adds the selector and the labels that identify the job's pods. Retains existing labels; validation refuses wrong labels.
void make_selector(Object& job) {
  const std::string name(meta_name(job)), uid(meta_text(job, "uid"));
  Object& spec = ensure_object(job, "spec");
  Object& labels = ensure_object(ensure_object(ensure_object(spec, "template"), "metadata"), "labels");
  for (std::string_view key : {kOldJobName, kJobName}) labels.emplace(key, name);
  for (std::string_view key : {kOldControllerUid, kControllerUid}) labels.emplace(key, uid);
  ensure_object(ensure_object(spec, "selector"), "matchLabels").emplace(kControllerUid, uid);
}

void require_label(const Object& labels, std::string_view key, std::string_view value, FieldErrors& errors) {
  const Value* found = find(labels, key);
  const std::string path = at_key("spec.template.metadata.labels", key);
  const std::string why = "must be '" + std::string(value) + "'";
  if (found == nullptr) {
    errors.required(path, why);
  } else if (text_of(*found) != value) {
    errors.invalid_raw(path, to_json(labels), why);
  }
}

// Checks that the labels of make_selector() are present and unchanged. `new_names`: false for old jobs, which have only the old label
// names.
void check_made_selector(const Object& job, bool new_names, FieldErrors& errors) {
  const Object& spec = object_or_empty(job, "spec");
  const Object* selector = get_object(spec, "selector");
  if (has_manual_selector(spec) || selector == nullptr) return;
  const std::string_view name = meta_name(job), uid = meta_text(job, "uid");
  if (uid.empty()) errors.required("metadata.uid");
  Object expected;
  const auto expect = [&](std::string_view key, std::string_view value) {
    require_label(template_labels(spec), key, value, errors);
    expected[key] = value;
  };
  expect(kOldControllerUid, uid);
  expect(kOldJobName, name);
  if (new_names) {
    expect(kControllerUid, uid);
    expect(kJobName, name);
  }
  if (!is_valid_selector(*selector, "") || selector_matches(*selector, &expected).value_or(true)) return;
  errors.invalid_raw("spec.selector", to_json(*selector), "`selector` not auto-generated");
}

// The host name of an indexed job's pod consists of the job's name and the pod's index. Checks the longest host name.
void check_host_names(const Object& job, FieldErrors& errors) {
  const Object& spec = object_or_empty(job, "spec");
  const std::int64_t completions = get_int(spec, "completions").value_or(0);
  if (get_string(spec, "completionMode") != "Indexed" || completions <= 0) return;
  const std::string longest = std::string(meta_name(job)) + "-" + std::to_string(completions - 1);
  if (is_dns1123_label(longest).empty()) return;
  errors.invalid("metadata.name", meta_name(job), "will not able to create pod with invalid DNS label: " + longest);
}

class JobStrategy final : public PodHolderStrategy {
 public:
  JobStrategy(KindFacts facts, PodValidationOptions options, JobGates gates)
      : PodHolderStrategy(std::move(facts), options), gates_(gates) {}

  // A job without labels gets its template's labels only after these are complete (given_later). Errors are about the labels that the
  // client has sent.
  std::optional<WrittenFields> written_fields() const override {
    return WrittenFields{.resets = {"status"}, .given_later = label_like_pods};
  }

  void apply_defaults(Object& object) const override {
    Object& spec = ensure_object(object, "spec");
    apply_pod_template_defaults(ensure_object(spec, "template"));
    if (!has(spec, "completions") && !has(spec, "parallelism")) spec["completions"] = 1;
    fill_missing(spec, "parallelism", 1);
    fill_missing(spec, "backoffLimit", has(spec, "backoffLimitPerIndex") ? kNoBackoffLimit : kBackoffLimit);
    fill_missing(spec, "completionMode", "NonIndexed");
    fill_missing(spec, "suspend", false);
    fill_missing(spec, "podReplacementPolicy", has(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
    fill_missing(spec, "manualSelector", false);
    // A new job's pods do not have all their labels yet.
    if (has_manual_selector(spec) || template_labels(spec).contains(kControllerUid)) label_like_pods(object);
  }
  void canonicalize(Object& object) const override {
    canonicalize_job(object);
    label_like_pods(object);
  }
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    Warnings out;
    if (old == nullptr) warn_of_host_name(object, "Pod names and hostnames", out);
    if (old != nullptr && !generation_changed(object, *old)) return out;
    warn_of_job_spec(object_or_empty(object, "spec"), "spec", out);
    return out;
  }

 protected:
  void prepare_create(Object& object) const override {
    const bool labelled = !template_labels(object_or_empty(object, "spec")).empty();
    if (!has_manual_selector(object_or_empty(object, "spec"))) make_selector(object);
    // Labels that only the server has set are not validated a second time, because canonicalize() copies them.
    if (labelled) label_like_pods(object);
  }
  void check(const Object& object, FieldErrors& errors) const override {
    check_spec(object, errors);
    check_host_names(object, errors);
  }
  void check_new(const Object& object, FieldErrors& errors) const override { check_made_selector(object, true, errors); }
  // As upstream, updates validate the spec twice.
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    const Object& labels = template_labels(object_or_empty(old, "spec"));
    check_made_selector(object, labels.contains(kJobName) && labels.contains(kControllerUid), errors);
    check_spec(object, errors);
    check_job_change(object, old, gates_, errors);
  }

 private:
  void check_spec(const Object& object, FieldErrors& errors) const {
    const Object& spec = object_or_empty(object, "spec");
    check_job_spec(spec, "spec", errors);
    validate_workload_template(spec, options(), errors);
    check_restart_policy(spec, "spec", errors);
  }

  const JobGates gates_;
};

}  // namespace

KindCode job_code(PodValidationOptions options, JobGates gates) {
  return {.make = made<JobStrategy>(options, gates), .make_status = job_status_strategy};
}

}  // namespace backplane::batch
