#include "plugin/retained_storage.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/plugin_unavailable.hpp"
#include "backplane/kit/forwarding_storage.hpp"
#include "backplane/points/http.hpp"
#include "backplane/rest/update_info.hpp"

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

// The object without the members that may change: its finalizers and its references to owners, for which a deletion may wait, and members
// that the server sets.
Object without_ties(const Object& object) {
  Object out(object);
  if (Value* metadata = out.if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
    for (const std::string_view member : {"finalizers", "ownerReferences", "managedFields", "resourceVersion"})
      metadata->get_object().erase(member);
  }
  return out;
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

class RetainedStorage final : public kit::ForwardingStorage {
 public:
  RetainedStorage(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence, KindSnapshot kind)
      : ForwardingStorage(std::move(store)), absence_(std::move(absence)), kind_(std::move(kind)) {}

  std::string deprecation_warning() const override { return absence_->text(); }

  Task<Result<ObjectRef>> create(RequestContext&, Object& object, WriteOptions) override {
    co_return refused(*absence_, kind_, std::string(meta_name(object)));
  }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string name, UpdatedObjectInfo& info, WriteOptions options,
                                    bool) override {
    TiesOnly ties(info, refused(*absence_, kind_, name));
    auto updating = store().update(context, std::move(name), ties, std::move(options), false);
    co_return co_await std::move(updating);
  }

 private:
  const PluginAbsenceRef absence_;
  const KindSnapshot kind_;
};

// The base class of subresources; each subclass adds a role.
class Subresource : public RestStorage, public Scoper {
 public:
  Subresource(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence, const KindSnapshot& kind, const SubresourceSnapshot& own)
      : store_(std::move(store)), absence_(std::move(absence)), kind_(kind), own_(own) {}
  GroupVersionKind kind() const override { return own_.kind; }
  const Schema* schema() const override { return own_.kind == kind_.kind ? store_->schema() : nullptr; }
  bool namespaced() const override { return kind_.namespaced; }
  bool admits_writes() const noexcept override { return true; }
  std::string deprecation_warning() const override { return absence_->text(); }

 protected:
  Status refusal(std::string name) const { return refused(*absence_, kind_, std::move(name)); }
  Task<Result<ObjectRef>> read(RequestContext& context, std::string name, GetOptions options) {
    if (own_.kind != kind_.kind) co_return refusal(std::move(name));
    auto reading = store_->get(context, std::move(name), std::move(options));
    co_return co_await std::move(reading);
  }
  const SubresourceSnapshot& own() const noexcept { return own_; }

 private:
  const std::shared_ptr<StandardStorage> store_;
  const PluginAbsenceRef absence_;
  const KindSnapshot kind_;
  const SubresourceSnapshot own_;
};

class UpdatedSubresource final : public Subresource, public Getter, public Updater {
 public:
  using Subresource::Subresource;
  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    return read(context, std::move(name), std::move(options));
  }
  Task<Result<UpdateResult>> update(RequestContext&, std::string name, UpdatedObjectInfo&, WriteOptions, bool) override {
    co_return refusal(std::move(name));
  }
};

class ReadSubresource final : public Subresource, public Getter {
 public:
  using Subresource::Subresource;
  Task<Result<ObjectRef>> get(RequestContext& context, std::string name, GetOptions options) override {
    return read(context, std::move(name), std::move(options));
  }
};

class CreatedSubresource final : public Subresource, public NamedCreater {
 public:
  using Subresource::Subresource;
  Task<Result<ObjectRef>> create_named(RequestContext&, std::string name, Object&, WriteOptions) override {
    co_return refusal(std::move(name));
  }
};

class ConnectedSubresource final : public Subresource, public Connecter {
 public:
  using Subresource::Subresource;
  std::vector<std::string> connect_methods() const override { return own().methods; }
  Task<void> connect(RequestContext&, std::string name, Exchange& exchange) override {
    const Status status = refusal(std::move(name));
    std::vector<SharedBytes> body;
    body.emplace_back(status.to_json());
    exchange.set_response_header("Retry-After", std::to_string(kRetryAfterSeconds));
    auto responding = exchange.respond(status.code(), "application/json", std::move(body));
    co_await std::move(responding);
  }
};

}  // namespace

std::string PluginAbsence::text() const { return "plugin " + backplane::quoted(plugin) + " is not available: " + why + "; " + fix; }

std::shared_ptr<RestStorage> make_retained_storage(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence,
                                                   const KindSnapshot& kind) {
  return std::make_shared<RetainedStorage>(std::move(store), std::move(absence), kind);
}

std::shared_ptr<RestStorage> make_retained_subresource(std::shared_ptr<StandardStorage> store, PluginAbsenceRef absence,
                                                       const KindSnapshot& kind, const SubresourceSnapshot& own) {
  if (!own.methods.empty()) return std::make_shared<ConnectedSubresource>(std::move(store), std::move(absence), kind, own);
  // A body of a kind of another group cannot be decoded without the plugin's types; the resource itself is updated instead.
  if (own.updates && own.kind == kind.kind) return std::make_shared<UpdatedSubresource>(std::move(store), std::move(absence), kind, own);
  if (own.creates && own.kind == kind.kind) return std::make_shared<CreatedSubresource>(std::move(store), std::move(absence), kind, own);
  if (own.reads && own.kind == kind.kind) return std::make_shared<ReadSubresource>(std::move(store), std::move(absence), kind, own);
  return nullptr;
}

}  // namespace backplane
