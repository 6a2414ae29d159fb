// Admission plugins: code that may change or refuse a write before it is stored.
//
//   admit() of every plugin, in the server's order ─► admit() again if a plugin requested it ─► validation of the object ─► validate() of
//   every plugin
//
// Thread-safety: plugins are const and called from any thread; attributes belong to one request.
// Lifetime:      attributes and everything they point to are valid until the call that received them has ended.
// Errors:        an error Status refuses the write and is sent to the client unchanged.
// Source:        k8s.io/apiserver/pkg/admission.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/options.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class BegunWrite;  // backplane/rest/store_hooks.hpp

enum class AdmissionOperation : unsigned char { kCreate, kUpdate, kDelete, kConnect };
// "CREATE", "UPDATE", "DELETE", "CONNECT".
std::string_view admission_operation_name(AdmissionOperation operation) noexcept;

// Other group versions that serve the same objects, for rules with matchPolicy Equivalent. Host::equivalent_resources() returns it.
class EquivalentResources {
 public:
  virtual ~EquivalentResources();
  // All resources that serve the same objects as `resource`, including itself, in the order of registration.
  virtual std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const = 0;
  // The kind of a resource's objects; empty if no plugin serves the resource.
  virtual GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view subresource) const = 0;
};

// Whether a second mutating pass is needed, and state between the passes. One object for all passes of one request.
class AdmissionReinvocation {
 public:
  // True in the second pass.
  bool again() const noexcept { return again_; }
  // Requests a second pass over all plugins with reinvoked(). Without effect in the second pass.
  void request() noexcept { requested_ = true; }
  bool requested() const noexcept { return requested_; }
  // Called by the runner before the second pass.
  void begin_again() noexcept { again_ = true; }
  // The state of the named plugin, which it sets in the first pass and reads in the second; null until set.
  std::shared_ptr<void>& state_of(std::string_view plugin);

 private:
  bool again_ = false;
  bool requested_ = false;
  std::map<std::string, std::shared_ptr<void>, std::less<>> states_;
};

// The write that is to be admitted: operation, object, options and user (admission.Attributes).
struct AdmissionAttributes {
  AdmissionOperation operation = AdmissionOperation::kCreate;
  // The resource and kind of `object` and `old_object` …
  GroupVersionResource resource;
  GroupVersionKind kind;
  std::string subresource;
  // … and those of the request. They differ if a rule with matchPolicy Equivalent had the objects converted.
  GroupVersionResource request_resource;
  GroupVersionKind request_kind;
  // The namespace; for a write of a Namespace, the name of that Namespace; empty for other cluster-scoped resources. `name` is empty on
  // create with generateName.
  std::string ns;
  std::string name;
  bool dry_run = false;
  UserRef user;
  // The options as the client sent them; empty on connect.
  std::variant<std::monostate, WriteOptions, DeleteOptions> options;
  Object* object = nullptr;                       // null on delete; a mutating plugin may change it
  const Object* old_object = nullptr;             // null on create
  AdmissionReinvocation* reinvocation = nullptr;  // set by the runner, null in validate()
  // The request of the write; null for a call without a request.
  RequestContext* context = nullptr;

  // Adds a Warning header to the response.
  void warn(std::string_view text) const;
  // Adds an audit annotation with a key of the form `domain/name`.
  // Errors: kBadRequest for a malformed key, or one that has another value already.
  Status annotate(std::string_view key, std::string value) const;
};

// Attributes with user, subresource, namespace and dry run of the request. The caller sets name, options and objects.
AdmissionAttributes admission_attributes(RequestContext& context, AdmissionOperation operation, GroupVersionResource resource,
                                         GroupVersionKind kind);
// The options as CreateOptions, UpdateOptions or DeleteOptions of meta.k8s.io/v1, as webhooks and policies receive them; null on connect.
Value admission_options(const AdmissionAttributes& attributes, json::storage_ptr storage);
// 403 with the text of admission.NewForbidden: `resource "name" is forbidden: why`.
Status admission_forbidden(const AdmissionAttributes& attributes, std::string_view why);

