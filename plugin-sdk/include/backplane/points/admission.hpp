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

// Lists the group versions that serve the same objects, for webhooks and policies with matchPolicy Equivalent. Host::equivalent_resources()
// returns this object.
class EquivalentResources {
 public:
  virtual ~EquivalentResources();
  // Returns all resources that serve the same objects as `resource`, including `resource`, in the order of registration.
  virtual std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const = 0;
  // The kind of a resource's objects; empty if no plugin serves the resource.
  virtual GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view subresource) const = 0;
};

// Requests a second mutating pass, and stores state of the plugins between the two passes. The passes over one write share one object.
class AdmissionReinvocation {
 public:
  // True in the second pass.
  bool again() const noexcept { return again_; }
  // Requests a second pass, which calls the mutating step of every plugin whose reinvoked() is true. A call in the second pass has no
  // effect.
  void request() noexcept { requested_ = true; }
  bool requested() const noexcept { return requested_; }
  // Called by the runner before the second pass.
  void begin_again() noexcept { again_ = true; }
  // The state of the named plugin. The plugin sets it in the first pass and reads it in the second; null until the plugin has set it.
  std::shared_ptr<void>& state_of(std::string_view plugin);

 private:
  bool again_ = false;
  bool requested_ = false;
  std::map<std::string, std::shared_ptr<void>, std::less<>> states_;
};

// The write that is to be admitted: operation, object, options and user (admission.Attributes).
struct AdmissionAttributes {
  AdmissionOperation operation = AdmissionOperation::kCreate;
  // The resource and kind of `object` and `old_object`.
  GroupVersionResource resource;
  GroupVersionKind kind;
  std::string subresource;
  // The resource and kind that the request names. They differ from `resource` and `kind` if the objects were converted for a webhook or
  // policy with matchPolicy Equivalent.
  GroupVersionResource request_resource;
  GroupVersionKind request_kind;
  // The namespace. For a write of a Namespace object: the name of that object. Empty for other cluster-scoped resources.
  std::string ns;
  // Empty on create if the object has generateName instead of a name.
  std::string name;
  bool dry_run = false;
  UserRef user;
  // The options as the client sent them; empty on connect.
  std::variant<std::monostate, WriteOptions, DeleteOptions> options;
  Object* object = nullptr;                       // null on delete; a mutating plugin may change it
  const Object* old_object = nullptr;             // null on create
  AdmissionReinvocation* reinvocation = nullptr;  // set by the runner, null in validate()
  // The request that makes the write; null if no request makes it.
  RequestContext* context = nullptr;

  // Adds a Warning header to the response.
  void warn(std::string_view text) const;
  // Adds an audit annotation. The key has the form `domain/name`.
  // Errors: kBadRequest if the key is malformed, or if the annotation already has another value.
  Status annotate(std::string_view key, std::string value) const;
};

// Returns attributes with the user, subresource, namespace and dry run of the request. The caller sets name, options and objects.
AdmissionAttributes admission_attributes(RequestContext& context, AdmissionOperation operation, GroupVersionResource resource,
                                         GroupVersionKind kind);
// Returns the options as CreateOptions, UpdateOptions or DeleteOptions of meta.k8s.io/v1, as webhooks and policies receive them; null on
// connect.
Value admission_options(const AdmissionAttributes& attributes, json::storage_ptr storage);
// Returns a 403 with the text of admission.NewForbidden: `resource "name" is forbidden: why`.
Status admission_forbidden(const AdmissionAttributes& attributes, std::string_view why);

// One admission plugin. Its factory receives its configuration (AdmissionRegistration).
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
  // The name for --enable-admission-plugins, and the label in metrics.
  virtual std::string_view name() const noexcept = 0;
  // Whether the plugin is called for writes of this operation. Constant.
  virtual bool handles(AdmissionOperation operation) const noexcept = 0;
  // Whether the plugin takes part in the mutating step (mutates) and in the validating step (validates). Constant. The metrics count a step
  // only for plugins that take part in it.
  virtual bool mutates() const noexcept { return true; }
  virtual bool validates() const noexcept { return true; }
  // Each step has two functions. The host calls admit_now() or validate_now() first; these must not wait. If they return nullopt (the
  // default), the host calls and awaits admit() or validate(). A call of one step costs about 20 nanoseconds without a coroutine and 200
  // with one.
  //
  // The mutating step may change *attributes.object. The default changes nothing.
  virtual std::optional<Status> admit_now(AdmissionAttributes& attributes) const;
  virtual Task<Status> admit(AdmissionAttributes& attributes) const;
  // The validating step runs after the mutating steps of all plugins and after the object's own validation. The default allows the write.
  virtual std::optional<Status> validate_now(const AdmissionAttributes& attributes) const;
  virtual Task<Status> validate(const AdmissionAttributes& attributes) const;
  // Returns changes that are committed in the same transaction as the write, such as the usage of a quota; null: no changes. The host calls
  // begin() only if begins() is true for the operation, and not for dry runs or connect. begin() runs before each attempt of the write's
  // transaction, after validate() of all plugins. If an update removes the last finalizer of an object that is being deleted,
  // attributes.operation is kDelete.
  virtual Task<Result<std::unique_ptr<BegunWrite>>> begin(const AdmissionAttributes& attributes) const;
  // Whether begin() is called for writes of this operation. Default: false.
  virtual bool begins(AdmissionOperation operation) const noexcept;
  // False until the plugin has read the data on which its decisions depend. A step of a plugin that is not ready waits for up to ten
  // seconds. If ready() is false even then, the write is refused with 403.
  virtual bool ready() const noexcept { return true; }
  // Whether the mutating step runs in a requested second pass (AdmissionReinvocation).
  virtual bool reinvoked() const noexcept { return true; }
  // Whether the plugin reads or changes metadata.managedFields. While no enabled plugin does so, metadata.managedFields is an opaque value
  // in the objects of the attributes; this saves each write about ten microseconds. The host calls this before each write, because a change
  // of configuration may change the result.
  virtual bool reads_managed_fields() const noexcept { return false; }
};

// The plugin's entry in the file of --admission-control-config-file.
struct AdmissionPluginConfig {
  std::string configuration;  // the plugin's configuration object as JSON; empty if the file has none
};

// Describes an admission plugin. The host calls `factory` at startup if the plugin is enabled.
//
//   AdmissionRegistration registration;
//   registration.name = "RequireOwner";
//   registration.factory = [](const AdmissionPluginConfig&) { return std::shared_ptr<AdmissionPlugin>(std::make_shared<RequireOwner>()); };
//   return host.register_admission(std::move(registration));
struct AdmissionRegistration {
  // Errors: any error fails startup and names the plugin.
  using Factory = std::function<Result<std::shared_ptr<AdmissionPlugin>>(const AdmissionPluginConfig& config)>;
  std::string name;
  Factory factory;
  // Whether the plugin is enabled if neither --enable-admission-plugins nor --disable-admission-plugins names it. Ignored if `name` is the
  // name of one of kube-apiserver's plugins: kube-apiserver's default applies then.
  bool on_by_default = true;
  // The plugin's position: it precedes the plugins of `in_front_of` and follows those of `behind`. If both are empty, it follows all of
  // kube-apiserver's plugins, in the order of registration. Ignored for the names of kube-apiserver's plugins, which have kube-apiserver's
  // order.
  std::vector<std::string> in_front_of;
  std::vector<std::string> behind;
};

}  // namespace BACKPLANE_API
