#include "custom_strategy.hpp"

#include <algorithm>

#include "backplane/core/request.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/written_fields.hpp"
#include "backplane/types/names.hpp"
#include "definition.hpp"

namespace backplane::apiextensions {
namespace {

// A different apiVersion is no change of the content.
bool is_content(std::string_view key) { return key != "metadata" && key != "apiVersion"; }

bool same_content(const Object& a, const Object& b) {
  const auto count = [](const Object& object) {
    return std::count_if(object.begin(), object.end(), [](const auto& member) { return is_content(member.key()); });
  };
  if (count(a) != count(b)) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& member) {
    const Value* other = is_content(member.key()) ? find(b, member.key()) : nullptr;
    return !is_content(member.key()) || (other != nullptr && *other == member.value());
  });
}

void warn_of_finalizer(const std::string& finalizer, std::vector<std::string>& warnings) {
  const std::string start = "metadata.finalizers: " + quoted(finalizer) + ": ";
  for (const std::string& problem : is_qualified_name(finalizer)) warnings.push_back(start + problem);
  if (finalizer.find('/') != std::string::npos) return;
  if (finalizer == "orphan" || finalizer == "foregroundDeletion" || finalizer == "kubernetes") return;
  const bool domain = finalizer.find('.') != std::string::npos;
  warnings.push_back(start + "prefer a domain-qualified finalizer name " + (domain ? "including a path (/) " : "") +
                     "to avoid accidental conflicts with other finalizer writers");
}

// The interval of checks of the connection; most requests end before the first check.
constexpr std::chrono::milliseconds kUnwatched{10};

// An evaluation blocks its thread, and with it the deadline timer and the notification that the client has disconnected. So the budget
// checks the clock, and periodically the connection.
cel::Budget budget_of(const RequestContext& context) {
  using Clock = std::chrono::steady_clock;
  cel::Budget out;
  if (context.deadline == Clock::time_point::max() && context.exchange == nullptr) return out;
  out.cancelled = [&context, next = context.received + kUnwatched]() mutable {
    const auto now = Clock::now();
    if (now >= context.deadline) return true;
    if (now < next || context.exchange == nullptr) return false;
    next = now + kUnwatched;
    return context.exchange->peer_gone();
  };
  return out;
}

void warn(RequestContext& context, const std::vector<std::string>& warnings) {
  for (const std::string& text : warnings) context.warn(text);
}

class CustomFacts : public Strategy {
 public:
  explicit CustomFacts(std::shared_ptr<const CustomResource> resource)
      // The strategy of each version validates the objects; this one does not have the validation rules.
      : Strategy({.namespaced = resource->namespaced,
                  .unconditional_update = false,
                  .checked = ObjectPart::kNone,
                  .selectable = resource->fields()}),
        resource_(std::move(resource)) {}
  std::vector<std::string> warnings(const Object& object, const Object* old) const override {
    std::vector<std::string> added = texts(object_or_empty(object, "metadata"), "finalizers");
    std::sort(added.begin(), added.end());
    std::vector<std::string> warnings;
    for (const std::string& finalizer : added) {
      if (old == nullptr || !has_finalizer(*old, finalizer)) warn_of_finalizer(finalizer, warnings);
    }
    return warnings;
  }

  // The write that marks an object as being deleted stores it by the current definition, too.
  void mark_deleting(Object& object) const override {
    if (!resource_->is_current(object)) resource_->convert_to_stored_version(object);
  }

 protected:
  // Returns `stored` as readers get it: unchanged, or a changed copy in `room`.
  const Object& current(const Object& stored, std::optional<Object>& room) const {
    if (resource_->is_current(stored)) return stored;
    resource_->convert_to_stored_version(room.emplace(stored, stored.storage()));
    return *room;
  }

  const CustomResource& resource() const noexcept { return *resource_; }

 private:
  std::shared_ptr<const CustomResource> resource_;
};

class CustomStrategy final : public CustomFacts {
 public:
  using CustomFacts::CustomFacts;

