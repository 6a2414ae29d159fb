#include "endpoints/delete_options.hpp"

#include "endpoints/body.hpp"
#include "endpoints/go_text.hpp"

namespace backplane::endpoints {
namespace {

// DeleteOptions as they came, before validation.
struct Given {
  DeleteOptions options;
  std::vector<std::string> dry_run;
};

Result<DeleteOptions> validated(Given given) {
  FieldErrors errors;
  const auto& policy = given.options.propagation_policy;
  if (policy && given.options.orphan_dependents) {
    errors.invalid("propagationPolicy", *policy, "orphanDependents and deletionPropagation cannot be both set");
  }
  if (policy && *policy != "Foreground" && *policy != "Background" && *policy != "Orphan") {
    errors.not_supported("propagationPolicy", *policy, {"Foreground", "Background", "Orphan", "nil"});
  }
  given.options.dry_run = check_dry_run(given.dry_run, errors);
  Status status = errors.to_status("meta.k8s.io", "DeleteOptions", "");
  if (!status.ok()) return status;
  return std::move(given.options);
}

// Typed reads of members, with the message of the first that has another type.
class MemberReader {
 public:
  MemberReader(const Object& object, std::string_view type, std::string_view path) : object_(object), type_(type), path_(path) {}

  void read(std::string_view key, std::string_view go_type, std::optional<std::int64_t>& out) {
    const Value* value = present(key);
    if (value == nullptr) return;
    if (value->is_int64()) {
      out = value->get_int64();
    } else {
      fail(*value, key, go_type);
    }
  }
  void read(std::string_view key, std::string_view go_type, std::optional<bool>& out) {
    const Value* value = present(key);
    if (value == nullptr) return;
    if (value->is_bool()) {
      out = value->get_bool();
    } else {
      fail(*value, key, go_type);
    }
  }
  void read(std::string_view key, std::string_view go_type, std::optional<std::string>& out) {
    const Value* value = present(key);
    if (value == nullptr) return;
    if (value->is_string()) {
      out = std::string(value->get_string());
    } else {
      fail(*value, key, go_type);
    }
  }
  void read(std::string_view key, std::string_view go_type, std::vector<std::string>& out) {
    const Value* value = present(key);
    if (value == nullptr) return;
    if (!value->is_array()) return fail(*value, key, go_type);
    for (const Value& item : value->get_array()) {
      if (!item.is_string()) return fail(item, key, "string");
      out.emplace_back(item.get_string());
    }
  }
  // The member as an object; null when absent or of another type.
  const Object* object(std::string_view key, std::string_view go_type) {
    const Value* value = present(key);
    if (value == nullptr) return nullptr;
    if (value->is_object()) return &value->get_object();
    fail(*value, key, go_type);
    return nullptr;
  }

  const std::string& problem() const noexcept { return problem_; }

 private:
  const Value* present(std::string_view key) const noexcept {
    const Value* value = find(object_, key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void fail(const Value& value, std::string_view key, std::string_view go_type) {
    if (!problem_.empty()) return;
    const std::string field = std::string(type_).append(".").append(path_).append(key);
    problem_ = unmarshal_field_error(value, field, go_type);
  }

  const Object& object_;
  std::string_view type_;
  std::string_view path_;
  std::string problem_;
};

Result<Given> read_members(const Object& object) {
  Given given;
  MemberReader reader(object, "DeleteOptions", "");
  reader.read("gracePeriodSeconds", "int64", given.options.grace_period_seconds);
  const Object* preconditions = reader.object("preconditions", "v1.Preconditions");
  if (preconditions != nullptr && reader.problem().empty()) {
    MemberReader inner(*preconditions, "Preconditions", "preconditions.");
    inner.read("uid", "types.UID", given.options.preconditions.uid);
    inner.read("resourceVersion", "string", given.options.preconditions.resource_version);
    if (!inner.problem().empty()) return bad_request(inner.problem());
  }
  reader.read("orphanDependents", "bool", given.options.orphan_dependents);
  reader.read("propagationPolicy", "v1.DeletionPropagation", given.options.propagation_policy);
  reader.read("dryRun", "[]string", given.dry_run);
  if (!reader.problem().empty()) return bad_request(reader.problem());
  return given;
}

}  // namespace

Result<DeleteOptions> delete_options_from_query(const Query& query) {
  Given given;
  auto grace = query_int(query, "gracePeriodSeconds");
  if (!grace.ok()) return std::move(grace.status());
  given.options.grace_period_seconds = *grace;
  given.options.orphan_dependents = query_bool(query, "orphanDependents");
  if (query_has(query, "propagationPolicy")) given.options.propagation_policy = std::string(query_get(query, "propagationPolicy"));
  if (const auto uid = query_get(query, "uid"); !uid.empty()) given.options.preconditions.uid = std::string(uid);
  given.dry_run = query_all(query, "dryRun");
  return validated(std::move(given));
}

Result<DeleteOptions> delete_options_from_body(std::string_view body, BodyFormat format, json::storage_ptr storage) {
  auto tree = parse_body(body, format, std::move(storage), nullptr);
  if (!tree.ok()) return std::move(tree.status());
  // Every group used to have a DeleteOptions of its own: the version is not looked at.
  auto kind = kind_in_body(*tree, {"", "v1", "DeleteOptions"});
  if (!kind.ok()) return std::move(kind.status());
  if (kind->kind != "DeleteOptions") return bad_request(not_registered_text(*kind));
  if (tree->is_null()) return validated(Given());
  auto given = read_members(tree->get_object());
  if (!given.ok()) return std::move(given.status());
  return validated(std::move(*given));
}

}  // namespace backplane::endpoints
