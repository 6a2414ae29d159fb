#include "kinds.hpp"

#include <chrono>
#include <stdexcept>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/types/names.hpp"
#include "claims.hpp"
#include "names.hpp"
#include "resource_group_json.hpp"
#include "resource_v1_json.hpp"
#include "slices.hpp"

namespace backplane::resource {
namespace {

using namespace kit;

std::string now_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return format_rfc3339(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

// ---- columns

void print_claim_state(const Object& claim, std::int64_t, Array& cells) {
  const bool deleted = !meta_text(claim, "deletionTimestamp").empty();
  const Object& status = object_or_empty(claim, "status");
  std::vector<std::string> states;
  if (deleted) states.emplace_back("deleted");
  if (has(status, "allocation")) {
    states.emplace_back("allocated");
    if (count_of(status, "reservedFor") > 0) states.emplace_back("reserved");
  } else if (!deleted) {
    states.emplace_back("pending");
  }
  cells.emplace_back(joined(states));
}

// Returns Complete, Failed or Pending. Sets `since` to the time since completion.
std::string progress_of(const Object& status, std::string& since, std::int64_t now) {
  std::string out = "Pending";
  each(status, "conditions", [&](const Object& condition, std::size_t) {
    const std::string_view type = get_string(condition, "type");
    if (out != "Pending" || get_string(condition, "status") != "True") return;
    if (type == "Failed") out = type;
    if (type != "Complete") return;
    out = type;
    since = human_age(get_string(condition, "lastTransitionTime"), now);
  });
  return out;
}

void print_pool_status(const Object& request, std::int64_t now, Array& cells) {
  const Object& status = object_or_empty(request, "status");
  std::string since = "<none>";
  std::string progress = progress_of(status, since, now);
  const std::int64_t pools = get_int(status, "poolCount").value_or(0);
  const auto listed = static_cast<std::int64_t>(count_of(status, "pools"));
  const bool counted = has(request, "status") && progress != "Failed";
  const auto sum = [&](std::string_view member) {
    std::int64_t total = 0;
    each(status, "pools", [&](const Object& pool, std::size_t) { total += get_int(pool, member).value_or(0); });
    cells.emplace_back(counted ? std::to_string(total) : "-");
  };
  for (const std::string_view member : {"totalDevices", "availableDevices", "allocatedDevices", "unavailableDevices"}) sum(member);
  std::int64_t errors = 0;
  each(status, "pools", [&](const Object& pool, std::size_t) { errors += has(pool, "validationError") ? 1 : 0; });
  cells.emplace_back(counted ? std::to_string(errors) : "-");
  cells.emplace_back(pools);
  if (progress == "Complete" && pools > listed) progress += " (" + std::to_string(listed) + "/" + std::to_string(pools) + " pools)";
  cells.emplace_back(progress);
  cells.emplace_back(since);
}

// ---- kinds

// In a claim without requests the list is absent, not empty.
void drop_empty_requests(Object& claim_spec) {
  if (Object* devices = mutable_object(claim_spec, "devices")) null_when_empty(*devices, "requests");
}

// generateName of a device class is not validated, only the generated name.
void take_back_prefix_problems(FieldErrors& errors) {
  FieldErrors kept;
  for (const FieldError& error : errors.list()) {
    if (error.field != "metadata.generateName") kept.add(error);
  }
  errors = std::move(kept);
}

class DeviceClassStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    if (!errors.empty()) take_back_prefix_problems(errors);
    const Object& spec = object_or_empty(object, "spec");
    check_selectors(spec, Path("spec"), errors);
    const std::string_view name = get_string(spec, "extendedResourceName");
    if (!has(spec, "extendedResourceName") || is_extended_resource_name(name)) return;
    errors.invalid("spec.extendedResourceName", name, "must be a valid extended resource name");
  }
};

class ClaimStrategy final : public KindStrategy {
 public:
  ClaimStrategy(KindFacts facts, bool distinct) : KindStrategy(std::move(facts)), distinct_(distinct) {}
  void canonicalize(Object& claim) const override { drop_empty_requests(ensure_object(claim, "spec")); }

 protected:
  void check_new(const Object& claim, FieldErrors& errors) const override {
    check_claim_spec(object_or_empty(claim, "spec"), distinct_, Path("spec"), errors);
  }

 private:
  const bool distinct_;
};

class ClaimStatusStrategy final : public StatusStrategy {
 public:
  explicit ClaimStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent),
                       {.kept_metadata = {"labels", "annotations", "finalizers", "ownerReferences"}, .has_tables = false}) {}
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    drop_deallocated(object, old);
  }

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_claim_status(object, old, errors);
  }
};

class ClaimTemplateStrategy final : public KindStrategy {
 public:
  ClaimTemplateStrategy(KindFacts facts, bool distinct) : KindStrategy(std::move(facts)), distinct_(distinct) {}
  void canonicalize(Object& object) const override { drop_empty_requests(ensure_object(ensure_object(object, "spec"), "spec")); }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object& metadata = object_or_empty(spec, "metadata");
    validate_labels(object_or_empty(metadata, "labels"), "spec.metadata.labels", errors);
    validate_annotations(object_or_empty(metadata, "annotations"), "spec.metadata.annotations", errors);
    check_claim_spec(object_or_empty(spec, "spec"), distinct_, Path("spec.spec"), errors);
  }

 private:
  const bool distinct_;
};

// ---- times of taints: the current time if the client sets none

