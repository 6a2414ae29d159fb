#include "endpoints/applied_patch.hpp"

#include "endpoints/applied_json.hpp"
#include "endpoints/creation.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/go_text.hpp"
#include "engine/cbor.hpp"

namespace backplane::endpoints {
namespace {

constexpr std::string_view kGoMap = "map[string]interface {}";
constexpr std::string_view kDecoding = "error decoding YAML: ";
constexpr std::string_view kConverting = "error converting YAML to JSON: ";

std::string joined(const std::vector<std::string>& problems) {
  std::string out = std::string(kConverting) + "yaml: unmarshal errors:";
  for (const std::string& problem : problems) out += "\n  " + problem;
  return out;
}

Result<Value> read_yaml(std::string_view text, const json::storage_ptr& storage, DecodeReport& report) {
  if (auto json = read_json_of_yaml(text, storage)) return std::move(*json);
  return parse_yaml(text, storage, &report);
}

}  // namespace

Status AppliedPatch::parse(RequestContext& context) {
  if (configuration_) return {};
  DecodeReport report;
  report.merge_duplicates = false;
  const bool cbor = format_ == BodyFormat::kCbor;
  auto tree = cbor ? parse_cbor(text_, context.arena()) : read_yaml(text_, context.arena(), report);
  if (!tree.ok()) return bad_request(std::string(kDecoding).append(cbor ? "" : kConverting).append(tree.status().message()));
  problems_ = std::move(report.problems);
  if (tree->is_null()) *tree = Object(context.arena());
  if (!tree->is_object()) {
    return bad_request(std::string(kDecoding) + "error unmarshaling JSON: while decoding JSON: " + unmarshal_error(*tree, kGoMap));
  }
  configuration_.emplace(std::move(tree->get_object()));
  return {};
}

Result<const Object*> AppliedPatch::configuration(RequestContext& context) {
  Status parsed = parse(context);
  if (!parsed.ok()) return parsed;
  return &*configuration_;
}

Status AppliedPatch::check_problems(RequestContext& context) const {
  if (problems_.empty() || validation_ == FieldValidation::kIgnore) return {};
  if (validation_ == FieldValidation::kStrict) return bad_request("error strict decoding YAML: " + joined(problems_));
  for (const std::string& problem : problems_) context.warn(problem);
  return {};
}

Status AppliedPatch::accept(RequestContext& context, Object& object, const Object* existing) {
  Status status = check_problems(context);
  if (!status.ok()) return status;
  const std::string_view uid = meta_text(object, "uid");
  if (existing == nullptr && !uid.empty()) {
    return conflict(resource_.scope.resource.group, resource_.scope.resource.resource, context.info.name,
                    "uid mismatch: the provided object specified uid " + std::string(uid) + ", and no existing object was found");
  }
  status = match_namespace(resource_.namespace_of(context), object);
  return status.ok() ? match_name(context.info.name, object) : status;
}

Task<Status> AppliedPatch::may_create(RequestContext& context) {
  if (!may_create_) {
    auto asking = endpoints::may_create(resource_, context);
    may_create_ = co_await std::move(asking);
  }
  co_return *may_create_;
}

}  // namespace backplane::endpoints
