#include "endpoints/body.hpp"

#include <algorithm>
#include <charconv>

#include "endpoints/custom_kind.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/go_text.hpp"
#include "endpoints/known_kinds.hpp"
#include "endpoints/replacement.hpp"
#include "engine/cbor.hpp"
#include "engine/raw_json.hpp"
#include "registry/fields/cut_managers.hpp"

namespace backplane::endpoints {
namespace {

// The Go type into which upstream decodes kind and apiVersion, as Go prints it.
constexpr std::string_view kFindKind =
    R"(struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" })";
constexpr std::string_view kInterpretPrefix = "couldn't get version/kind; json parse error: ";

// Returns the kinds that the server has; null if the scope has no scheme.
std::shared_ptr<const Scheme> scheme_of(const Resource& resource) {
  return resource.scope.scheme != nullptr ? resource.scope.scheme->get() : nullptr;
}

Status interpret_error(std::string_view why) { return bad_request(std::string(kInterpretPrefix).append(why)); }

// The error of upstream's transformDecodeError for a body of unknown kind.
Status unrecognized(const Resource& resource, std::string_view why, std::string_view body) {
  std::string message = "the object provided is unrecognized (must be of type ";
  message.append(resource.scope.kind.kind).append("): ").append(why).append(" (").append(body_summary(body)).append(")");
  return bad_request(std::move(message));
}

// The error of upstream's transformDecodeError for a body of known kind.
Status cannot_handle(const Resource& resource, const GroupVersionKind& gvk, std::string_view why) {
  std::string message = gvk.kind + " in version " + quoted(gvk.version) + " cannot be handled as a " + resource.scope.kind.kind + ": ";
  return bad_request(message.append(why));
}

