// The objects of a write in the versions that rules of webhooks and policies name.
//
// Thread-safety: belongs to one write.
// Lifetime:      borrows the host and the attributes. The pointers of a VersionedViews live as long as the VersionedViews, those of a
//                VersionedWrite until the next call of in(), switch_to() or flush().
// Errors:        those of the conversion.
// Source:        k8s.io/apiserver/pkg/admission/conversion.go.
#pragma once

#include <list>
#include <optional>

#include "backplane/host.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admission {

// Object and old object in one version; null if the write has none.
struct VersionedObjects {
  const Object* object = nullptr;
  const Object* old_object = nullptr;
};

class VersionSource {
 public:
  virtual ~VersionSource() = default;
  virtual Task<Result<VersionedObjects>> in(GroupVersionKind kind) = 0;
};

// For the validating step: holds the objects in all versions that were used.
class VersionedViews final : public VersionSource {
 public:
  VersionedViews(Host& host, const AdmissionAttributes& attributes)
      : host_(host), attributes_(attributes), own_(VersionedObjects{attributes.object, attributes.old_object}) {}
  // The result of in() if the version is available already; null if it is not.
  const Result<VersionedObjects>* find(const GroupVersionKind& kind) const noexcept;
  Task<Result<VersionedObjects>> in(GroupVersionKind kind) override;

 private:
  struct View {
    GroupVersionKind kind;
    std::optional<Object> object, old_object;
    Result<VersionedObjects> shown;
  };
  Host& host_;
  const AdmissionAttributes& attributes_;
  const Result<VersionedObjects> own_;
  std::list<View> views_;  // references stay valid
};

// For the mutating step: holds the objects in one version at a time. If the object was changed in another version than the request's, the
// next switch and flush() convert it back.
class VersionedWrite final : public VersionSource {
 public:
  VersionedWrite(Host& host, AdmissionAttributes& attributes) : host_(host), attributes_(attributes) {}

  // Calls switch_to() and returns objects(). Errors: kInternalError, as upstream wraps them for mutating webhooks.
  Task<Result<VersionedObjects>> in(GroupVersionKind kind) override;
  Task<Status> switch_to(GroupVersionKind kind);
  VersionedObjects objects() const noexcept;
  // The kind of objects(): the kind of the request before the first switch.
  const GroupVersionKind& kind() const noexcept { return converted() ? kind_ : attributes_.kind; }
  // The object of objects(), which must exist, for a change in place. Call set_changed() after the change.
  Object& object() noexcept { return converted() ? *object_ : *attributes_.object; }
  void set_changed() noexcept { changed_ = converted(); }
  Task<Status> flush();

 private:
  bool converted() const noexcept { return !kind_.kind.empty(); }

  Host& host_;
  AdmissionAttributes& attributes_;
  GroupVersionKind kind_;  // empty: that of the attributes, whose objects are used
  std::optional<Object> object_, old_object_;
  bool changed_ = false;
};

}  // namespace backplane::admission
