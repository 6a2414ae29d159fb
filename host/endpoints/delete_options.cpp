#include "endpoints/delete_options.hpp"

#include "backplane/types/schema.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/body.hpp"

namespace backplane::endpoints {
namespace {

// The DeleteOptions that the client sent, before validation.
struct Given {
  DeleteOptions options;
  std::vector<std::string> dry_run;
  bool preconditions = false;  // the client sent preconditions, which may be empty
};

// Reports options that must not be combined with ignore_read_error.
void check_unsafe(const Given& given, FieldErrors& errors) {
  const DeleteOptions& options = given.options;
  const auto refuse = [&errors](bool set, std::string_view other) {
    if (set) errors.invalid_raw(std::string(kIgnoreReadError), "true", "cannot be set together with ." + std::string(other));
  };
  refuse(!given.dry_run.empty(), "dryRun");
  refuse(options.propagation_policy.has_value(), "propagationPolicy");
  refuse(options.orphan_dependents.has_value(), "orphanDependents");
  refuse(options.grace_period_seconds.has_value(), "gracePeriodSeconds");
  refuse(given.preconditions, "preconditions");
}

Result<DeleteOptions> validated(Given given, bool unsafe_deletes) {
  if (!unsafe_deletes) given.options.ignore_read_error = false;
  FieldErrors errors;
  const auto& policy = given.options.propagation_policy;
  if (policy && given.options.orphan_dependents) {
    errors.invalid("propagationPolicy", *policy, "orphanDependents and deletionPropagation cannot be both set");
  }
  if (policy && *policy != "Foreground" && *policy != "Background" && *policy != "Orphan") {
    errors.not_supported("propagationPolicy", *policy, {"Foreground", "Background", "Orphan", "nil"});
  }
  given.options.dry_run = check_dry_run(given.dry_run, errors);
  if (given.options.ignore_read_error) check_unsafe(given, errors);
  Status status = errors.to_status("meta.k8s.io", "DeleteOptions", "");
  if (!status.ok()) return status;
  return std::move(given.options);
}

const Schema& delete_options_schema() {
  static const Schema& schema = *meta_schemas()->find("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
  return schema;
}

std::optional<std::string> text_member(const Object& object, std::string_view key) {
  const Value* value = find(object, key);
  return value != nullptr && value->is_string() ? std::optional<std::string>(value->get_string()) : std::nullopt;
}

// Reads the members of a normalized tree.
Given read_members(const Object& object) {
  Given given;
  given.options.grace_period_seconds = get_int(object, "gracePeriodSeconds");
  if (const Object* preconditions = get_object(object, "preconditions")) {
    given.preconditions = true;
    given.options.preconditions.uid = text_member(*preconditions, "uid");
    given.options.preconditions.resource_version = text_member(*preconditions, "resourceVersion");
  }
  given.options.orphan_dependents = get_bool(object, "orphanDependents");
  given.options.propagation_policy = text_member(object, "propagationPolicy");
  given.options.ignore_read_error = get_bool(object, kIgnoreReadError).value_or(false);
  if (const Array* dry_run = get_array(object, "dryRun")) {
    for (const Value& value : *dry_run) given.dry_run.emplace_back(value.get_string());
  }
  return given;
}

}  // namespace

Result<DeleteOptions> delete_options_from_query(const Query& query, bool unsafe_deletes) {
  Given given;
  auto grace = query_int(query, "gracePeriodSeconds");
  if (!grace.ok()) return std::move(grace.status());
  given.options.grace_period_seconds = *grace;
  given.options.orphan_dependents = query_bool(query, "orphanDependents");
  if (query_has(query, "propagationPolicy")) given.options.propagation_policy = std::string(query_get(query, "propagationPolicy"));
  if (const auto uid = query_get(query, "uid"); !uid.empty()) given.options.preconditions.uid = std::string(uid);
  given.preconditions = given.options.preconditions.uid.has_value();
  given.options.ignore_read_error = query_bool(query, kIgnoreReadError).value_or(false);
  given.dry_run = query_all(query, "dryRun");
  return validated(std::move(given), unsafe_deletes);
}

namespace {
Result<Value> parse_delete_body(std::string_view body, BodyFormat format, json::storage_ptr storage) {
  if (format != BodyFormat::kProtobuf) return parse_body(body, format, std::move(storage), nullptr);
  auto envelope = open_protobuf_envelope(body);
  if (!envelope.ok()) return std::move(envelope.status());
  auto tree = delete_options_schema().decode_protobuf(envelope->raw, std::move(storage));
  if (!tree.ok()) return tree;
  if (!envelope->kind.empty()) tree->get_object()["kind"] = envelope->kind;
  if (!envelope->api_version.empty()) tree->get_object()["apiVersion"] = envelope->api_version;
  return tree;
}
}  // namespace

Result<DeleteOptions> delete_options_from_body(RequestContext& context, std::string_view body, BodyFormat format, bool unsafe_deletes) {
  auto tree = parse_delete_body(body, format, context.arena());
  if (!tree.ok()) return std::move(tree.status());
  // Any version is accepted, because each group once had its own DeleteOptions.
  auto kind = kind_in_body(*tree, {"meta.k8s.io", "v1", "DeleteOptions"});
  if (!kind.ok()) return std::move(kind.status());
  if (kind->kind != "DeleteOptions") return bad_request(not_registered_text(*kind));
  if (tree->is_null()) return validated(Given(), unsafe_deletes);
  Status status = delete_options_schema().normalize(*tree, nullptr);
  if (!status.ok()) return status;
  note_delete_options(context, tree->get_object());
  return validated(read_members(tree->get_object()), unsafe_deletes);
}

}  // namespace backplane::endpoints