// One admission plugin. Configuration is passed to its factory (AdmissionRegistration).
//
//   class RequireOwner final : public AdmissionPlugin {
//    public:
//     std::string_view name() const noexcept override { return "RequireOwner"; }
//     bool handles(AdmissionOperation operation) const noexcept override { return operation == AdmissionOperation::kCreate; }
//     bool mutates() const noexcept override { return false; }
//     std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override {
//       if (find_path(*attributes.object, "metadata.labels.owner") != nullptr) return Status();
//       return admission_forbidden(attributes, "the label owner is required");
//     }
//   };
class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin();
  // The name in --enable-admission-plugins and in metrics.
  virtual std::string_view name() const noexcept = 0;
  // Whether the plugin is called for writes of this operation. Constant.
  virtual bool handles(AdmissionOperation operation) const noexcept = 0;
  // Whether the plugin takes part in the mutating and in the validating step. Constant. A step is counted in the metrics only for plugins
  // that take part.
  virtual bool mutates() const noexcept { return true; }
  virtual bool validates() const noexcept { return true; }
  // Each step has two forms. The first form is called first and must not wait; if it returns nullopt (the default), the result requires
  // waiting, and the second form is called. A write that needs no coroutine costs about 20 nanoseconds instead of 200.
  //
  // The mutating step: may change *attributes.object. The default changes nothing.
  virtual std::optional<Status> admit_now(AdmissionAttributes& attributes) const;
  virtual Task<Status> admit(AdmissionAttributes& attributes) const;
  // The validating step, after all mutation and after the object's own validation.
  virtual std::optional<Status> validate_now(const AdmissionAttributes& attributes) const;
  virtual Task<Status> validate(const AdmissionAttributes& attributes) const;
  // Changes that are committed in the same transaction as the write (usage of a quota); null: none. Called for each attempt of the write,
  // right before its transaction, so after every validate(), if begins() is true for the operation. Called as kDelete for an update that
  // removes the last finalizer. Not called for dry runs and connect.
  virtual Task<Result<std::unique_ptr<BegunWrite>>> begin(const AdmissionAttributes& attributes) const;
  // Whether begin() is called for writes of this operation. Default: false.
  virtual bool begins(AdmissionOperation operation) const noexcept;
  // False until the plugin has read the data that it decides by. A write waits up to ten seconds for it and is then refused with 403.
  virtual bool ready() const noexcept { return true; }
  // Whether admit() runs in a requested second pass.
  virtual bool reinvoked() const noexcept { return true; }
  // Whether the plugin reads or changes metadata.managedFields. While no enabled plugin does, that member is an opaque value in the
  // attributes' objects, which saves each write about ten microseconds. Called before each write, because configuration may change the
  // answer.
  virtual bool reads_managed_fields() const noexcept { return false; }
};

// The plugin's entry in the file of --admission-control-config-file.
struct AdmissionPluginConfig {
  std::string configuration;  // the plugin's configuration object as JSON; empty if the file has none
};

// An admission plugin by name. The host calls `factory` at startup if the plugin is enabled.
//
//   host.register_admission({.name = "RequireOwner", .factory = [](const AdmissionPluginConfig&) { return std::make_shared<RequireOwner>();
//   }});
struct AdmissionRegistration {
  // Errors: any error fails startup and names the plugin.
  using Factory = std::function<Result<std::shared_ptr<AdmissionPlugin>>(const AdmissionPluginConfig& config)>;
  std::string name;
  Factory factory;
  // For plugins that kube-apiserver lacks; for its own plugins, kube-apiserver's defaults and order apply.
  bool on_by_default = true;
  // Plugins that this one precedes (in_front_of) or follows (behind). Unset: after all of kube-apiserver's plugins, in the order of
  // registration.
  std::vector<std::string> in_front_of;
  std::vector<std::string> behind;
};

}  // namespace BACKPLANE_API
