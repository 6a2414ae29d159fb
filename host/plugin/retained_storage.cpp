#include "plugin/retained_storage.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/core/plugin_unavailable.hpp"
#include "backplane/kit/forwarding_storage.hpp"
#include "backplane/rest/update_info.hpp"
#include "base/status_exception.hpp"
#include "endpoints/request_refuser.hpp"
#include "registry/fields/applied_object.hpp"
#include "registry/served_store.hpp"

namespace backplane {
namespace {

// Clients made with client-go, kubectl among them, wait that long ten times before they show the message.
constexpr int kRetryAfterSeconds = 1;

Status refused(const PluginAbsence& absence, const KindSnapshot& kind, std::string name) {
  StatusDetails details;
  details.name = std::move(name);
  details.group = kind.kind.group;
  details.kind = kind.resource;
  details.retry_after_seconds = kRetryAfterSeconds;
  return Status(kPluginUnavailable, kind.resource + "." + kind.kind.group + " can be read and deleted only: " + absence.text())
      .with_details(std::move(details));
}

// The members of metadata that may change: the finalizers and the references to owners, for which a deletion may wait, and members that
// the server sets.
constexpr std::array<std::string_view, 4> kTies = {"finalizers", "ownerReferences", "managedFields", "resourceVersion"};

Object without_ties(const Object& object) {
  Object out(object);
  if (Value* metadata = out.if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    for (const std::string_view member : kTies) metadata->get_object().erase(member);
  }
  return out;
}

// The member to which a directive of a strategic merge patch refers ("$setElementOrder/finalizers"); `key` if it is no such directive.
std::string_view subject_of(std::string_view key) {
  const auto slash = key.starts_with('$') ? key.find('/') : std::string_view::npos;
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

bool is_tie_or_precondition(std::string_view member) {
  return std::find(kTies.begin(), kTies.end(), member) != kTies.end() || member == "uid";
}

// Whether a strategic merge patch can only change members in kTies.
bool patches_ties_only(const Object& patch) {
  for (const auto& [key, value] : patch) {
    if (key == "apiVersion" || key == "kind") continue;
    if (key != "metadata" || !value.is_object()) return false;
    const Object& metadata = value.get_object();
    const bool all =
        std::all_of(metadata.begin(), metadata.end(), [](const auto& member) { return is_tie_or_precondition(subject_of(member.key())); });
    if (!all) return false;
  }
  return true;
}

class TiesOnly final : public WrappedObjectInfo {
 public:
  TiesOnly(UpdatedObjectInfo& wrapped, Status refusal) : WrappedObjectInfo(wrapped), refusal_(std::move(refusal)) {}

 protected:
  Task<Status> change(RequestContext&, Object& object, const Object* existing) override {
    if (existing == nullptr || without_ties(object) != without_ties(*existing)) co_return refusal_;
    co_return Status();
  }

 private:
  const Status refusal_;
};

// An apply that takes the fields of other managers, so that it has no conflicts.
class ForcedApply final : public registry::AppliedObject {
 public:
  explicit ForcedApply(registry::AppliedObject& sent) : AppliedObject(sent.manager(), true), sent_(sent) {}
  Result<const Object*> configuration(RequestContext& context) override { return sent_.configuration(context); }
  Status accept(RequestContext&, Object&, const Object*) override { return {}; }

 private:
  registry::AppliedObject& sent_;
};

class RetainedStorage final : public kit::ForwardingStorage, public endpoints::RequestRefuser {
 public:
  RetainedStorage(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence, KindSnapshot kind)
      : ForwardingStorage(std::move(store)), absence_(std::move(absence)), kind_(std::move(kind)) {}

  std::string deprecation_warning() const override { return absence_->text(); }

  // create() and update() refuse writes.
  Status refusal(const RequestInfo&) const override { return {}; }
  // Clients such as the garbage collector send a patch of ties again as a merge patch when they get 415.
  Status patch_refusal(const RequestInfo& request, const Object& patch) const override {
    return patches_ties_only(patch) ? Status() : refused(*absence_, kind_, request.name);
  }

  Task<Result<ObjectRef>> create(RequestContext&, Object& object, WriteOptions) override {
    co_return refused(*absence_, kind_, std::string(meta_name(object)));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool) override {
    ClientWrite* const sent = info.client_write();
    if (registry::AppliedObject* const applied = sent != nullptr ? sent->applied() : nullptr) {
      auto checking = check_apply(context, name, *applied, options);
      Status allowed = co_await std::move(checking);
      if (!allowed.ok()) co_return allowed;
    }
    TiesOnly ties(info, refused(*absence_, kind_, name));
    auto updating = store().update(context, std::move(name), ties, std::move(options), false);
    co_return co_await std::move(updating);
  }

 private:
  // Refuses an apply that would create an object or change more than ties if it were forced. The store reports the other errors: it
  // computes conflicts with other managers before it calls TiesOnly.
  Task<Status> check_apply(RequestContext& context, const std::string& name, registry::AppliedObject& applied,
                           const WriteOptions& options) {
    auto reading = store().get(context, name, {});
    auto found = co_await std::move(reading);
    if (!found.ok() && found.status().reason() == Reason::kNotFound) co_return refused(*absence_, kind_, name);
    if (!found.ok()) co_return std::move(found.status());
    const Object existing = decode(**found, context.arena());
    ForcedApply forced(applied);
    auto merging = store().host_store()->served().fields().wanted(forced, nullptr, context, options, &existing);
    auto merged = co_await std::move(merging);
    if (merged.ok() && without_ties(*merged) != without_ties(existing)) co_return refused(*absence_, kind_, name);
    co_return Status();
  }

  const PluginAbsenceRef absence_;
  const KindSnapshot kind_;
};

struct SubresourceParts {
  std::shared_ptr<StandardStorage> store;
  PluginAbsenceRef absence;
  KindSnapshot kind;
  SubresourceSnapshot own;
};

// The base class of subresources. Each of the templates below adds a role, so that discovery has the verbs that were recorded. refusal()
// refuses every request except a GET of a subresource that has the kind of the resource.
class Subresource : public RestStorage, public Scoper, public endpoints::RequestRefuser {
 public:
  explicit Subresource(SubresourceParts parts) : parts_(std::move(parts)) {}
  GroupVersionKind kind() const override { return parts_.own.kind; }
  const Schema* schema() const override { return has_kind_of_resource() ? parts_.store->schema() : meta_schemas()->find(parts_.own.kind); }
  bool namespaced() const override { return parts_.kind.namespaced; }
  bool admits_writes() const noexcept override { return true; }
  std::string deprecation_warning() const override { return parts_.absence->text(); }

  Status refusal(const RequestInfo& request) const override {
    const bool served = request.verb == "get" && parts_.own.reads && has_kind_of_resource();
    return served ? Status() : refusal_of(request.name);
  }
  Status patch_refusal(const RequestInfo& request, const Object&) const override { return refusal_of(request.name); }

 protected:
  bool has_kind_of_resource() const { return parts_.own.kind == parts_.kind.kind; }
  Status refusal_of(std::string name) const { return refused(*parts_.absence, parts_.kind, std::move(name)); }
  const SubresourceParts& parts() const noexcept { return parts_; }

 private:
  const SubresourceParts parts_;
};

template <class Base>
class Reads : public Base, public Getter {
 public:
  using Base::Base;
  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    if (!this->has_kind_of_resource()) co_return this->refusal_of(std::move(name));
    auto reading = this->parts().store->get(context, std::move(name), std::move(options));
    co_return co_await std::move(reading);
  }
};

template <class Base>
class Updates : public Base, public Updater {
 public:
  using Base::Base;
  Task<Result<UpdateResult>> update(RequestContext&, std::string name, UpdatedObjectInfo&, WriteOptions, bool) override {
    co_return this->refusal_of(std::move(name));
  }
};

template <class Base>
class Creates : public Base, public NamedCreater {
 public:
  using Base::Base;
  Task<Result<ObjectRef>> create_named(RequestContext&, std::string name, Object&, WriteOptions) override {
    co_return this->refusal_of(std::move(name));
  }
};

template <class Base>
class Connects : public Base, public Connecter {
 public:
  using Base::Base;
  std::vector<std::string> connect_methods() const override { return this->parts().own.methods; }
  Task<void> connect(RequestContext&, std::string name, Exchange&) override {
    throw StatusException(this->refusal_of(std::move(name)));
    co_return;
  }
};

using Made = std::shared_ptr<RestStorage>;

template <class Base>
Made with_methods(SubresourceParts parts) {
  if (parts.own.methods.empty()) return std::make_shared<Base>(std::move(parts));
  return std::make_shared<Connects<Base>>(std::move(parts));
}
template <class Base>
Made with_creates(SubresourceParts parts) {
  return parts.own.creates ? with_methods<Creates<Base>>(std::move(parts)) : with_methods<Base>(std::move(parts));
}
template <class Base>
Made with_updates(SubresourceParts parts) {
  return parts.own.updates ? with_creates<Updates<Base>>(std::move(parts)) : with_creates<Base>(std::move(parts));
}

}  // namespace

std::string PluginAbsence::text() const { return "plugin " + backplane::quoted(plugin) + " is not available: " + why + "; " + fix; }

std::shared_ptr<RestStorage> make_retained_storage(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence,
                                                   const KindSnapshot& kind) {
  return std::make_shared<RetainedStorage>(std::move(store), std::move(absence), kind);
}

std::shared_ptr<RestStorage> make_retained_subresource(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence,
                                                       const KindSnapshot& kind, const SubresourceSnapshot& own) {
  SubresourceParts parts{std::move(store), std::move(absence), kind, own};
  // The description of an earlier build has no role of a subresource that responds to GET with a stream.
  if (!own.reads && !own.updates && !own.creates && own.methods.empty()) parts.own.methods = {"GET"};
  return own.reads ? with_updates<Reads<Subresource>>(std::move(parts)) : with_updates<Subresource>(std::move(parts));
}

}  // namespace backplane