// Like upstream's schema.ParseGroupVersion.
Result<GroupVersion> parse_group_version(std::string_view text) {
  if (text.empty() || text == "/") return GroupVersion();
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return GroupVersion{"", std::string(text)};
  if (text.find('/', slash + 1) != std::string_view::npos) return bad_request("unexpected GroupVersion string: " + std::string(text));
  return GroupVersion{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

Status another_version(const Resource& resource, const std::string& given) {
  return bad_request("the API version in the data (" + given + ") does not match the expected API version (" + resource.api_version + ")");
}

Status check_version(const Resource& resource, const GroupVersionKind& gvk) {
  const std::string given = gvk.group_version().to_string();
  if (given == resource.api_version || accepts_version(gvk, resource.scope.kind)) return {};
  return another_version(resource, given);
}

// Checks that the body of a custom resource has a kind and a valid apiVersion.
Status check_custom_type(const Resource& resource, const Value& tree, const GroupVersionKind& gvk, std::string_view body, bool strict) {
  const Object* object = tree.is_object() ? &tree.get_object() : nullptr;
  if (object == nullptr || get_string(*object, "kind").empty()) {
    const std::string why = missing_kind_text(body);
    return strict ? unrecognized(resource, why, body) : cannot_handle(resource, gvk, why);
  }
  const std::string_view why = type_accessor_problem(*object);
  return why.empty() ? Status() : cannot_handle(resource, declared_kind(tree), why);
}

// Checks that kind and apiVersion are those of the custom resource. Called after the whole body has been decoded. `status_alone`: the
// request is for the status subresource, so only the version is checked.
Status check_custom_kind(const Resource& resource, const GroupVersionKind& declared, const Object& object, bool status_alone) {
  const std::string given = declared.group_version().to_string();
  if (given != resource.api_version) return another_version(resource, given);
  return status_alone ? Status() : check_declared_kind(declared, resource.scope.kind, object);
}

// If the body has another known kind, it is first decoded as that kind, so that decoding errors have precedence over the error about the
// kind.
Status refuse_foreign(const Resource& resource, Value& tree, const GroupVersionKind& gvk) {
  const std::string why = foreign_kind_text(resource, gvk);
  if (why.empty()) return {};
  const auto scheme = scheme_of(resource);
  const Schema* schema = scheme != nullptr ? type_of_known(*scheme, gvk) : nullptr;
  if (schema != nullptr) {
    Status normal = schema->normalize(tree, nullptr);
    if (!normal.ok()) return cannot_handle(resource, gvk, normal.message());
  }
  return cannot_handle(resource, gvk, why);
}

Status check_kind(const Resource& resource, Value& tree, const GroupVersionKind& gvk) {
  Status status = refuse_foreign(resource, tree, gvk);
  if (!status.ok()) return status;
  return check_version(resource, gvk);
}

Status normalize(const Resource& resource, Value& tree, DecodeReport* report) {
  return resource.schema != nullptr ? resource.schema->normalize(tree, report) : Status();
}

// Returns true for yaml.v3's errors about a repeated key, which name the line. strict_error_text() puts one heading above consecutive
// lines.
bool is_yaml_line(std::string_view problem) noexcept { return problem.starts_with("line "); }

}  // namespace

Task<Result<std::string>> read_request_body(const Resource& resource, Exchange& exchange, BodyVerb verb) {
  const std::size_t max_bytes = resource.scope.max_body_bytes;
  auto body = co_await exchange.read_body(max_bytes);
  if (!body.ok() && body.status().reason() == Reason::kRequestEntityTooLarge) {
    co_return entity_too_large("limit is " + std::to_string(max_bytes));
  }
  if (body.ok()) resource.body_sizes->count(resource.scope.resource, verb, body->size());
  co_return std::move(body);
}

namespace {

// Returns the name of a value's type as Go's CBOR decoder prints it.
std::string_view cbor_kind(const Value& value) noexcept {
  if (value.is_array()) return "array";
  if (value.is_object()) return "map";
  if (value.is_string()) return "UTF-8 text string";
  if (!value.is_int64()) return "primitives";
  return value.get_int64() < 0 ? "negative integer" : "positive integer";
}

// Returns the CBOR decoder's error if the body is not a map, or if kind or apiVersion is not a text. The result is empty if there is no
// error.
std::string cbor_type_meta_problem(const Value& tree) {
  if (tree.is_null()) return {};
  const std::string head = "cbor: cannot unmarshal ";
  if (tree.is_array()) {
    return head + "array into Go value of type v1.TypeMeta (cannot decode CBOR array to struct without toarray option)";
  }
  if (!tree.is_object()) return head + std::string(cbor_kind(tree)) + " into Go value of type v1.TypeMeta";
  for (const auto& member : tree.get_object()) {
    const std::string_view key(member.key().data(), member.key().size());
    if ((key != "apiVersion" && key != "kind") || member.value().is_string() || member.value().is_null()) continue;
    return head + std::string(cbor_kind(member.value())) + " into Go struct field v1.TypeMeta." + std::string(key) + " of type string";
  }
  return {};
}

Result<Value> parse_cbor_body(std::string_view body, json::storage_ptr storage) {
  constexpr std::string_view kPrefix = "unable to determine group/version/kind: ";
  auto tree = parse_cbor(body, std::move(storage));
  const std::string problem = tree.ok() ? cbor_type_meta_problem(*tree) : tree.status().message();
  if (!problem.empty()) return bad_request(std::string(kPrefix).append(problem));
  return tree;
}

// Returns the object that contains the last member of `path` ("spec.containers[0].foo"), and the name of that member.
std::pair<const Object*, std::string_view> holder_of(const Value& tree, std::string_view path) {
  const Value* at = &tree;
  for (;;) {
    const auto end = path.find_first_of(".[");
    if (end == std::string_view::npos || !at->is_object()) return {at->if_object(), path};
    at = find(at->get_object(), path.substr(0, end));
    path.remove_prefix(end);
    while (at != nullptr && at->is_array() && path.starts_with('[')) {
      std::size_t index = 0;
      std::from_chars(path.data() + 1, path.data() + path.size(), index);
      at = index < at->get_array().size() ? &at->get_array()[index] : nullptr;
      path.remove_prefix(std::min(path.find(']'), path.size() - 1) + 1);
    }
    if (path.starts_with('.')) path.remove_prefix(1);
    if (at == nullptr) return {nullptr, path};
  }
}

// Replaces the problems by the error of upstream's CBOR decoder. That decoder stops at the first unknown field, and reports the field's
// index in its map.
void word_as_cbor(std::vector<std::string>& problems, std::string_view body) {
  constexpr std::string_view kUnknown = "unknown field \"";
  if (problems.empty() || !problems.front().starts_with(kUnknown)) return;
  std::string_view path = std::string_view(problems.front()).substr(kUnknown.size());
  path.remove_suffix(1);
  const auto sent = parse_cbor(body, {});
  if (!sent.ok()) return;
  const auto [holder, name] = holder_of(*sent, path);
  std::size_t index = 0;
  for (auto member = holder == nullptr ? nullptr : holder->begin(); member != nullptr && member != holder->end(); ++member, ++index) {
    if (std::string_view(member->key().data(), member->key().size()) == name) break;
  }
  problems = {"cbor: found unknown field at map element index " + std::to_string(index)};
}

}  // namespace

Status check_type_meta(const Value& tree) {
  if (tree.is_null()) return {};
  if (!tree.is_object()) return interpret_error(unmarshal_error(tree, kFindKind));
  for (const std::string_view key : {"apiVersion", "kind"}) {
    const Value* value = find(tree.get_object(), key);
    if (value == nullptr || value->is_string() || value->is_null()) continue;
    return interpret_error(unmarshal_field_error(*value, std::string(".").append(key), "string"));
  }
  return {};
}

void sort_members(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) sort_members(item);
  }
  if (!value.is_object()) return;
  Object& object = value.get_object();
  std::vector<std::pair<std::string, Value>> members;
  members.reserve(object.size());
  for (auto& member : object) {
    sort_members(member.value());
    members.emplace_back(member.key(), std::move(member.value()));
  }
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  object.clear();
  for (auto& [key, member] : members) object.emplace(key, std::move(member));
}

