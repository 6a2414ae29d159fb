// Admission: what is asked before a write is stored.
//
// Thread-safety: plugins are const and called from any thread.
// Errors:        a Status refuses the write; it is sent as it is.
#pragma once

#include <string>
#include <string_view>

#include "backplane/json.hpp"
#include "backplane/meta.hpp"
#include "backplane/request.hpp"
#include "backplane/status.hpp"
#include "backplane/task.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

enum class AdmissionOperation : unsigned char { kCreate, kUpdate, kDelete, kConnect };

struct AdmissionAttributes {
  AdmissionOperation operation = AdmissionOperation::kCreate;
  GroupVersionResource resource;
  GroupVersionKind kind;
  std::string subresource;
  std::string ns;
  std::string name;
  bool dry_run = false;
  Object* object = nullptr;            // null on delete; a mutating plugin may change it
  const Object* old_object = nullptr;  // null on create
  RequestContext* context = nullptr;
};

class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin();
  virtual std::string_view name() const noexcept = 0;
  virtual bool handles(AdmissionOperation operation) const noexcept = 0;
  // Mutating step, in registration order; the default changes nothing.
  virtual Task<Status> admit(AdmissionAttributes& attributes) const;
  // Validating step, after all mutation.
  virtual Task<Status> validate(const AdmissionAttributes& attributes) const;
};

}  // namespace BACKPLANE_API