void date_taint(Object& taint) { fill_missing(taint, "timeAdded", now_text()); }

// In v1beta1 the members of a device are in the struct `basic`.
void date_slice(Object& slice) {
  Object* spec = mutable_object(slice, "spec");
  if (spec == nullptr) return;
  each_mutable(*spec, "devices", [](Object& device) {
    Object* basic = mutable_object(device, "basic");
    each_mutable(basic != nullptr ? *basic : device, "taints", date_taint);
  });
}

void date_rule(Object& rule) {
  Object* spec = mutable_object(rule, "spec");
  Object* taint = spec != nullptr ? mutable_object(*spec, "taint") : nullptr;
  if (taint != nullptr) date_taint(*taint);
}

// The strategy of one served version: it sets the times in objects of that version.
template <void (*date)(Object&)>
class DatedView final : public Strategy {
 public:
  using Strategy::Strategy;
  void apply_defaults(Object& object) const override { date(object); }
};

class SliceStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& slice) const override { date_slice(slice); }
  std::vector<std::string> warnings(const Object& slice, const Object*) const override {
    const std::string_view driver = get_string(object_or_empty(slice, "spec"), "driver");
    if (driver == lower_case(driver)) return {};
    return {"spec.driver: driver names should be lowercase; " + quoted(driver) + " contains uppercase characters"};
  }

 protected:
  void check(const Object& slice, FieldErrors& errors) const override {
    static const Schema& type = *stored_schemas()->find("io.k8s.api.resource.v1.DeviceAttribute");
    check_slice(slice, type, errors);
  }
};

class TaintRuleStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void apply_defaults(Object& rule) const override { date_rule(rule); }

 protected:
  // timeAdded is the time of the effect, so a change of the effect sets timeAdded.
  void prepare_update(Object& rule, const Object& old) const override {
    Object* spec = mutable_object(rule, "spec");
    Object* taint = spec != nullptr ? mutable_object(*spec, "taint") : nullptr;
    const Object& before = object_or_empty(object_or_empty(old, "spec"), "taint");
    if (taint == nullptr || get_string(*taint, "effect") == get_string(before, "effect")) return;
    if (same_member(*taint, before, "timeAdded")) (*taint)["timeAdded"] = now_text();
  }
  void check(const Object& rule, FieldErrors& errors) const override {
    const Object& selector = object_or_empty(object_or_empty(rule, "spec"), "deviceSelector");
    if (has(selector, "pool")) check_pool_name(get_string(selector, "pool"), Path("spec.deviceSelector.pool"), errors);
  }
};

constexpr std::size_t kMaxPools = 1000;

class PoolStatusRequestStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& request, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(request, "spec");
    if (has(spec, "poolName")) check_pool_segments(get_string(spec, "poolName"), Path("spec.poolName"), errors);
  }
};

class PoolStatusRequestStatusStrategy final : public StatusStrategy {
 public:
  explicit PoolStatusRequestStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {.kept_metadata = {"labels", "annotations", "finalizers", "ownerReferences"}}) {}

 protected:
  // An existing status is immutable and not validated again.
  void check_status(const Object& request, const Object& old, FieldErrors& errors) const override {
    const Object& status = object_or_empty(request, "status");
    if (get_object(old, "status") != nullptr || get_object(request, "status") == nullptr) return;
    if (!has(status, "poolCount")) errors.required("status.poolCount");
    if (count_of(status, "pools") > kMaxPools) return;
    const Path root("status");
    each(status, "pools", [&](const Object& pool, std::size_t i) {
      const Path holder = root.at("pools", i);
      const Path path = holder.at("poolName");
      const std::string_view name = get_string(pool, "poolName");
      name.empty() ? errors.required(path) : check_pool_segments(name, path, errors);
    });
  }
};

}  // namespace

std::shared_ptr<const SchemaSet> stored_schemas() {
  static const auto schemas = [] {
    const std::string_view document = resource_v1_json();
    auto made = SchemaSet::embedded({&document, 1}, {core_schemas(), meta_schemas()});
    if (!made.ok()) throw std::logic_error(made.status().message());
    return std::move(*made);
  }();
  return schemas;
}

Result<GroupDocument> resource_group(std::shared_ptr<const StoreHooks> claim_hooks, bool distinct) {
  const auto dated_slice = made<DatedView<date_slice>>();
  GroupCode code{
      .printers = {{"claimState", print_claim_state}, {"poolStatus", print_pool_status}},
      .kinds = {
          {"DeviceClass", {.make = made<DeviceClassStrategy>()}},
          {"ResourceClaim", {.make = made<ClaimStrategy>(distinct), .make_status = made_status<ClaimStatusStrategy>, .hooks = claim_hooks}},
          {"ResourceClaimTemplate", {.make = made<ClaimTemplateStrategy>(distinct), .hooks = claim_hooks}},
          {"ResourceSlice", {.make = made<SliceStrategy>(), .views = {{"v1beta2", dated_slice}, {"v1beta1", dated_slice}}}},
          {"DeviceTaintRule", {.make = made<TaintRuleStrategy>(), .views = {{"v1beta2", made<DatedView<date_rule>>()}}}},
          {"ResourcePoolStatusRequest",
           {.make = made<PoolStatusRequestStrategy>(), .make_status = made_status<PoolStatusRequestStatusStrategy>}}}};
  return read_group(resource_group_json(), code);
}

}  // namespace backplane::resource