Result<Value> parse_body(std::string_view body, BodyFormat format, json::storage_ptr storage, DecodeReport* report) {
  if (format == BodyFormat::kCbor) return parse_cbor_body(body, std::move(storage));
  auto tree = format == BodyFormat::kYaml ? parse_yaml(body, std::move(storage), report) : parse_json(body, std::move(storage), report);
  if (!tree.ok()) return format == BodyFormat::kYaml ? bad_request(tree.status().message()) : interpret_error(tree.status().message());
  Status status = check_type_meta(*tree);
  if (!status.ok()) return status;
  if (format == BodyFormat::kYaml) sort_members(*tree);
  return tree;
}

Result<GroupVersionKind> kind_in_body(const Value& tree, const GroupVersionKind& fallback) {
  if (!tree.is_object()) return fallback;
  const Object& object = tree.get_object();
  auto version = parse_group_version(get_string(object, "apiVersion"));
  if (!version.ok()) return std::move(version.status());
  GroupVersionKind gvk{version->group, version->version, std::string(get_string(object, "kind"))};
  if (gvk.kind.empty()) gvk.kind = fallback.kind;
  if (gvk.version.empty() && gvk.group.empty()) gvk.group = fallback.group;
  if (gvk.version.empty() && gvk.group == fallback.group) gvk.version = fallback.version;
  return gvk;
}

std::string not_registered_text(const GroupVersionKind& gvk) {
  // The source location is part of upstream's message, and clients compare messages.
  return "no kind " + quoted(gvk.kind) + " is registered for version " + quoted(gvk.group_version().to_string()) +
         " in scheme \"pkg/runtime/scheme.go:111\"";
}

