#include "pods/always_pull_images.hpp"

#include <array>
#include <set>

#include "backplane/core/json_access.hpp"
#include "common/aggregate.hpp"
#include "objects/request_match.hpp"

namespace backplane::admission::pods {
namespace {

constexpr std::string_view kAlways = "Always";
constexpr std::array<std::string_view, 3> kContainerLists = {"initContainers", "containers", "ephemeralContainers"};

std::set<std::string_view> images_of(const Object& pod) {
  std::set<std::string_view> images;
  for (std::string_view list : kContainerLists) {
    each(object_or_empty(pod, "spec"), list, [&](const Object& container, std::size_t) { images.insert(get_string(container, "image")); });
  }
  return images;
}

bool has_new_images(const AdmissionAttributes& attributes) {
  if (attributes.operation != AdmissionOperation::kUpdate || attributes.old_object == nullptr) return true;
  const auto before = images_of(*attributes.old_object);
  for (std::string_view image : images_of(*attributes.object)) {
    if (!before.contains(image)) return true;
  }
  return false;
}

bool is_about_images(const AdmissionAttributes& attributes) {
  return objects::is_main_write(attributes, "", "pods") && has_new_images(attributes);
}

class AlwaysPullImages final : public AdmissionPlugin {
 public:
  std::string_view name() const noexcept override { return "AlwaysPullImages"; }
  bool handles(AdmissionOperation operation) const noexcept override {
    return operation == AdmissionOperation::kCreate || operation == AdmissionOperation::kUpdate;
  }

  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override {
    if (!is_about_images(attributes)) return Status();
    Object& spec = ensure_object(*attributes.object, "spec");
    for (std::string_view list : kContainerLists) {
      each_mutable(spec, list, [](Object& container) { container["imagePullPolicy"] = kAlways; });
    }
    each_mutable(spec, "volumes", [](Object& volume) {
      if (Object* image = mutable_object(volume, "image")) (*image)["pullPolicy"] = kAlways;
    });
    return Status();
  }

  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
    if (!is_about_images(attributes)) return Status();
    std::vector<std::string> problems;
    const Object& spec = object_or_empty(*attributes.object, "spec");
    for (std::string_view list : kContainerLists) {
      each(spec, list, [&](const Object& container, std::size_t i) {
        check_policy(attributes, container, at(at("spec", list), i), "imagePullPolicy", problems);
      });
    }
    each(spec, "volumes", [&](const Object& volume, std::size_t i) {
      const Object* image = get_object(volume, "image");
      if (image != nullptr) check_policy(attributes, *image, at(at("spec.volumes", i), "image"), "pullPolicy", problems);
    });
    if (problems.empty()) return Status();
    // Upstream returns a list of errors, which becomes a 500.
    return Status(500, Reason::kNone, aggregate_text(problems));
  }

 private:
  static void check_policy(const AdmissionAttributes& attributes, const Object& holder, const std::string& path, std::string_view member,
                           std::vector<std::string>& problems) {
    const std::string_view policy = get_string(holder, member);
    if (policy == kAlways) return;
    FieldErrors errors;
    errors.not_supported(at(path, member), policy, {std::string(kAlways)});
    problems.push_back(admission_forbidden(attributes, errors.aggregate_message()).message());
  }
};

}  // namespace

Result<std::shared_ptr<AdmissionPlugin>> make_always_pull_images(Services&, const AdmissionPluginConfig&) {
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<AlwaysPullImages>());
}

}  // namespace backplane::admission::pods
