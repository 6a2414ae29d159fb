#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>

#include "registry/write_preparation.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kOrphanFinalizer = "orphan";
constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

std::int64_t now_unix() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The preconditions of kinds with a special deletion (namespaces, definitions): they are checked before the generic rules, and the errors
// name the resource.
Status check_own_preconditions(const ResourceConfig& config, const ObjectMeta& meta, const Preconditions& wanted) {
  const auto failed = [&](std::string_view what, const std::string& asked, std::string_view actual) {
    return conflict(config.kind.group, config.resource, meta.name(),
                    "Precondition failed: " + std::string(what) + " in precondition: " + asked + ", " + std::string(what) +
                        " in object meta: " + std::string(actual));
  };
  if (wanted.uid && *wanted.uid != meta.uid()) return failed("UID", *wanted.uid, meta.uid());
  if (wanted.resource_version && *wanted.resource_version != meta.resource_version()) {
    return failed("ResourceVersion", *wanted.resource_version, meta.resource_version());
  }
  return {};
}

Status check_preconditions(const ResourceConfig& config, const ObjectMeta& meta, const Preconditions& wanted) {
  if (wanted.uid && *wanted.uid != meta.uid()) {
    return conflict(config.kind.group, config.kind.kind, meta.name(),
                    "the UID in the precondition (" + *wanted.uid + ") does not match the UID in record (" + std::string(meta.uid()) +
                        "). The object might have been deleted and then recreated");
  }
  if (wanted.resource_version && *wanted.resource_version != meta.resource_version()) {
    return conflict(config.kind.group, config.kind.kind, meta.name(),
                    "the ResourceVersion in the precondition (" + *wanted.resource_version +
                        ") does not match the ResourceVersion in record (" + std::string(meta.resource_version()) +
                        "). The object might have been modified");
  }
  return {};
}

// A second delete may only shorten the grace period. The shorter period must not end in the past, unless it is 0.
Grace shorten(ObjectMeta& meta, DeleteOptions& options) {
  const std::int64_t current = meta.deletion_grace_period_seconds().value_or(0);
  if (current == 0) return Grace::kNone;
  if (!options.grace_period_seconds) {
    options.grace_period_seconds = current;
    return Grace::kPending;
  }
  std::int64_t period = *options.grace_period_seconds;
  if (period >= current) return Grace::kPending;
  const std::int64_t now = now_unix();
  std::int64_t deletion = parse_rfc3339(meta.deletion_timestamp()).value_or(now) - current + period;
  if (deletion < now) {
    deletion = now;
    if (period != 0) period = 1;
  }
  meta.set("deletionTimestamp", format_rfc3339(deletion));
  meta.set_deletion_grace_period_seconds(period);
  return Grace::kGraceful;
}

void raise_generation(ObjectMeta& meta) {
  if (meta.generation() > 0) meta.set_generation(meta.generation() + 1);
}

bool wants_orphans(const Strategy& strategy, const std::vector<std::string>& finalizers, const DeleteOptions& options) {
  if (options.orphan_dependents) return *options.orphan_dependents;
  if (options.propagation_policy) return *options.propagation_policy == "Orphan";
  for (const std::string& finalizer : finalizers) {
    if (finalizer == kOrphanFinalizer) return true;
    if (finalizer == kForegroundFinalizer) return false;
  }
  return strategy.facts().orphans_dependents;
}

bool wants_foreground(const std::vector<std::string>& finalizers, const DeleteOptions& options) {
  if (options.orphan_dependents) return false;
  if (options.propagation_policy) return *options.propagation_policy == "Foreground";
  for (const std::string& finalizer : finalizers) {
    if (finalizer == kForegroundFinalizer) return true;
    if (finalizer == kOrphanFinalizer) return false;
  }
  return false;
}

}  // namespace

Result<Grace> before_delete(const ResourceConfig& config, RequestContext& context, Object& object, DeleteOptions& options) {
  ObjectMeta meta(object);
  const bool own = config.strategy->held_by_other_finalizers(object);
  Status met =
      own ? check_own_preconditions(config, meta, options.preconditions) : check_preconditions(config, meta, options.preconditions);
  if (!met.ok()) return met;

  // As upstream, the deletion of a namespace gets the uid of the object that was read as a precondition; admission receives it, too.
  if (own && !options.preconditions.uid) options.preconditions.uid = std::string(meta.uid());
  if (options.grace_period_seconds.value_or(0) < 0) options.grace_period_seconds = 1;
  if (meta.deletion_grace_period_seconds().value_or(0) < 0) meta.set_deletion_grace_period_seconds(1);
  if (!meta.deletion_timestamp().empty()) return shorten(meta, options);
  if (!config.strategy->check_graceful_delete(context, object, options)) return Grace::kNone;
  if (!options.grace_period_seconds) return internal_error("options.GracePeriodSeconds should not be nil");

  meta.set("deletionTimestamp", format_rfc3339(now_unix() + *options.grace_period_seconds));
  meta.set_deletion_grace_period_seconds(options.grace_period_seconds);
  raise_generation(meta);
  return Grace::kGraceful;
}

bool set_collector_finalizers(const Strategy& strategy, Object& object, const DeleteOptions& options) {
  ObjectMeta meta(object);
  const std::vector<std::string> before = meta.finalizers();
  std::vector<std::string> after;
  std::copy_if(before.begin(), before.end(), std::back_inserter(after),
               [](const std::string& f) { return f != kOrphanFinalizer && f != kForegroundFinalizer; });
  const bool collected = strategy.facts().has_dependents;
  if (collected && wants_orphans(strategy, before, options)) after.emplace_back(kOrphanFinalizer);
  if (collected && wants_foreground(before, options)) after.emplace_back(kForegroundFinalizer);

  // The lists are compared as hash sets, because clients may send long lists.
  const std::unordered_set<std::string_view> had(before.begin(), before.end()), has(after.begin(), after.end());
  if (had == has) return false;
  meta.set_finalizers(after);
  return true;
}

bool mark_as_deleting(Object& object) {
  ObjectMeta meta(object);
  const bool first = meta.deletion_timestamp().empty();
  if (first) raise_generation(meta);
  const std::int64_t now = now_unix();
  const bool move = first || parse_rfc3339(meta.deletion_timestamp()).value_or(now + 1) > now;
  if (move) meta.set("deletionTimestamp", format_rfc3339(now));
  const bool graceful = meta.deletion_grace_period_seconds() != std::optional<std::int64_t>(0);
  if (graceful) meta.set_deletion_grace_period_seconds(0);
  return move || graceful;
}

}  // namespace backplane::registry