namespace {

// In upstream, each server of the chain has a Scheme. A server whose group is in this list has only this group in its Scheme, and the other
// servers do not have the group.
constexpr std::string_view kGroupsWithSchemes[] = {"apiextensions.k8s.io", "apiregistration.k8s.io"};

std::string_view scheme_name(std::string_view group) {
  const auto found = std::find(std::begin(kGroupsWithSchemes), std::end(kGroupsWithSchemes), group);
  return found == std::end(kGroupsWithSchemes) ? std::string_view() : *found;
}

// All Schemes have the kinds of apimachinery.
bool in_scheme_of(const GroupVersionKind& wanted, const GroupVersionKind& gvk) {
  return scheme_name(gvk.group) == scheme_name(wanted.group) || (gvk.group.empty() && meta_schemas()->find(gvk) != nullptr);
}

}  // namespace

std::string foreign_kind_text(const Resource& resource, const GroupVersionKind& gvk) {
  const GroupVersionKind& wanted = resource.scope.kind;
  if (gvk == wanted) return {};
  const auto scheme = scheme_of(resource);
  if (scheme == nullptr || !is_known_kind(*scheme, gvk) || !in_scheme_of(wanted, gvk)) return not_registered_text(gvk);
  // If only the version differs, check_version() reports the error.
  if (gvk.kind == wanted.kind) return {};
  return "converting (" + known_go_type(gvk) + ") to (" + Resource::internal_package(wanted.group) + "." + wanted.kind +
         "): unknown conversion";
}

void set_type_meta(const Resource& resource, Object& object) {
  object["kind"] = resource.scope.kind.kind;
  object["apiVersion"] = resource.api_version;
}

void keep_managed_reset(const Resource& resource, Object& object) {
  Value* metadata = find(object, "metadata");
  Value* managed = metadata != nullptr && metadata->is_object() ? find(metadata->get_object(), "managedFields") : nullptr;
  if (managed == nullptr || !managed->is_array() || !managed->get_array().empty()) return;
  if (resource.custom)
    erase_member(metadata->get_object(), "managedFields");
  else
    managed->get_array().emplace_back(json::object_kind);
}

void warn_problems(RequestContext& context, const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) context.warn(problem);
}

std::string strict_error_text(const std::vector<std::string>& problems) {
  std::string out = "strict decoding error: ";
  bool in_yaml = false;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const bool yaml = is_yaml_line(problems[i]);
    if (yaml && in_yaml) {
      out.append("\n  ");
    } else {
      if (i > 0) out.append(", ");
      if (yaml) out.append("yaml: unmarshal errors:\n  ");
    }
    out.append(problems[i]);
    in_yaml = yaml;
  }
  return out;
}

Result<Value> parse_protobuf_body(std::string_view body, const Schema* schema, const GroupVersionKind& kind, json::storage_ptr storage) {
  auto envelope = open_protobuf_envelope(body);
  if (!envelope.ok()) return std::move(envelope.status());
  Value tree = Object(storage);
  const std::string wanted = kind.group_version().to_string();
  const bool same =
      (envelope->kind.empty() || envelope->kind == kind.kind) && (envelope->api_version.empty() || envelope->api_version == wanted);
  if (schema != nullptr && same) {
    auto decoded = schema->decode_protobuf(envelope->raw, storage);
    if (!decoded.ok()) return decoded;
    tree = std::move(*decoded);
  }
  // A body of another kind is refused because of its kind, so its content is not decoded.
  if (!envelope->kind.empty()) tree.get_object()["kind"] = envelope->kind;
  if (!envelope->api_version.empty()) tree.get_object()["apiVersion"] = envelope->api_version;
  return tree;
}

