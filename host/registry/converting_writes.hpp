// A write in a served version that is not the stored version. Runs defaults, mutating admission and validation on the object in the served
// version, converts the object, and makes the WriteMode with which the store of the stored version ("the store below") completes the write.
//
// Thread-safety: one request.
// Lifetime:      borrows its arguments until the write has ended.
// Errors:        those of admission and of the converter. The errors of the served version's strategy are reported together with those of
//                the store below.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "registry/conversion.hpp"
#include "registry/object_store.hpp"

namespace backplane::registry {

class ConvertingWrite {
 public:
  // `view_strategy`: rules for objects in this version, or null.
  ConvertingWrite(ServedStore& store, const Conversion& conversion, const Strategy* view_strategy, WriteMode mode, RequestContext& context,
                  WriteOptions options = {});
  ConvertingWrite(const ConvertingWrite&) = delete;
  ConvertingWrite& operator=(const ConvertingWrite&) = delete;

  // The mode for the store below. Its admission plugins get the object in the served version; its validation adds the errors of
  // `view_strategy`.
  const WriteMode& mode() const noexcept { return below_; }
  // Prepares a new object of the served version, and returns it in the stored version.
  Task<Result<Object>> to_create(Object& object);
  // The result of `info` for `existing`, in the stored version. `existing` is in the stored version; null: no object exists.
  Task<Result<Object>> to_update(UpdatedObjectInfo& info, const Object* existing);

 private:
  // The admission that the store below calls. It forwards validating admission, with the objects in the served version. For creates and
  // updates, mutating admission has already run before the conversion; for deletes, it is forwarded, too.
  class Admission final : public WriteAdmission {
   public:
    explicit Admission(ConvertingWrite& write) : write_(write) {}
    Task<Status> admit(AdmissionAttributes& attributes) override;
    Task<Status> validate(const AdmissionAttributes& attributes) override;
    bool reads_managed_fields(const AdmissionAttributes& attributes) const noexcept override;
    bool begins(const AdmissionAttributes& attributes) const noexcept override;
    Task<Result<Begun>> begin(const AdmissionAttributes& attributes) override;

   private:
    ConvertingWrite& write_;
  };

  // The attributes of a write with the objects in the served version.
  struct Shown {
    std::optional<Object> object;
    std::optional<Object> old_object;
    AdmissionAttributes attributes;
  };
  Task<Status> show(const AdmissionAttributes& attributes, Shown& shown) const;
  // The object that `info` returns for `old`, with defaults and managedFields. Both are in the served version.
  Task<Result<Object>> ask(UpdatedObjectInfo& info, const Object* old);
  Task<Status> admit(Object& object, const Object* old);
  // Adds violations of the served version's structural schema to found_; `old` is null on create. Does nothing for a typed version, for
  // which the rules of the stored version apply.
  void check_schema(Object& object, const Object* old);
  void check_new(Object& object);
  void check_change(Object& object, const Object& old);
  bool admission_applies() const { return asked_.run_admission && context_.info.is_resource_request; }
  WriteAdmission* server_admission() const;

  ServedStore& store_;
  const Conversion& conversion_;
  const Strategy* view_strategy_;
  WriteMode asked_;
  RequestContext& context_;
  WriteOptions options_;  // empty for deletes
  Admission admission_;
  FieldErrors found_;
  WriteMode below_;
};

// The UpdatedObjectInfo that the store below gets for an update in the served version.
class ConvertingUpdate final : public UpdatedObjectInfo {
 public:
  ConvertingUpdate(ConvertingWrite& write, UpdatedObjectInfo& inner) : write_(write), inner_(inner) {}
  Task<Result<Object>> updated_object(RequestContext&, const Object* existing) override { return write_.to_update(inner_, existing); }
  Preconditions preconditions() const override { return inner_.preconditions(); }
  Task<Status> may_create(RequestContext& context) override { return inner_.may_create(context); }
  ClientWrite* client_write() noexcept override { return inner_.client_write(); }
  // Only forwards the call: ConvertingWrite merges an apply in the served version, and the store below tracks no fields.
  Task<Status> change_applied(RequestContext& context, Object& object, const Object* existing) override {
    return inner_.change_applied(context, object, existing);
  }

 private:
  ConvertingWrite& write_;
  UpdatedObjectInfo& inner_;
};

}  // namespace backplane::registry