  void prepare_for_create(RequestContext&, Object& object) const override { ObjectMeta(object).set_generation(1); }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    const std::optional<std::int64_t> generation = get_int_path(old, "metadata.generation");
    std::optional<Object> room;
    if (!same_content(object, current(old, room))) ObjectMeta(object).set_generation(generation.value_or(0) + 1);
  }
};

class CustomStatusStrategy final : public CustomFacts {
 public:
  using CustomFacts::CustomFacts;

  // Retains everything of the old object except status.
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    if (!resource().can_be_brought(old)) {
      // VersionStatusStrategy has done this, with the old object that the webhook has converted.
      if (const Value* metadata = find(old, "metadata")) object["metadata"] = *metadata;
      return;
    }
    Value* status = find(object, "status");
    std::optional<Value> kept;
    if (status != nullptr) kept.emplace(std::move(*status));
    std::optional<Object> room;
    object = Object(current(old, room), object.storage());
    if (kept)
      object["status"] = std::move(*kept);
    else
      erase_member(object, "status");
  }
};

class VersionStrategy final : public Strategy {
 public:
  VersionStrategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version)
      : Strategy({.namespaced = resource->namespaced, .table = version.table}), resource_(std::move(resource)), version_(version) {}
  std::optional<WrittenFields> written_fields() const override {
    WrittenFields out;
    if (version_.has_status) out.resets.emplace_back("status");
    return out;
  }

  void prepare_for_create(RequestContext&, Object& object) const override {
    if (version_.has_status) erase_member(object, "status");
  }
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    if (!version_.has_status) return;
    if (const Value* status = find(old, "status"))
      object["status"] = *status;
    else
      erase_member(object, "status");
  }
  void validate(RequestContext& context, const Object& object, FieldErrors& errors) const override {
    std::vector<std::string> warnings;
    validate_custom(version_, object, {errors, warnings}, budget_of(context));
    warn(context, warnings);
  }
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const override {
    std::vector<std::string> warnings;
    validate_custom_update(version_, object, old, {errors, warnings}, budget_of(context));
    warn(context, warnings);
  }

 private:
  std::shared_ptr<const CustomResource> resource_;
  const CustomVersion& version_;
};

class VersionStatusStrategy final : public Strategy {
 public:
  VersionStatusStrategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version)
      : resource_(std::move(resource)), version_(version) {}
  std::optional<WrittenFields> written_fields() const override { return WrittenFields{.resets = {"metadata", "spec"}}; }

  // Only here do the old and the new object have the same version, because the stored object may have another one.
  void prepare_for_update(RequestContext&, Object& object, const Object& old) const override {
    if (!resource_->by_webhook) return;
    Object kept(old, object.storage());
    for (const std::string_view key : {"metadata", "status"}) {
      if (Value* value = find(object, key))
        kept[key] = std::move(*value);
      else
        erase_member(kept, key);
    }
    object = std::move(kept);
  }
  void validate_update(RequestContext& context, const Object& object, const Object& old, FieldErrors& errors) const override {
    std::vector<std::string> warnings;
    validate_custom_status(version_, object, old, {errors, warnings}, budget_of(context));
    warn(context, warnings);
  }

 private:
  std::shared_ptr<const CustomResource> resource_;
  const CustomVersion& version_;
};

}  // namespace

std::shared_ptr<const Strategy> make_custom_strategy(std::shared_ptr<const CustomResource> resource) {
  return std::make_shared<CustomStrategy>(std::move(resource));
}
std::shared_ptr<const Strategy> make_custom_status_strategy(std::shared_ptr<const CustomResource> resource) {
  return std::make_shared<CustomStatusStrategy>(std::move(resource));
}
std::shared_ptr<const Strategy> make_version_strategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version) {
  return std::make_shared<VersionStrategy>(std::move(resource), version);
}
std::shared_ptr<const Strategy> make_version_status_strategy(std::shared_ptr<const CustomResource> resource, const CustomVersion& version) {
  return std::make_shared<VersionStatusStrategy>(std::move(resource), version);
}

}  // namespace backplane::apiextensions
