#include "pods/container_statuses.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/kit/strategy.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr long long kMostId = 2147483647;
constexpr std::size_t kMostMessage = 1024;
constexpr std::size_t kMostReference = 256;

void check_id(const Path& path, long long id, FieldErrors& errors) {
  if (id < 0 || id > kMostId) errors.invalid(path, id, "must be between 0 and " + std::to_string(kMostId) + ", inclusive");
}

// `os`: spec.os.name; Linux if it is empty.
void check_user(const Object& container, std::string_view os, const Path& path, FieldErrors& errors) {
  const Path user = path.at("user"), place = user.at("linux");
  const Object* linux_user = get_object(object_or_empty(container, "user"), "linux");
  if (linux_user == nullptr) return;
  if (os == "windows") errors.forbidden(place, "cannot be set for a windows pod");
  if (!os.empty() && os != "linux") return;
  for (std::string_view member : {"uid", "gid"}) check_id(place.at(member), get_int(*linux_user, member).value_or(0), errors);
  const Array* groups = get_array(*linux_user, "supplementalGroups");
  for (std::size_t i = 0; groups != nullptr && i < groups->size(); ++i) {
    check_id(place.at("supplementalGroups", i), (*groups)[i].is_int64() ? (*groups)[i].get_int64() : 0, errors);
  }
}

// Returns the names that allocatedResourcesStatus may contain: the names of the container's resource requests, and "claim:NAME/REQUEST" or
// "claim:NAME" for its resource claims.
std::set<std::string, std::less<>> allocatable_names(const Object& container) {
  const Object& resources = object_or_empty(container, "resources");
  std::set<std::string, std::less<>> out;
  for (const auto& request : object_or_empty(resources, "requests")) {
    const std::string_view name = request.key();
    if (!name.starts_with("claim:")) out.emplace(name);
  }
  each(resources, "claims", [&](const Object& claim, std::size_t) {
    const std::string_view request = get_string(claim, "request");
    std::string text = "claim:" + std::string(get_string(claim, "name"));
    if (!request.empty()) text.append("/").append(request);
    out.insert(std::move(text));
  });
  return out;
}

void check_health(const Object& resource, const Path& path, std::set<std::string, std::less<>>& seen, FieldErrors& errors) {
  const std::string_view health = get_string(resource, "health"), id = get_string(resource, "resourceID");
  if (health != "Healthy" && health != "Unhealthy" && health != "Unknown") {
    errors.not_supported(path.at("health"), health, {"Healthy", "Unhealthy", "Unknown"});
  }
  if (has(resource, "message")) {
    const std::string_view message = get_string(resource, "message");
    if (message.empty()) errors.required(path.at("message"), "must be non-empty if specified");
    if (message.size() > kMostMessage) errors.too_long(path.at("message"), message, static_cast<long long>(kMostMessage));
  }
  if (!seen.emplace(id).second) errors.duplicate(path.at("resourceID"), id);
}

// `container`: null if the pod has no container of that name.
void check_allocated(const Object& status, const Object* container, const Path& path, FieldErrors& errors) {
  if (count_of(status, "allocatedResourcesStatus") == 0) return;
  const auto allocatable = container != nullptr ? allocatable_names(*container) : std::set<std::string, std::less<>>();
  each(status, "allocatedResourcesStatus", [&](const Object& allocated, std::size_t i) {
    const Path item = path.at("allocatedResourcesStatus", i);
    const std::string_view name = get_string(allocated, "name");
    if (container != nullptr && !allocatable.contains(name)) {
      errors.invalid(item.at("name"), name,
                     name.starts_with("claim:")
                         ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' "
                           "or 'claim:<claimName>' if request is empty"
                         : "must match one of the container's resource requests");
    }
    std::set<std::string, std::less<>> seen;
    each(allocated, "resources",
         [&](const Object& resource, std::size_t k) { check_health(resource, item.at("resources", k), seen, errors); });
  });
}

void check_image(const Object& mount, const Path& path, FieldErrors& errors) {
  const Object* image = get_object(object_or_empty(mount, "volumeStatus"), "image");
  if (image == nullptr) return;
  const Path volume = path.at("volumeStatus"), status = volume.at("imageVolumeStatus");
  const std::string_view reference = get_string(*image, "imageRef");
  if (reference.empty()) errors.required(status.at("imageRef"), "imageRef must not be empty");
  if (reference.size() > kMostReference) errors.too_long(status.at("imageRef"), reference, static_cast<long long>(kMostReference));
}

struct StatusList {
  std::string_view statuses;
  std::string_view containers;  // empty: these containers have no resources
};
constexpr StatusList kLists[] = {
    {"containerStatuses", "containers"}, {"initContainerStatuses", "initContainers"}, {"ephemeralContainerStatuses", ""}};

}  // namespace

void check_container_statuses(const Object& spec, const Object& status, FieldErrors& errors) {
  const Path path("status");
  for (const StatusList& list : kLists) {
    each(status, list.statuses, [&](const Object& container, std::size_t i) {
      const Path item = path.at(list.statuses, i);
      check_user(container, get_string_path(spec, "os.name"), item, errors);
      if (!list.containers.empty()) {
        check_allocated(container, find_item(spec, list.containers, "name", get_string(container, "name")), item, errors);
      } else if (count_of(container, "allocatedResourcesStatus") > 0) {
        errors.forbidden(item.at("allocatedResourcesStatus"), "must not be specified in container status");
      }
      each(container, "volumeMounts", [&](const Object& mount, std::size_t k) { check_image(mount, item.at("volumeMounts", k), errors); });
    });
  }
}

}  // namespace backplane::core
