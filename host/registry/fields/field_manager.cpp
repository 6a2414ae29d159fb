#include "registry/fields/field_manager.hpp"

#include <algorithm>
#include <mutex>

#include "backplane/points/admission.hpp"
#include "engine/raw_json.hpp"
#include "registry/fields/entry_update.hpp"
#include "registry/fields/last_applied.hpp"
#include "registry/fields/raw_managers.hpp"
#include "registry/metadata.hpp"

namespace backplane::registry {
namespace {

constexpr std::string_view kBeforeFirstApply = "before-first-apply";
// The temporary owner of an update's fields, until they are merged with the manager's previous entry.
constexpr std::string_view kCurrent = "current-operation";

FieldPath path_of(std::string_view dotted) {
  FieldPath path;
  for (;;) {
    const auto dot = dotted.find('.');
    path.push_back(PathElement::field(dotted.substr(0, dot)));
    if (dot == std::string_view::npos) return path;
    dotted.remove_prefix(dot + 1);
  }
}

FieldFilter::Pattern pattern_of(std::string_view dotted) {
  FieldFilter::Pattern pattern;
  for (;;) {
    const auto dot = dotted.find('.');
    const std::string_view step = dotted.substr(0, dot);
    pattern.push_back(step == "*" ? std::nullopt : std::optional<PathElement>(PathElement::field(step)));
    if (dot == std::string_view::npos) return pattern;
    dotted.remove_prefix(dot + 1);
  }
}

// schema.GroupVersionKind as Go prints it: "/v1, Kind=Pod".
std::string text_of_kind(const GroupVersionKind& kind) { return kind.group + "/" + kind.version + ", Kind=" + kind.kind; }

GroupVersionKind kind_of(const Object& configuration) {
  const std::string_view version = get_string(configuration, "apiVersion");
  const std::string kind(get_string(configuration, "kind"));
  if (std::count(version.begin(), version.end(), '/') > 1) return {};
  const GroupVersion parsed = GroupVersion::parse(version);
  return {parsed.group, parsed.version, kind};
}

// The name of an object in upstream's messages: namespace/name; kind.
std::string name_of(const Object& object) {
  return std::string(meta_namespace(object)) + "/" + std::string(meta_name(object)) + "; " + text_of_kind(kind_of(object));
}

// An upstream error that is not a Status there, and so becomes a 500 without a reason.
Status failed(std::string text) { return Status(500, Reason::kNone, std::move(text)); }

Status conflict_status(const std::vector<FieldConflict>& conflicts) {
  StatusDetails details;
  std::string lines;
  std::size_t count = 0;
  std::string only;
  for (const FieldConflict& conflict : conflicts) {
    const std::string manager = Manager::of(conflict.owner).text();
    lines += (lines.empty() ? "" : "\n") + ("conflicts with " + manager + ":");
    for (const FieldPath& path : conflict.fields.paths()) {
      const std::string field = path_text(path);
      lines += "\n- " + field;
      only = "conflict with " + manager + ": " + field;
      details.causes.push_back({"FieldManagerConflict", "conflict with " + manager, field});
      ++count;
    }
  }
  Status status(
      409, Reason::kConflict,
      count == 1 ? "Apply failed with 1 conflict: " + only : "Apply failed with " + std::to_string(count) + " conflicts: " + lines);
  status.with_details(std::move(details));
  return status;
}

// A copy of the object in which raw values are parsed, because field management compares values, not their texts.
Object with_raw_read(const Object& object, json::storage_ptr storage) {
  Value whole(Object(object, std::move(storage)));
  read_raw_within(whole);
  return std::move(whole.get_object());
}

std::optional<FieldSet> excluded_by(const WrittenFields& written) {
  if (!written.reaches.empty()) return std::nullopt;
  FieldSet excluded;
  for (const std::string& each : written.resets) excluded.insert(path_of(each));
  return excluded;
}

FieldFilter filter_of(const WrittenFields& written) {
  if (auto excluded = excluded_by(written)) return excluded->empty() ? FieldFilter() : FieldFilter::excluding(std::move(*excluded));
  std::vector<FieldFilter::Pattern> patterns;
  for (const std::string& each : written.reaches) patterns.push_back(pattern_of(each));
  return FieldFilter::including(patterns);
}

}  // namespace

WrittenFields written_fields_of(const Strategy* strategy) {
  if (auto written = strategy != nullptr ? strategy->written_fields() : std::nullopt) return std::move(*written);
  WrittenFields out;
  if (strategy != nullptr && strategy->facts().status) out.resets.emplace_back("status");
  return out;
}

Task<Result<Object>> AppliedObject::updated_object(RequestContext&, const Object*) {
  co_return internal_error("this resource cannot be applied to");
}

// The manager, subresource and time of one write.
struct FieldManager::Write {
  Write(std::string name, const RequestContext& context)
      : name(std::move(name)), subresource(context.info.subresource), now(now_rfc3339()) {}
  std::string identifier(const std::string& api_version, bool applies) const {
    return Manager{name, applies, api_version, subresource}.identifier();
  }
  std::string name;
  std::string subresource;
  std::string now;
};

struct FieldManager::Nothing {
  std::optional<FieldSet> excluded;  // the fields that filter_ excludes; nullopt: filter_ lists the included fields
  std::once_flag made;
  Value object;
};

FieldManager::FieldManager(GroupVersionKind kind, const Schema* schema, std::shared_ptr<const FieldVersions> versions,
                           const WrittenFields& written)
    : kind_(std::move(kind)),
      api_version_(kind_.group_version().to_string()),
      schema_(schema),
      versions_(std::move(versions)),
      filter_(filter_of(written)),
      tracked_(written.recorded),
      given_later_(written.given_later),
      sorted_keys_(schema != nullptr && schema->structural()),
      nothing_(std::make_shared<Nothing>()) {
  nothing_->excluded = excluded_by(written);
}

bool FieldManager::tracks(const RequestContext& context, const WriteOptions& options) const {
  return tracked_ && (context.info.is_resource_request || !options.field_manager.empty() || !context.user_agent.empty());
}

FieldManager::Filters FieldManager::filters_for(const FieldOwners& owners) const {
  Filters filters;
  if (filter_.everything()) return filters;
  filters.emplace(api_version_, filter_);
  for (const auto& [identifier, owned] : owners) filters.emplace(owned.api_version, filter_);
  return filters;
}

// Made at the first call, because normalize() compiles the type at its first use.
const Object& FieldManager::nothing() const {
  std::call_once(nothing_->made, [this] {
    Object object;
    object["kind"] = kind_.kind;
    object["apiVersion"] = api_version_;
    nothing_->object = std::move(object);
    if (schema_ != nullptr && !schema_->normalize(nothing_->object, nullptr).ok()) nothing_->object = Object();
  });
  return nothing_->object.get_object();
}

Task<Result<Object>> FieldManager::wanted(UpdatedObjectInfo& info, const Strategy* defaults, RequestContext& context,
                                          const WriteOptions& options, const Object* existing) const {
  ClientWrite* const sent = info.client_write();
  if (AppliedObject* const applied = sent != nullptr ? sent->applied() : nullptr) {
    auto merged = co_await apply(*applied, defaults, context, existing);
    if (!merged.ok()) co_return merged;
    Status changed = co_await info.change_applied(context, *merged, existing);
    if (!changed.ok()) co_return changed;
    co_return merged;
  }
  auto object = co_await info.updated_object(context, existing);
  if (!object.ok()) co_return object;
  if (defaults != nullptr) defaults->apply_defaults(*object);
  if (!tracks(context, options)) co_return object;
  // The owner references of a patch are checked after admission only; as upstream, the warning then mentions admission.
  if (context.info.is_resource_request && context.info.verb != "patch") dedupe_owner_references(context, *object, false);
  co_await track(context, options, existing, *object);
  co_return object;
}

Task<void> FieldManager::track_new(RequestContext& context, const WriteOptions& options, Object& object) const {
  if (tracks(context, options)) co_await track(context, options, nullptr, object);
}

// ---- updates

Task<void> FieldManager::track(RequestContext& context, const WriteOptions& options, const Object* live, Object& object) const {
  const Write write(manager_name(options.field_manager, context.user_agent), context);
  Value sent = take_managed_fields(object);
  const Value* recorded = live != nullptr ? managed_fields_of(*live) : nullptr;
  const bool own = write.subresource.empty();
  if (own && resets_managed(&sent) && live != nullptr) co_return;
  // The client's managedFields replace the stored ones if they can be decoded; subresources ignore them.
  std::optional<ManagedFields> managed;
  const bool same = recorded != nullptr && sent.is_array() && same_encoding(sent, *recorded);
  const bool differs =
      own && !same && sent.is_array() && !resets_managed(&sent) && (recorded == nullptr || !same_managers(sent, *recorded));
  if (differs) {
    auto read = decode_managed(&sent);
    if (read.ok() && !read->owners.empty()) managed = std::move(*read);
  }
  std::optional<Object> present, completed;
  if (given_later_) given_later_(completed.emplace(object, object.storage()));
  if (holds_raw(schema_)) {
    if (live != nullptr) present = with_raw_read(*live, object.storage());
    completed = with_raw_read(completed ? *completed : object, object.storage());
  }
  const Object& before = present ? *present : live != nullptr ? *live : nothing();
  const Object& counted = completed ? *completed : object;
  if (!managed) {
    // An object without managers gets none before its first apply.
    if (live != nullptr && (recorded == nullptr || !recorded->is_array() || recorded->get_array().empty())) co_return;
    const Value none = Array();
    if (auto kept = updated_here(write, before, counted, recorded != nullptr ? *recorded : none)) {
      if (kept->ok()) put_managed_fields(object, std::move(**kept), sorted_keys_);
      co_return;
    }
    auto read = decode_managed(recorded);
    if (!read.ok()) co_return;
    managed = std::move(*read);
  }
  auto now = co_await updated(write, before, counted, std::move(*managed));
  if (now.ok()) put_managed_fields(object, encode_managed(*now, object.storage()), sorted_keys_);
}

std::optional<Result<Value>> FieldManager::updated_here(const Write& write, const Object& live, const Object& object,
                                                        const Value& managed) const {
  EntryUpdate update;
  update.schema = schema_;
  update.filter = &filter_;
  update.excluded = nothing_->excluded ? &*nothing_->excluded : nullptr;
  update.api_version = api_version_;
  update.manager = write.name;
  update.subresource = write.subresource;
  update.now = write.now;
  return update_entries(update, live, object, managed);
}

Task<Result<ManagedFields>> FieldManager::updated(const Write& write, const Object& live, const Object& object,
                                                  ManagedFields managed) const {
  const Filters filters = filters_for(managed.owners);
  const FieldUpdater updater(*versions_, filters.empty() ? nullptr : &filters);
  auto owners = co_await updater.update(live, object, api_version_, std::move(managed.owners), std::string(kCurrent));
  if (!owners.ok()) co_return std::move(owners.status());
  managed.owners = std::move(*owners);
  const auto current = managed.owners.find(std::string(kCurrent));
  if (current != managed.owners.end()) {
    OwnedFields owned = std::move(current->second);
    managed.owners.erase(current);
    owned.fields = owned.fields.subtract(stripped_fields());
    const std::string identifier = write.identifier(api_version_, false);
    if (!owned.fields.empty()) {
      const auto previous = managed.owners.find(identifier);
      if (previous != managed.owners.end()) owned.fields = owned.fields.unite(previous->second.fields);
      managed.owners.insert_or_assign(identifier, std::move(owned));
      managed.times[identifier] = write.now;
    }
  }
  cap_update_managers(managed);
  co_return managed;
}

// ---- apply

Status FieldManager::check_configuration(const Object& configuration) const {
  const GroupVersionKind kind = kind_of(configuration);
  return kind == kind_ ? Status() : bad_request("invalid object type: " + text_of_kind(kind));
}

Task<Result<ManagedFields>> FieldManager::before_first_apply(const Write& write, const Object& live, ManagedFields managed) const {
  Write before = write;
  before.name = kBeforeFirstApply;
  auto tracked = co_await updated(before, nothing(), live, std::move(managed));
  if (!tracked.ok()) co_return failed("failed to create manager for existing fields: " + tracked.status().message());
  co_return tracked;
}

Task<Result<Object>> FieldManager::apply(AppliedObject& applied, const Strategy* defaults, RequestContext& context,
                                         const Object* existing) const {
  auto configuration = applied.configuration(context);
  if (!configuration.ok()) co_return std::move(configuration.status());
  auto object = co_await merge(applied, **configuration, context, existing);
  if (!object.ok()) co_return std::move(object.status());
  if (object->changed) {
    Status shaped = finish(**configuration, defaults, object->object);
    if (!shaped.ok()) co_return shaped;
  }
  if (applied.manager() == kKubectl) renew_last_applied(object->object, **configuration);
  put_managed_fields(object->object, encode_managed(object->managed, context.arena()), sorted_keys_);
  Status accepted = applied.accept(context, object->object, existing);
  if (!accepted.ok()) co_return accepted;
  co_return std::move(object->object);
}

Status FieldManager::finish(const Object& configuration, const Strategy* defaults, Object& object) const {
  Value whole(std::move(object));
  DecodeReport report;
  report.restore = true;
  if (schema_ != nullptr) {
    Status shaped = schema_->normalize(whole, &report);
    if (!shaped.ok()) {
      return failed("failed to convert new object (" + name_of(configuration) +
                    ") to proper version: unable to convert unstructured object to " + text_of_kind(kind_) + ": " + shaped.message());
    }
    schema_->apply_defaults(whole);
  }
  object = std::move(whole.get_object());
  if (defaults != nullptr) defaults->apply_defaults(object);
  return {};
}

// The object after an apply that has changed nothing: raw values have their original text.
Object FieldManager::unchanged(const Object* existing, Object live) const {
  if (existing == nullptr || !holds_raw(schema_)) return live;
  Object kept(*existing, live.storage());
  take_managed_fields(kept);
  return kept;
}

Task<Result<FieldManager::Merged>> FieldManager::merge(const AppliedObject& applied, const Object& configuration, RequestContext& context,
                                                       const Object* existing) const {
  const Write write(applied.manager(), context);
  auto managed = decode_managed(existing != nullptr ? managed_fields_of(*existing) : nullptr);
  if (!managed.ok()) co_return failed("failed to decode managed fields: " + managed.status().message());
  Status suits = check_configuration(configuration);
  if (!suits.ok()) co_return suits;
  Object live(existing != nullptr ? *existing : nothing(), context.arena());
  take_managed_fields(live);
  if (holds_raw(schema_)) live = with_raw_read(live, context.arena());
  if (managed->owners.empty() && existing != nullptr) {
    auto before = co_await before_first_apply(write, live, std::move(*managed));
    if (!before.ok()) co_return std::move(before.status());
    managed = std::move(before);
  }
  const Value* sent = managed_fields_of(configuration);
  if (sent != nullptr && sent->is_array()) co_return bad_request("metadata.managedFields must be nil");
  Status typed = check_fields(schema_, configuration, Duplicates::kRefused);
  if (!typed.ok()) co_return failed("failed to create typed patch object (" + name_of(configuration) + "): " + typed.message());
  typed = check_fields(schema_, live, Duplicates::kAllowed);
  if (!typed.ok()) co_return failed("failed to create typed live object (" + name_of(live) + "): " + typed.message());

  const Filters filters = filters_for(managed->owners);
  const FieldUpdater updater(*versions_, filters.empty() ? nullptr : &filters);
  const std::string self = write.identifier(api_version_, true);
  auto done = co_await updater.apply(live, configuration, api_version_, managed->owners, self, applied.force());
  if (done.ok() && !done->conflicts.empty() && applied.manager() == kKubectl) {
    const auto allowed = last_applied_fields(schema_, api_version_, live);
    auto left = allowed ? conflicts_without(done->conflicts, *allowed) : done->conflicts;
    if (left.empty()) {
      done = co_await updater.apply(live, configuration, api_version_, managed->owners, self, true);
    } else {
      done->conflicts = std::move(left);
    }
  }
  if (!done.ok()) co_return failed(done.status().message());
  if (!done->conflicts.empty()) co_return conflict_status(done->conflicts);

  Merged merged{Object(context.arena()), std::move(*managed), done->object.has_value()};
  merged.object = done->object ? std::move(*done->object) : unchanged(existing, std::move(live));
  merged.managed.owners = std::move(done->owners);
  const auto own = merged.managed.owners.find(self);
  if (own != merged.managed.owners.end()) {
    own->second.fields = own->second.fields.subtract(stripped_fields());
    if (own->second.fields.empty()) merged.managed.owners.erase(own);
  }
  if (merged.changed) merged.managed.times[self] = write.now;
  co_return merged;
}

}  // namespace backplane::registry