namespace {

// Removes the problems about a body of another kind, except those about fields of metadata: the body is not validated against the schema of
// the custom resource.
void forget_members(std::vector<std::string>& problems, std::size_t from) {
  const auto forgotten = [](const std::string& problem) { return !problem.starts_with("unknown field \"metadata."); };
  problems.erase(std::remove_if(problems.begin() + static_cast<std::ptrdiff_t>(from), problems.end(), forgotten), problems.end());
}

// How managedFields are decoded: as trees, or as raw text.
enum class ManagersIn : unsigned char { kTrees, kText };

Result<Object> decode(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                      FieldValidation validation, ManagersIn managers) {
  const bool protobuf = format == BodyFormat::kProtobuf;
  if (protobuf && resource.custom) return unsupported_media_type("application/json, application/yaml");
  DecodeReport report;
  report.merge_duplicates = !resource.custom;
  DecodeReport* const wanted = validation == FieldValidation::kIgnore ? nullptr : &report;
  const auto read = [&]() -> Result<Value> {
    if (protobuf) return parse_protobuf_body(body, resource.schema, resource.scope.kind, context.arena());
    if (managers == ManagersIn::kText && format == BodyFormat::kJson) {
      auto tree = registry::parse_sent(body, context.arena());
      if (tree && check_type_meta(*tree).ok()) return Result<Value>(std::move(*tree));
    }
    return parse_body(body, format, context.arena(), &report);
  };
  auto tree = read();
  if (!tree.ok()) return unrecognized(resource, tree.status().message(), body);
  auto gvk = kind_in_body(*tree, resource.scope.kind);
  if (!gvk.ok()) return unrecognized(resource, gvk.status().message(), body);
  if (tree->is_null() && !resource.custom) *tree = Object(context.arena());
  if (tree->is_object()) keep_managed_reset(resource, tree->get_object());
  Status status = resource.custom ? check_custom_type(resource, *tree, *gvk, body, wanted != nullptr) : check_kind(resource, *tree, *gvk);
  if (!status.ok()) return status;
  const GroupVersionKind declared = resource.custom ? declared_kind(*tree) : *gvk;
  if (format == BodyFormat::kJson) keep_raw(resource.schema, *tree, body);
  set_type_meta(resource, tree->get_object());
  const std::size_t reported = report.problems.size();
  status = normalize(resource, *tree, wanted);
  if (resource.custom && (declared.group != resource.scope.kind.group || declared.kind != resource.scope.kind.kind))
    forget_members(report.problems, reported);
  if (!status.ok()) return cannot_handle(resource, declared, status.message());
  if (format == BodyFormat::kCbor && !resource.custom) word_as_cbor(report.problems, body);
  if (wanted != nullptr && !report.problems.empty()) {
    if (validation == FieldValidation::kStrict) return cannot_handle(resource, declared, strict_error_text(report.problems));
    warn_problems(context, report.problems);
  }
  if (resource.custom) {
    status = check_custom_kind(resource, declared, tree->get_object(), context.info.subresource == "status");
    if (!status.ok()) return status;
  }
  if (resource.schema != nullptr) resource.schema->apply_defaults(*tree);
  return std::move(tree->get_object());
}

}  // namespace

Result<Object> decode_object(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                             FieldValidation validation) {
  return decode(resource, context, body, format, validation, ManagersIn::kTrees);
}

Result<Object> decode_replacement(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                                  FieldValidation validation) {
  auto object = decode(resource, context, body, format, validation, ManagersIn::kText);
  // Because managedFields were not parsed, they may contain an error that precedes the returned error.
  if (object.ok() || body.find("\"managedFields\"") == std::string_view::npos) return object;
  return decode_object(resource, context, body, format, validation);
}

Status match_namespace(std::string_view request_namespace, Object& object) {
  const std::string_view given = meta_namespace(object);
  if (given == request_namespace) return {};
  if (given.empty() || request_namespace.empty()) {
    ObjectMeta(object).set("namespace", request_namespace);
    return {};
  }
  return bad_request("the namespace of the provided object does not match the namespace sent on the request");
}

Status match_name(std::string_view name, const Object& object) {
  const std::string_view given = meta_name(object);
  if (given.empty()) {
    return bad_request("the name of the object (" + std::string(name) + " based on URL) was undeterminable: name must be provided");
  }
  if (given != name) {
    return bad_request("the name of the object (" + std::string(given) + ") does not match the name on the URL (" + std::string(name) +
                       ")");
  }
  return {};
}

}  // namespace backplane::endpoints
