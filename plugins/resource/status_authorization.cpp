#include "status_authorization.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admin_access.hpp"
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/types/names.hpp"

namespace backplane::resource {
namespace {

using namespace kit;

const Object& status_of(const Object& claim) { return object_or_empty(claim, "status"); }
const Object& allocation_of(const Object& claim) { return object_or_empty(status_of(claim), "allocation"); }

// Returns the index of the first result with administrative access.
std::optional<std::size_t> privileged_result(const Object& claim) {
  std::optional<std::size_t> out;
  each(object_or_empty(allocation_of(claim), "devices"), "results", [&](const Object& result, std::size_t i) {
    if (!out && get_bool(result, "adminAccess").value_or(false)) out = i;
  });
  return out;
}

// Returns the drivers of the devices whose status a change has added, removed or edited.
std::set<std::string> changed_drivers(const Object& now, const Object& old) {
  using Key = std::array<std::string_view, 4>;
  const auto key = [](const Object& device) {
    return Key{get_string(device, "driver"), get_string(device, "pool"), get_string(device, "device"), get_string(device, "shareID")};
  };
  std::map<Key, const Object*> before;
  each(status_of(old), "devices", [&](const Object& device, std::size_t) { before[key(device)] = &device; });
  std::set<std::string> out;
  each(status_of(now), "devices", [&](const Object& device, std::size_t) {
    const auto found = before.find(key(device));
    if (found == before.end() || *found->second != device) out.emplace(get_string(device, "driver"));
    if (found != before.end()) before.erase(found);
  });
  for (const auto& [removed, device] : before) out.emplace(removed[0]);
  return out;
}

// Returns the only node that an allocation names; empty if it names no node, or several nodes.
std::string_view allocated_node(const Object& allocation) {
  const Array* terms = get_array(object_or_empty(allocation, "nodeSelector"), "nodeSelectorTerms");
  if (terms == nullptr || terms->size() != 1 || !terms->front().is_object()) return {};
  const Object& term = terms->front().get_object();
  const Array* fields = get_array(term, "matchFields");
  if (count_of(term, "matchExpressions") != 0 || fields == nullptr || fields->size() != 1 || !fields->front().is_object()) return {};
  const Object& field = fields->front().get_object();
  const Array* values = get_array(field, "values");
  const bool named = get_string(field, "key") == "metadata.name" && get_string(field, "operator") == "In";
  return named && values != nullptr && values->size() == 1 ? text_of(values->front()) : std::string_view();
}

// Returns true if the user is a service account whose token is bound to the node.
bool is_on_node(const UserInfo& user, std::string_view node) {
  if (node.empty() || !user.name.starts_with("system:serviceaccount:")) return false;
  for (const auto& [key, values] : user.extra) {
    if (key == "authentication.kubernetes.io/node-name") return values.size() == 1 && values.front() == node;
  }
  return false;
}

class StatusAuthorization final : public AdmissionPlugin {
 public:
  StatusAuthorization(Host& host, bool granular, bool device_status) : host_(host), granular_(granular), device_status_(device_status) {}
  std::string_view name() const noexcept override { return "ResourceClaimStatusAuthorization"; }
  bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kUpdate; }

  Task<Status> validate(const AdmissionAttributes& attributes) const override {
    const bool asked = attributes.kind.group == "resource.k8s.io" && attributes.kind.kind == "ResourceClaim" &&
                       attributes.subresource == "status" && attributes.object != nullptr && attributes.old_object != nullptr &&
                       attributes.context != nullptr;
    if (!asked) co_return Status();
    FieldErrors errors;
    co_await check_privileges(attributes, errors);
    if (granular_) {
      co_await check_binding(attributes, errors);
      if (device_status_ && has(status_of(*attributes.object), "allocation")) co_await check_devices(attributes, errors);
    }
    if (errors.empty()) co_return Status();
    co_return errors.to_status(attributes.kind.group, attributes.kind.kind, meta_name(*attributes.object));
  }

