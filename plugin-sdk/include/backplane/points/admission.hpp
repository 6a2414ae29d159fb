// Admission: what is asked before a write is stored.
//
//   every plugin's admit(), in the server's order ─► once more, when one of them asked for it ─► the object is checked ─► every validate()
//
// Thread-safety: plugins are const and called from any thread; attributes belong to one request.
// Lifetime:      attributes and what they point to live until the call that was given them has ended.
// Errors:        a Status refuses the write; it is sent as it is.
#pragma once

#include <functional>
#include <map>
#include <memory>
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

// The same objects under other names: what rules with matchPolicy Equivalent look through.
class EquivalentResources {
 public:
  virtual ~EquivalentResources();
  // Every name of the resource, the one asked for among them; in the order in which they were registered.
  virtual std::vector<GroupVersionResource> equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const = 0;
  // What a name's objects are; empty when nobody serves it.
  virtual GroupVersionKind kind_of(const GroupVersionResource& resource, std::string_view subresource) const = 0;
};

// Why a pass runs, and whether another is wanted.  One for all passes over a request's object.
class AdmissionReinvocation {
 public:
  // True in the second pass.
  bool again() const noexcept { return again_; }
  // Asks for a second pass over every plugin that takes part in one; in the second pass it does nothing.
  void request() noexcept { requested_ = true; }
  bool requested() const noexcept { return requested_; }
  // For the runner.
  void begin_again() noexcept { again_ = true; }
  // What a plugin keeps from the first pass for the second.
  std::shared_ptr<void>& state_of(std::string_view plugin);

 private:
  bool again_ = false;
  bool requested_ = false;
  std::map<std::string, std::shared_ptr<void>, std::less<>> states_;
};

// What is to be written, by whom and how: upstream's admission.Attributes.
struct AdmissionAttributes {
  AdmissionOperation operation = AdmissionOperation::kCreate;
  // What the plugin looks at …
  GroupVersionResource resource;
  GroupVersionKind kind;
  std::string subresource;
  // … and what the client asked for: another version when a rule wanted the object converted.
  GroupVersionResource request_resource;
  GroupVersionKind request_kind;
  std::string ns;
  std::string name;
  bool dry_run = false;
  UserRef user;
  // As the client sent them; empty on connect.
  std::variant<std::monostate, WriteOptions, DeleteOptions> options;
  Object* object = nullptr;                       // null on delete; a mutating plugin may change it
  const Object* old_object = nullptr;             // null on create
  AdmissionReinvocation* reinvocation = nullptr;  // set by the runner, null in validate()
  // The request this belongs to; null when somebody asks without one.
  RequestContext* context = nullptr;

  // A Warning header of the answer.
  void warn(std::string_view text) const;
  // An audit annotation, `domain/key`.  Errors: kBadRequest for a key of another form or one that has another value already.
  Status annotate(std::string_view key, std::string value) const;
};

// Of a request on `resource`: user, subresource, namespace and dry run are the request's; name, options and objects are left to the caller.
AdmissionAttributes admission_attributes(RequestContext& context, AdmissionOperation operation, GroupVersionResource resource,
                                         GroupVersionKind kind);
// The options as the object that webhooks and policies see (CreateOptions, UpdateOptions, DeleteOptions of meta.k8s.io/v1); null on
// connect.
Value admission_options(const AdmissionAttributes& attributes, json::storage_ptr storage);
// 403 as upstream's admission.NewForbidden words it: `resource "name" is forbidden: why`.
Status admission_forbidden(const AdmissionAttributes& attributes, std::string_view why);

class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin();
  virtual std::string_view name() const noexcept = 0;
  virtual bool handles(AdmissionOperation operation) const noexcept = 0;
  // Mutating step; the default changes nothing.
  virtual Task<Status> admit(AdmissionAttributes& attributes) const;
  // Validating step, after all mutation.
  virtual Task<Status> validate(const AdmissionAttributes& attributes) const;
  // What is to be committed in the same transaction as the write (a quota's usage); null: nothing.  Called once for each try of the write,
  // after all mutation and before the object is validated, if begins() is true for the operation; not for dry runs and connects.
  virtual Task<Result<std::unique_ptr<BegunWrite>>> begin(const AdmissionAttributes& attributes) const;
  virtual bool begins(AdmissionOperation operation) const noexcept;
  // False while what the plugin decides by has not been read.  A write waits for it, ten seconds at most, and is then refused.
  virtual bool ready() const noexcept { return true; }
  // Whether admit() is to run in the second pass, too.
  virtual bool reinvoked() const noexcept { return true; }
  // Whether the plugin reads or changes metadata.managedFields.  While no plugin that runs does, that member of the attributes' objects is
  // an opaque value and costs nothing.  Asked before each write: configuration may change it.
  virtual bool reads_managed_fields() const noexcept { return false; }
};

// What --admission-control-config-file says of one plugin.
struct AdmissionPluginConfig {
  std::string configuration;  // the plugin's own object as JSON; empty when there is none
};

// An admission plugin by its name.  It is made at start, when it is switched on.
struct AdmissionRegistration {
  using Factory = std::function<Result<std::shared_ptr<AdmissionPlugin>>(const AdmissionPluginConfig& config)>;
  std::string name;
  Factory factory;
  // For names that kube-apiserver does not have; theirs are on or off, and stand in the order, as there.
  bool on_by_default = true;
  // Names of plugins it stands in front of or behind.  Unset: behind all of kube-apiserver's, in the order of registration.
  std::vector<std::string> in_front_of;
  std::vector<std::string> behind;
};

}  // namespace BACKPLANE_API
