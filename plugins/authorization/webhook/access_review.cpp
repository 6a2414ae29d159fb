#include "webhook/access_review.hpp"

#include <algorithm>
#include <map>

#include "backplane/core/json_access.hpp"

namespace backplane::authorization {
namespace {

constexpr std::string_view kReviewGroup = "authorization.k8s.io";
constexpr const char* kReviewKind = "SubjectAccessReview";
constexpr std::size_t kMostControlledBytes = 10'000;

void put_text(Object& object, std::string_view key, std::string_view value) {
  if (!value.empty()) object[key] = value;
}

Array array_of(const std::vector<std::string>& from) { return Array(from.begin(), from.end()); }

std::string_view operator_name(LabelSelector::Op op) {
  switch (op) {
    case LabelSelector::Op::kEquals:
    case LabelSelector::Op::kIn:
      return "In";
    case LabelSelector::Op::kNotEquals:
    case LabelSelector::Op::kNotIn:
      return "NotIn";
    case LabelSelector::Op::kExists:
      return "Exists";
    case LabelSelector::Op::kNotExists:
      return "DoesNotExist";
    default:
      return {};  // a comparison, which reviews cannot express; without it the webhook decides about more objects
  }
}

// A selector that cannot be parsed results in no requirements, so the webhook decides about more objects.
Array field_requirements(const RequestView& request) {
  Array out;
  const auto selector = request.field_selector();
  if (!selector.ok()) return out;
  for (const auto& requirement : selector->requirements()) {
    Object& item = out.emplace_back(Object()).get_object();
    item["key"] = requirement.field;
    item["operator"] = requirement.equals ? "In" : "NotIn";
    item["values"] = Array{json::string(requirement.value)};
  }
  return out;
}

Array label_requirements(const RequestView& request) {
  Array out;
  const auto selector = request.label_selector();
  if (!selector.ok()) return out;
  for (const auto& requirement : selector->requirements()) {
    const std::string_view name = operator_name(requirement.op);
    if (name.empty()) continue;
    Object& item = out.emplace_back(Object()).get_object();
    item["key"] = requirement.key;
    item["operator"] = name;
    if (!requirement.values.empty()) item["values"] = array_of(requirement.values);
  }
  return out;
}

void put_selectors(const RequestView& request, Object& resource) {
  if (!request.has_selectors()) return;
  if (Array fields = field_requirements(request); !fields.empty()) resource["fieldSelector"] = Object{{"requirements", std::move(fields)}};
  if (Array labels = label_requirements(request); !labels.empty()) resource["labelSelector"] = Object{{"requirements", std::move(labels)}};
}

struct ResourceMember {
  const char* name;
  std::string_view RequestView::*value;
};
constexpr ResourceMember kResourceMembers[] = {{"namespace", &RequestView::ns},      {"verb", &RequestView::verb},
                                               {"group", &RequestView::api_group},   {"version", &RequestView::api_version},
                                               {"resource", &RequestView::resource}, {"subresource", &RequestView::subresource},
                                               {"name", &RequestView::name}};

// Copies the extra values with the keys sorted, as Go prints maps.
Object extra_of(const UserInfo& user) {
  std::map<std::string_view, const std::vector<std::string>*> sorted;
  for (const auto& [key, values] : user.extra) sorted[key] = &values;
  Object out;
  for (const auto& [key, values] : sorted) out[key] = array_of(*values);
  return out;
}

}  // namespace

Object review_spec(const RequestView& request, std::string_view version) {
  Object spec;
  if (request.resource_request) {
    Object& resource = spec["resourceAttributes"].emplace_object();
    for (const ResourceMember& member : kResourceMembers) put_text(resource, member.name, request.*member.value);
    put_selectors(request, resource);
  } else {
    Object& other = spec["nonResourceAttributes"].emplace_object();
    put_text(other, "path", request.path);
    put_text(other, "verb", request.verb);
  }
  put_text(spec, "user", request.user.name);
  if (!request.user.groups.empty()) spec[version == "v1beta1" ? "group" : "groups"] = array_of(request.user.groups);
  if (!request.user.extra.empty()) spec["extra"] = extra_of(request.user);
  put_text(spec, "uid", request.user.uid);
  return spec;
}

std::string review_body(const Object& spec, std::string_view version) {
  std::string out = R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/)";
  out.append(version).append(R"(","metadata":{},"spec":)");
  append_json(out, spec);
  return out.append(R"(,"status":{"allowed":false}})").append("\n");
}

Value condition_request(const RequestView& request, bool selectors) {
  Object out;
  out["user"] = request.user.name;
  out["groups"] = array_of(request.user.groups);
  out["uid"] = request.user.uid;
  out["extra"] = extra_of(request.user);
  if (request.resource_request) {
    Object& resource = out["resourceAttributes"].emplace_object();
    for (const ResourceMember& member : kResourceMembers) resource[member.name] = request.*member.value;
    if (selectors) put_selectors(request, resource);
  } else {
    out["nonResourceAttributes"] = Object{{"verb", json::string(request.verb)}, {"path", json::string(request.path)}};
  }
  return out;
}

bool is_cacheable(const RequestView& request) noexcept {
  std::size_t size = request.path.size();
  for (const ResourceMember& member : kResourceMembers) size += (request.*member.value).size();
  return size < kMostControlledBytes;
}

AccessReviewDecoder::AccessReviewDecoder(std::shared_ptr<const SchemaSet> schemas, std::string version)
    : schemas_(std::move(schemas)),
      schema_(schemas_->find(GroupVersionKind{std::string(kReviewGroup), "v1", kReviewKind})),
      version_(std::move(version)) {}

// The versions differ only in the spec, which is not read.
Result<Object> AccessReviewDecoder::decode(std::string_view body) const {
  if (body.empty()) return bad_request("0-length response with status code: 200 and content type: ");
  auto parsed = parse_json(body, json::storage_ptr(), nullptr);
  if (!parsed.ok()) return bad_request("couldn't get version/kind; json parse error: " + parsed.status().message());
  if (!parsed->is_object()) return bad_request("couldn't get version/kind; json parse error: the response is not an object");
  const Object& review = parsed->get_object();
  const std::string_view kind = get_string(review, "kind");
  const std::string_view api_version = get_string(review, "apiVersion");
  const std::string wanted = std::string(kReviewGroup) + "/" + version_;
  if (kind == "Status" && get_string(review, "status") == "Failure") return bad_request(std::string(get_string(review, "message")));
  if ((!kind.empty() && kind != kReviewKind) || (!api_version.empty() && api_version != wanted)) {
    return bad_request("expected a " + std::string(kReviewKind) + " of version " + wanted + ", got kind " + backplane::quoted(kind) +
                       " of version " + backplane::quoted(api_version));
  }
  Object plain{{"kind", kReviewKind}, {"apiVersion", "authorization.k8s.io/v1"}};
  if (const Value* status = find(review, "status")) plain["status"] = *status;
  Value tree = std::move(plain);
  if (Status status = schema_->normalize(tree, nullptr); !status.ok()) return status;
  return object_or_empty(tree.get_object(), "status");
}

ReviewStatus review_status(const Object& status) {
  return {get_bool(status, "allowed").value_or(false), get_bool(status, "denied").value_or(false),
          std::string(get_string(status, "reason"))};
}

}  // namespace backplane::authorization