 private:
  Task<void> check_privileges(const AdmissionAttributes& attributes, FieldErrors& errors) const {
    const auto result = privileged_result(*attributes.object);
    if (!result || privileged_result(*attributes.old_object)) co_return;
    const std::string path = "status.allocation.devices.results[" + std::to_string(*result) + "].adminAccess";
    co_await check_admin_namespace(host_, *attributes.context, std::string(meta_namespace(*attributes.object)), path, errors);
  }

  Task<void> check_binding(const AdmissionAttributes& attributes, FieldErrors& errors) const {
    const Object& now = status_of(*attributes.object);
    const Object& old = status_of(*attributes.old_object);
    if (same_member(now, old, "allocation") && same_member(now, old, "reservedFor")) co_return;
    AuthorizationAttributes wanted = authorization_attributes(*attributes.context);
    wanted.subresource = "binding";
    wanted.ns.clear();
    wanted.name.clear();
    const std::string problem = co_await refusal(wanted);
    if (problem.empty()) co_return;
    errors.forbidden("status.allocation",
                     "changing status.allocation or status.reservedFor requires resource=\"resourceclaims/binding\", verb=\"" +
                         wanted.verb + "\" permission: " + problem);
  }

  Task<void> check_devices(const AdmissionAttributes& attributes, FieldErrors& errors) const {
    const std::set<std::string> drivers = changed_drivers(*attributes.object, *attributes.old_object);
    const AuthorizationAttributes base = authorization_attributes(*attributes.context);
    std::vector<std::string> verbs;
    if (is_on_node(*base.user, allocated_node(allocation_of(*attributes.object)))) verbs.push_back("associated-node:" + base.verb);
    verbs.push_back("arbitrary-node:" + base.verb);
    std::string shown;
    for (const std::string& verb : verbs) shown.append(shown.empty() ? "" : " ").append(verb);
    for (const std::string& driver : drivers) {
      const std::string problem = co_await driver_refusal(base, verbs, driver);
      if (problem.empty()) continue;
      errors.forbidden("status.devices", "changing status.devices requires resource=\"resourceclaims/driver\", verb=\"[" + shown +
                                             "]\" permission: " + problem);
    }
  }

  // Returns an empty text if one of the verbs is permitted. Otherwise returns the reason why the first verb is not permitted.
  Task<std::string> driver_refusal(const AuthorizationAttributes& base, const std::vector<std::string>& verbs,
                                   const std::string& driver) const {
    std::string first;
    for (const std::string& verb : verbs) {
      AuthorizationAttributes wanted = base;
      wanted.verb = verb;
      wanted.subresource = "driver";
      wanted.name = driver;
      std::string problem = co_await refusal(wanted);
      if (problem.empty()) co_return std::string();
      if (first.empty()) first = std::move(problem);
    }
    co_return first;
  }

  Task<std::string> refusal(const AuthorizationAttributes& wanted) const {
    const AuthorizerResult result = co_await host_.authorizer().authorize(wanted);
    if (result.decision == Decision::kAllow) co_return std::string();
    std::string reason = result.error.ok() ? std::string() : result.error.message();
    if (!result.reason.empty()) reason.append(reason.empty() ? "" : ": ").append(result.reason);
    const std::string place = wanted.ns.empty() ? "at the cluster scope" : "in the namespace " + quoted(wanted.ns);
    const std::string object = wanted.name.empty() ? "" : " " + quoted(wanted.name);
    co_return "resourceclaims.resource.k8s.io" + object + " is forbidden: User " + quoted(wanted.user->name) + " cannot " + wanted.verb +
        " resource " + quoted("resourceclaims/" + wanted.subresource) + " in API group " + quoted(wanted.api_group) + " " + place +
        (reason.empty() ? "" : ": " + reason);
  }

  Host& host_;
  const bool granular_;
  const bool device_status_;
};

}  // namespace

std::shared_ptr<AdmissionPlugin> make_status_authorization(Host& host, bool granular, bool device_status) {
  return std::make_shared<StatusAuthorization>(host, granular, device_status);
}

}  // namespace backplane::resource
